//! `v1` PersistentVolume.

use serde_json::{Value, json};

use super::fields::{Fields, object_or_new, set_default};
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

/// Adds the finalizer that keeps a volume or claim while it is used.
pub(super) fn protect(object: &mut Value, finalizer: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(list) = finalizers.as_array_mut()
        && !list.iter().any(|given| given == finalizer)
    {
        list.push(json!(finalizer));
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

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        pending(object);
        protect(object, "kubernetes.io/pv-protection");
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }
}
