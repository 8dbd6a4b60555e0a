//! `v1` PersistentVolume.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, items, object_or_new, set_default, text};
use super::persistent_volume_claim::{CLASS, access_modes};
use super::pod_spec::{is_persistent_source, node_selector, persistent_source};
use super::quantity::Quantity;
use super::rules::{Errors, named, one_of_given};
use super::{Strategy, StrategyContext};
use crate::metadata::names;

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

/// A new volume or claim waits.
pub(super) fn pending(object: &mut Value) {
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

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value, cx: &StrategyContext<'_>) {
        pending(object);
        if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
            status.insert("lastPhaseTransitionTime".to_owned(), json!(cx.core.now()));
        }
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        let before = at(old, "status.lastPhaseTransitionTime");
        if let Some(status) = new.get_mut("status").and_then(Value::as_object_mut).filter(|_| subresource.is_some())
            && !before.is_null()
        {
            set_default(status, "lastPhaseTransitionTime", before.clone());
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let path = FieldPath::new("spec");
        let spec = at(object, "spec");
        access_modes(items(spec, "accessModes"), "", &path.child("accessModes"), &mut errors);
        capacity(at(spec, "capacity"), &path.child("capacity"), &mut errors);
        let policies = ["Delete", "Recycle", "Retain"];
        let policy_path = path.child("persistentVolumeReclaimPolicy");
        one_of_given(at(spec, "persistentVolumeReclaimPolicy"), &policy_path, &policies, &mut errors);
        let affinity = at(spec, "nodeAffinity");
        let affinity_path = path.child("nodeAffinity.required");
        if !at(affinity, "required").is_null() {
            node_selector(at(affinity, "required"), &affinity_path, &mut errors);
        } else if !affinity.is_null() {
            errors.push(FieldError::required(&affinity_path, "must specify required node constraints"));
        }
        persistent_source(spec, &path, &mut errors);
        let target = text(spec, "hostPath.path");
        let is_root = !target.is_empty() && target.split('/').all(|part| matches!(part, "" | "."));
        if is_root && text(spec, "persistentVolumeReclaimPolicy") == "Recycle" {
            let detail = "may not be 'recycle' for a hostPath mount of '/'";
            errors.push(FieldError::forbidden(&policy_path, detail));
        }
        one_of_given(at(spec, "volumeMode"), &path.child("volumeMode"), &["Block", "Filesystem"], &mut errors);
        classes(spec, &path, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return Errors::new();
        }
        let mut errors = self.validate(new);
        let (new, old) = (at(new, "spec"), at(old, "spec"));
        if source(new, old) != source(old, old) {
            let detail = "spec.persistentvolumesource is immutable after creation";
            errors.push(FieldError::forbidden(&FieldPath::new("spec.persistentvolumesource"), detail));
        }
        if at(new, "volumeMode") != at(old, "volumeMode") {
            let mode = at(new, "volumeMode").clone();
            errors.push(FieldError::invalid(&FieldPath::new("volumeMode"), mode, "field is immutable"));
        }
        let (after, before) = (at(new, "nodeAffinity"), at(old, "nodeAffinity"));
        if !before.is_null() && after != before {
            let detail = "field is immutable, except for updating from beta label to GA";
            errors.push(FieldError::invalid(&FieldPath::new("nodeAffinity"), after.clone(), detail));
        }
        let key = "volumeAttributesClassName";
        if at(new, key).is_null() && !at(old, key).is_null() {
            let detail = "update from non-nil value to nil is forbidden";
            errors.push(FieldError::forbidden(&FieldPath::new("spec").child(key), detail));
        }
        errors
    }

    fn warnings(&self, new: &Value, _old: Option<&Value>) -> Vec<String> {
        let annotations = at(new, "metadata.annotations");
        let path = FieldPath::new("metadata.annotations");
        let mut warnings: Vec<String> = OLD_ANNOTATIONS
            .iter()
            .filter(|(key, _)| annotations.get(*key).is_some())
            .map(|(key, text)| format!("{}: {text}", path.key(*key)))
            .collect();
        if text(new, "spec.persistentVolumeReclaimPolicy") == "Recycle" {
            let text = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
                        provisioning.";
            warnings.push(format!("spec.persistentVolumeReclaimPolicy: {text}"));
        }
        warnings
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }
}

/// Annotations for which there are fields.
const OLD_ANNOTATIONS: [(&str, &str); 2] = [
    (CLASS, "deprecated since v1.8; use \"storageClassName\" attribute instead"),
    ("volume.beta.kubernetes.io/mount-options", "deprecated since v1.31; use \"mountOptions\" attribute instead"),
];

/// The source; a secret that was missing may be named later.
fn source(spec: &Value, old: &Value) -> Value {
    let fields = spec.as_object().into_iter().flatten().filter(|(key, _)| is_persistent_source(key));
    let mut source: Fields = fields.map(|(key, source)| (key.clone(), source.clone())).collect();
    if at(old, "csi.controllerExpandSecretRef").is_null()
        && let Some(csi) = source.get_mut("csi").and_then(Value::as_object_mut)
    {
        csi.remove("controllerExpandSecretRef");
    }
    Value::Object(source)
}

fn capacity(amounts: &Value, path: &FieldPath, errors: &mut Errors) {
    let all = amounts.as_object().cloned().unwrap_or_default();
    if all.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    if !all.contains_key("storage") || all.len() > 1 {
        errors.push(FieldError::not_supported(path, amounts.clone(), &["storage"]));
    }
    for (name, shown) in &all {
        let path = path.key(name);
        let Some(amount) = shown.as_str().and_then(Quantity::parse) else { continue };
        if amount.is_negative() {
            // Whole units, as the reference shows them.
            let whole = i64::try_from(amount.nanos().div_euclid(1_000_000_000)).unwrap_or(i64::MIN);
            errors.push(FieldError::invalid(&path, whole, "must be a valid resource quantity"));
        }
        if amount.is_negative() || amount.is_zero() {
            errors.push(FieldError::invalid(&path, shown.clone(), "must be greater than zero"));
        }
    }
}

fn classes(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut name = |key: &str| {
        let name = text(spec, key);
        if !name.is_empty() {
            named(name, &path.child(key), names::dns_subdomain(name, false), errors);
        }
    };
    name("storageClassName");
    let key = "volumeAttributesClassName";
    name(key);
    if at(spec, key) == "" {
        errors.push(FieldError::required(&path.child(key), "an empty string is disallowed"));
    }
    if !at(spec, key).is_null() && at(spec, "csi").is_null() {
        let detail = "has to be specified when using volumeAttributesClassName";
        errors.push(FieldError::required(&path.child("csi"), detail));
    }
}
