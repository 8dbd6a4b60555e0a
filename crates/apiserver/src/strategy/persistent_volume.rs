//! `v1` PersistentVolume and PersistentVolumeClaim.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, is_given, items, object_or_new, set_default, text};
use super::quantity::Quantity;
use super::rules::Errors;
use super::{Strategy, StrategyContext};

/// `PersistentVolume`.
pub(super) fn defaults(volume: &mut Fields) {
    if let Some(status) = object_or_new(volume, "status") {
        set_default(status, "phase", "Pending");
    }
    if let Some(spec) = object_or_new(volume, "spec") {
        set_default(spec, "persistentVolumeReclaimPolicy", "Retain");
        set_default(spec, "volumeMode", "Filesystem");
    }
}

/// `PersistentVolumeClaim`, which may stand in a template.
pub(super) fn claim_defaults(claim: &mut Fields) {
    if let Some(status) = object_or_new(claim, "status") {
        set_default(status, "phase", "Pending");
    }
}

/// Adds the finalizer that keeps a volume or claim while it is used.
fn protect(object: &mut Value, finalizer: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(list) = finalizers.as_array_mut()
        && !list.iter().any(|given| given == finalizer)
    {
        list.push(json!(finalizer));
    }
}

fn pending(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("status".to_owned(), json!({"phase": "Pending"}));
    }
}

/// What is special about persistent volumes.
#[derive(Debug)]
pub(super) struct PersistentVolume;

impl Strategy for PersistentVolume {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.PersistentVolume")
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        pending(object);
        protect(object, "kubernetes.io/pv-protection");
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }
}

/// What is special about persistent volume claims.
#[derive(Debug)]
pub(super) struct PersistentVolumeClaim;

impl Strategy for PersistentVolumeClaim {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.PersistentVolumeClaim")
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        pending(object);
        protect(object, "kubernetes.io/pvc-protection");
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        validate_claim_spec(at(object, "spec"), &FieldPath::new("spec"), &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return Errors::new();
        }
        let mut errors = self.validate(new);
        let fixed = |claim: &Value| {
            let mut spec = at(claim, "spec").clone();
            if let Some(fields) = spec.as_object_mut() {
                fields.remove("resources");
                fields.remove("volumeAttributesClassName");
                if text(old, "spec.volumeName").is_empty() {
                    fields.remove("volumeName");
                }
            }
            spec
        };
        if fixed(new) != fixed(old) {
            let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
            errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
        }
        errors
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }
}

/// Rules for a `PersistentVolumeClaimSpec`.
pub(super) fn validate_claim_spec(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let modes = items(spec, "accessModes");
    if modes.is_empty() {
        errors.push(FieldError::required(&path.child("accessModes"), "at least 1 access mode is required"));
    }
    let supported = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    for mode in modes.iter().filter(|mode| !mode.as_str().is_some_and(|mode| supported.contains(&mode))) {
        errors.push(FieldError::not_supported(&path.child("accessModes"), mode.clone(), &supported));
    }
    if modes.len() > 1 && modes.contains(&json!("ReadWriteOncePod")) {
        let detail = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden(&path.child("accessModes"), detail));
    }
    let storage = at(spec, "resources.requests.storage");
    let storage_path = path.child("resources").key("storage");
    match storage.as_str().and_then(Quantity::parse) {
        None => errors.push(FieldError::required(&storage_path, "")),
        Some(amount) if amount.is_negative() || amount.is_zero() => {
            let path = path.child("resources.requests").key("storage");
            errors.push(FieldError::invalid(&path, storage.clone(), "must be greater than zero"));
        }
        Some(_) => {}
    }
    if is_given(spec, "volumeMode") && !matches!(text(spec, "volumeMode"), "Block" | "Filesystem") {
        let supported = ["Block", "Filesystem"];
        errors.push(FieldError::not_supported(&path.child("volumeMode"), text(spec, "volumeMode"), &supported));
    }
}
