//! Where the data of a claim comes from, which two fields say.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::super::fields::{Fields, at, text};
use super::super::rules::{Errors, named};
use crate::metadata::names;

/// Makes both fields say the same. The older one silently forgets what it can't refer to; the newer one what is in another
/// namespace, since that feature is switched off by default.
pub(super) fn settle(spec: &mut Fields, old: &Value) {
    let given = |spec: &Fields, key: &str| spec.get(key).is_some_and(|source| !source.is_null());
    let other_namespace = spec.get("dataSourceRef").is_some_and(|source| !text(source, "namespace").is_empty());
    if other_namespace && at(old, "dataSourceRef").is_null() {
        spec.remove("dataSourceRef");
    }
    let had = !at(old, "dataSource").is_null() || !at(old, "dataSourceRef").is_null();
    if !had && !given(spec, "dataSourceRef") && !spec.get("dataSource").is_some_and(is_volume) {
        spec.remove("dataSource");
    }
    let same = |source: &Value| json!({"apiGroup": at(source, "apiGroup"), "kind": text(source, "kind"), "name": text(source, "name")});
    let other_namespace = spec.get("dataSourceRef").is_some_and(|source| !text(source, "namespace").is_empty());
    match (given(spec, "dataSource"), given(spec, "dataSourceRef")) {
        (true, false) => copy(spec, "dataSource", "dataSourceRef", same),
        (false, true) if !other_namespace => copy(spec, "dataSourceRef", "dataSource", same),
        _ => {}
    }
}

fn copy(spec: &mut Fields, from: &str, to: &str, same: impl Fn(&Value) -> Value) {
    if let Some(source) = spec.get(from).map(same) {
        spec.insert(to.to_owned(), source);
    }
}

fn is_volume(source: &Value) -> bool {
    matches!(
        (text(source, "apiGroup"), text(source, "kind")),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    )
}

/// Rules for both fields.
pub(super) fn validate(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["dataSource", "dataSourceRef"] {
        if !at(spec, key).is_null() {
            reference(at(spec, key), &path.child(key), errors);
        }
    }
    let namespace = text(spec, "dataSourceRef.namespace");
    if !namespace.is_empty() {
        let path = path.child("dataSourceRef.namespace");
        named(namespace, &path, names::dns_label(namespace, false), errors);
    }
    let (source, other) = (at(spec, "dataSource"), at(spec, "dataSourceRef"));
    if source.is_null() || other.is_null() {
        return;
    }
    // The reference shows a path of its own as the value.
    let shown = json!({});
    let differs = |key: &str| at(source, key) != at(other, key);
    if !namespace.is_empty() {
        errors.push(FieldError::invalid(path, shown, "may not be specified when dataSourceRef.namespace is specified"));
    } else if differs("apiGroup") || differs("kind") || differs("name") {
        errors.push(FieldError::invalid(path, shown, "must match dataSourceRef"));
    }
}

fn reference(source: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["name", "kind"] {
        if text(source, key).is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
        }
    }
    let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.push(FieldError::invalid(path, kind, detail));
    }
    if !group.is_empty() {
        named(group, &path.child("apiGroup"), names::dns_subdomain(group, false), errors);
    }
}
