//! Fields that the reference knows and doesn't keep, as they belong to features that are switched off by default.

use serde_json::Value;

use super::super::fields::{Fields, object_mut, objects_mut};

/// Takes such fields out of the pod spec at a dotted path.
pub(in crate::strategy) fn drop_disabled(object: &mut Value, path: &str) {
    let pointer = format!("/{}", path.replace('.', "/"));
    let Some(spec) = object.pointer_mut(&pointer).and_then(Value::as_object_mut) else { return };
    for key in ["schedulingGroup", "evictionResponders"] {
        spec.remove(key);
    }
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in objects_mut(spec, list) {
            of_container(container);
        }
    }
    for volume in objects_mut(spec, "volumes") {
        of_volume(volume);
    }
}

fn of_container(container: &mut Fields) {
    if let Some(lifecycle) = object_mut(container, "lifecycle")
        && lifecycle.remove("stopSignal").is_some()
        && lifecycle.is_empty()
    {
        container.remove("lifecycle");
    }
    for mount in objects_mut(container, "volumeMounts") {
        mount.remove("bindMountOptions");
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = object_mut(container, probe) else { continue };
        for (action, key) in [("httpGet", "protocol"), ("grpc", "mode")] {
            object_mut(probe, action).and_then(|action| action.remove(key));
        }
    }
    for hook in ["postStart", "preStop"] {
        let hook = object_mut(container, "lifecycle").and_then(|lifecycle| object_mut(lifecycle, hook));
        hook.and_then(|hook| object_mut(hook, "httpGet")).and_then(|action| action.remove("protocol"));
    }
}

fn of_volume(volume: &mut Fields) {
    object_mut(volume, "emptyDir").and_then(|source| source.remove("mode"));
    for kind in ["secret", "configMap", "downwardAPI", "projected"] {
        let Some(source) = object_mut(volume, kind) else { continue };
        source.remove("defaultUser");
        for item in objects_mut(source, "items") {
            item.remove("user");
        }
        for part in objects_mut(source, "sources") {
            for kind in ["secret", "configMap", "downwardAPI"] {
                let Some(part) = object_mut(part, kind) else { continue };
                for item in objects_mut(part, "items") {
                    item.remove("user");
                }
            }
            for kind in ["serviceAccountToken", "clusterTrustBundle", "podCertificate"] {
                object_mut(part, kind).and_then(|part| part.remove("user"));
            }
        }
    }
}
