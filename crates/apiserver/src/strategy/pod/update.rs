//! What an update of a pod may change: images, deadlines, tolerations, and where a gated pod may go.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::super::fields::{Fields, at, is_given, items, number, objects_mut, text};
use super::super::pod_spec::{self, APP_ARMOR, MIRROR, tolerations};
use super::super::rules::Errors;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Rules for a changed pod.
pub(super) fn validate(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    pod_spec::pod(new, &mut errors);
    annotations(new, old, &mut errors);
    let path = FieldPath::new("spec");
    let (new, old) = (at(new, "spec"), at(old, "spec"));
    for list in ["containers", "initContainers"] {
        let path = path.child(list);
        if items(new, list).len() != items(old, list).len() {
            let detail = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(&path, detail));
            return errors;
        }
        for (index, container) in items(new, list).iter().enumerate() {
            let path = path.index(index).child("image");
            let image = text(container, "image");
            if image.is_empty() {
                errors.push(FieldError::required(&path, ""));
            }
            if image.trim() != image {
                let detail = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid(&path, image, detail));
            }
        }
    }
    if !deadline(new, old, &path.child("activeDeadlineSeconds"), &mut errors) {
        return errors;
    }
    only_added_tolerations(new, old, &path.child("tolerations"), &mut errors);
    only_deleted_gates(new, old, &path.child("schedulingGates"), &mut errors);
    if new == old {
        return errors;
    }
    let mut allowed = with_what_may_change(new, old);
    if is_given(old, "schedulingGates") {
        gated(&mut allowed, old, &path, &mut errors);
    }
    if allowed != *old {
        let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                      `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
                      additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to \
                      1 if it was previously negative)";
        errors.push(FieldError::forbidden(&path, detail));
    }
    errors
}

/// Annotations that stay as they were.
pub(super) fn annotations(new: &Value, old: &Value, errors: &mut Errors) {
    let path = FieldPath::new("metadata.annotations");
    let of = |pod: &Value| at(pod, "metadata.annotations").as_object().cloned().unwrap_or_default();
    let (after, before) = (of(new), of(old));
    let mut changed = |key: &str, verb: &str| {
        if key.starts_with(APP_ARMOR) {
            errors.push(FieldError::forbidden(&path.key(key), format!("may not {verb} AppArmor annotations")));
        }
        if key == MIRROR {
            errors.push(FieldError::forbidden(&path.key(key), format!("may not {verb} mirror pod annotation")));
        }
    };
    for (key, _) in before.iter().filter(|(key, value)| after.get(*key) != Some(value)) {
        changed(key, "remove or update");
    }
    for key in after.keys().filter(|key| !before.contains_key(*key)) {
        changed(key, "add");
    }
    pod_spec::pod_annotations(new, &path, errors);
}

/// A deadline may come nearer. Gives whether the rest is to be looked at.
fn deadline(new: &Value, old: &Value, path: &FieldPath, errors: &mut Errors) -> bool {
    let before = number(old, "activeDeadlineSeconds");
    match number(new, "activeDeadlineSeconds") {
        Some(seconds) if !(0..=i64::from(i32::MAX)).contains(&seconds) => {
            errors.push(FieldError::invalid(path, seconds, "must be between 0 and 2147483647, inclusive"));
            return false;
        }
        Some(seconds) if before.is_some_and(|before| before < seconds) => {
            errors.push(FieldError::invalid(path, seconds, "must be less than or equal to previous value"));
            return false;
        }
        None if before.is_some() => {
            let detail = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid(path, Value::Null, detail));
        }
        _ => {}
    }
    true
}

fn only_added_tolerations(new: &Value, old: &Value, path: &FieldPath, errors: &mut Errors) {
    let without_seconds = |toleration: &Value| {
        let mut fields = toleration.as_object().cloned().unwrap_or_default();
        fields.remove("tolerationSeconds");
        fields
    };
    let after: Vec<Fields> = items(new, "tolerations").iter().map(without_seconds).collect();
    if items(old, "tolerations").iter().any(|before| !after.contains(&without_seconds(before))) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden(path, detail));
        return;
    }
    tolerations(items(new, "tolerations"), path, errors);
}

fn only_deleted_gates(new: &Value, old: &Value, path: &FieldPath, errors: &mut Errors) {
    let before = items(old, "schedulingGates");
    for (index, gate) in items(new, "schedulingGates").iter().enumerate() {
        let name = text(gate, "name");
        if !before.iter().any(|before| text(before, "name") == name) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.push(FieldError::forbidden(&path.index(index).child("name"), detail));
        }
    }
}

/// The old spec with those fields of the new one that may change.
fn with_what_may_change(new: &Value, old: &Value) -> Value {
    let mut allowed = new.clone();
    let Some(fields) = allowed.as_object_mut() else { return allowed };
    for list in ["containers", "initContainers"] {
        let images: Vec<Value> = items(old, list).iter().map(|container| at(container, "image").clone()).collect();
        for (container, image) in objects_mut(fields, list).zip(images) {
            container.insert("image".to_owned(), image);
        }
    }
    for key in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        keep(fields, old, key);
    }
    if number(old, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0)
        && number(new, "terminationGracePeriodSeconds") == Some(1)
    {
        keep(fields, old, "terminationGracePeriodSeconds");
    }
    allowed
}

fn keep(fields: &mut Fields, old: &Value, key: &str) {
    match old.get(key) {
        Some(value) => fields.insert(key.to_owned(), value.clone()),
        None => fields.remove(key),
    };
}

/// A pod that isn't to be scheduled yet may be told to go to fewer nodes; what may change is as before afterwards.
fn gated(allowed: &mut Value, old: &Value, path: &FieldPath, errors: &mut Errors) {
    let selector = at(allowed, "nodeSelector");
    let mut kept = at(old, "nodeSelector").as_object().into_iter().flatten();
    if !kept.all(|(key, value)| selector.get(key) == Some(value)) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.push(FieldError::invalid(&path.child("nodeSelector"), selector.clone(), detail));
    }
    let (after, before) = (at(allowed, "affinity.nodeAffinity"), at(old, "affinity.nodeAffinity"));
    if after != before {
        fewer_nodes(after, before, &path.child("affinity.nodeAffinity"), errors);
    }
    let before = before.clone();
    let had_affinity = !at(old, "affinity").is_null();
    let Some(fields) = allowed.as_object_mut() else { return };
    keep(fields, old, "nodeSelector");
    let mut affinity = fields.get("affinity").and_then(Value::as_object).cloned().unwrap_or_default();
    if before.is_null() {
        affinity.remove("nodeAffinity");
    } else {
        affinity.insert("nodeAffinity".to_owned(), before);
    }
    if affinity.is_empty() && !had_affinity {
        fields.remove("affinity");
    } else {
        fields.insert("affinity".to_owned(), json!(affinity));
    }
}

fn fewer_nodes(after: &Value, before: &Value, path: &FieldPath, errors: &mut Errors) {
    let path = path.child(REQUIRED).child("nodeSelectorTerms");
    let terms = |affinity: &Value| items(at(affinity, REQUIRED), "nodeSelectorTerms").to_vec();
    let (after, before) = (terms(after), terms(before));
    if !before.is_empty() && after.len() != before.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(FieldError::invalid(&path, after, detail));
        return;
    }
    for (index, (after, before)) in after.iter().zip(&before).enumerate() {
        let was_empty = !is_given(before, "matchExpressions") && !is_given(before, "matchFields");
        let is_empty = !is_given(after, "matchExpressions") && !is_given(after, "matchFields");
        let extends = |key: &str| items(after, key).starts_with(items(before, key));
        if was_empty && !is_empty || !extends("matchExpressions") || !extends("matchFields") {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.push(FieldError::invalid(&path.index(index), after.clone(), detail));
        }
    }
}
