//! `v1` PersistentVolumeClaim.

mod source;
mod status;
mod update;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, is_given, items, object_or_new, set_default, text};
use super::persistent_volume::pending;
use super::quantity::Quantity;
use super::rules::{Errors, label_selector, named};
use super::{Strategy, StrategyContext, pod_spec};
use crate::metadata::names;

/// The annotation that named the class before there was a field.
pub(crate) const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// `PersistentVolumeClaim`, which may stand in a template.
pub(super) fn defaults(claim: &mut Fields) {
    if let Some(status) = object_or_new(claim, "status") {
        set_default(status, "phase", "Pending");
    }
}

/// What is special about persistent volume claims.
#[derive(Debug)]
pub(super) struct PersistentVolumeClaim;

impl Strategy for PersistentVolumeClaim {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.PersistentVolumeClaim")
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        pending(object);
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            source::settle(spec, &Value::Null);
        }
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        if subresource.is_some() {
            status::drop_disabled(new);
        } else if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) {
            source::settle(spec, at(old, "spec"));
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        validate_spec(at(object, "spec"), &FieldPath::new("spec"), &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return status::validate(new);
        }
        let mut errors = self.validate(new);
        update::validate(new, old, &mut errors);
        errors
    }

    fn warnings(&self, new: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if at(new, "metadata.annotations").get(CLASS).is_some() {
            let path = FieldPath::new("metadata.annotations").key(CLASS);
            warnings.push(format!("{path}: deprecated since v1.8; use \"storageClassName\" attribute instead"));
        }
        warnings.extend(pod_spec::claim_warnings(at(new, "spec"), &FieldPath::new("spec")));
        warnings
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }
}

/// Rules for a `PersistentVolumeClaimSpec`.
pub(super) fn validate_spec(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let wanted = "at least 1 access mode is required";
    access_modes(items(spec, "accessModes"), wanted, &path.child("accessModes"), errors);
    if !at(spec, "selector").is_null() {
        label_selector(at(spec, "selector"), &path.child("selector"), errors);
    }
    let storage = at(spec, "resources.requests.storage");
    let storage_path = path.child("resources").key("storage");
    match storage.as_str().and_then(Quantity::parse) {
        None => errors.push(FieldError::required(&storage_path, "")),
        Some(amount) if amount.is_negative() || amount.is_zero() => {
            errors.push(FieldError::invalid(&storage_path, storage.clone(), "must be greater than zero"));
        }
        Some(_) => {}
    }
    if !at(spec, "volumeMode").is_null() && !matches!(text(spec, "volumeMode"), "Block" | "Filesystem") {
        let supported = ["Block", "Filesystem"];
        errors.push(FieldError::not_supported(&path.child("volumeMode"), text(spec, "volumeMode"), &supported));
    }
    source::validate(spec, path, errors);
    for key in ["storageClassName", "volumeAttributesClassName"] {
        if is_given(spec, key) {
            let name = text(spec, key);
            named(name, &path.child(key), names::dns_subdomain(name, false), errors);
        }
    }
}

/// How a volume may be used; `wanted` is what is said where nothing is.
pub(super) fn access_modes(modes: &[Value], wanted: &str, path: &FieldPath, errors: &mut Errors) {
    if modes.is_empty() {
        errors.push(FieldError::required(path, wanted));
    }
    let supported = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    let is_supported = |mode: &&Value| mode.as_str().is_some_and(|mode| supported.contains(&mode));
    for mode in modes.iter().filter(|mode| !is_supported(mode)) {
        errors.push(FieldError::not_supported(path, mode.clone(), &supported));
    }
    let alone = json!("ReadWriteOncePod");
    if modes.contains(&alone) && modes.iter().any(|mode| *mode != alone && is_supported(&mode)) {
        errors.push(FieldError::forbidden(path, "may not use ReadWriteOncePod with other access modes"));
    }
}
