//! `TaintNodesByCondition`: nothing is scheduled to a new node before it is ready.

use serde_json::{Value, json};

use super::{Write, spec};
use crate::strategy::fields::text;

const NOT_READY: &str = "node.kubernetes.io/not-ready";

pub(super) fn mutate(write: Write<'_>, object: &mut Value) {
    if !write.is_create_of("", "nodes") {
        return;
    }
    let Some(spec) = spec(object) else { return };
    let mut taints = spec.get("taints").and_then(Value::as_array).cloned().unwrap_or_default();
    if !taints.iter().any(|taint| text(taint, "key") == NOT_READY && text(taint, "effect") == "NoSchedule") {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
        spec.insert("taints".to_owned(), Value::Array(taints));
    }
}
