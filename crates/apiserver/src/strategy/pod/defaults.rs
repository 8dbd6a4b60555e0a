//! Defaults of pods that pod templates don't have.

use serde_json::{Value, json};

use super::super::fields::{Fields, object_mut, object_or_new, objects_mut, set_default};

/// `Pod`.
pub(in crate::strategy) fn pod(pod: &mut Fields) {
    let Some(spec) = object_mut(pod, "spec") else { return };
    if spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64).is_some_and(|seconds| seconds < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
    }
    let host_network = spec.get("hostNetwork") == Some(&json!(true));
    for list in ["containers", "initContainers"] {
        for container in objects_mut(spec, list) {
            requests(container);
            if host_network {
                for port in objects_mut(container, "ports") {
                    if let Some(number) = port.get("containerPort").cloned() {
                        set_default(port, "hostPort", number);
                    }
                }
            }
        }
    }
    set_default(spec, "enableServiceLinks", true);
}

/// What is limited and not requested is requested up to its limit.
fn requests(container: &mut Fields) {
    let Some(resources) = object_mut(container, "resources") else { return };
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
    if let Some(requests) = object_or_new(resources, "requests") {
        for (name, limit) in limits {
            set_default(requests, &name, limit);
        }
    }
}

/// `PodStatus`: the one address and the list of addresses say the same.
pub(in crate::strategy) fn status(status: &mut Fields) {
    let address = status.get("podIP").and_then(Value::as_str).map(str::to_owned);
    let first = status.get("podIPs").and_then(|list| list.pointer("/0/ip")).and_then(Value::as_str).map(str::to_owned);
    match (address, first) {
        (Some(address), first) if first.as_deref() != Some(&address) => {
            status.insert("podIPs".to_owned(), json!([{"ip": address}]));
        }
        (None, Some(first)) => {
            status.insert("podIP".to_owned(), json!(first));
        }
        _ => {}
    }
}
