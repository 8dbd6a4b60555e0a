//! `StorageObjectInUseProtection`: volumes, claims and classes get the finalizer that keeps them while they are used.

use serde_json::{Value, json};

use super::Write;

pub(super) fn mutate(write: Write<'_>, object: &mut Value) {
    let finalizer = if write.is_create_of("", "persistentvolumes") {
        "kubernetes.io/pv-protection"
    } else if write.is_create_of("", "persistentvolumeclaims") {
        "kubernetes.io/pvc-protection"
    } else if write.is_create_of("storage.k8s.io", "volumeattributesclasses") {
        "kubernetes.io/vac-protection"
    } else {
        return;
    };
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(list) = finalizers.as_array_mut()
        && !list.iter().any(|given| given == finalizer)
    {
        list.push(json!(finalizer));
    }
}
