//! Conditions that the server itself gives to pods.

use serde_json::{Value, json};

use super::super::fields::{Fields, text};

/// Sets a condition of a pod's status; `said` is its status, reason and message.
pub(crate) fn set_condition(status: &mut Fields, kind: &str, said: &Value, now: &str) {
    let mut conditions = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let before = conditions.iter().position(|condition| text(condition, "type") == kind);
    let mut condition = json!({"type": kind, "lastProbeTime": null, "lastTransitionTime": now});
    if let (Some(fields), Some(said)) = (condition.as_object_mut(), said.as_object()) {
        fields.extend(said.clone());
    }
    match before.and_then(|place| conditions.get_mut(place)) {
        Some(before) => {
            if text(before, "status") == text(&condition, "status")
                && let (Some(fields), Some(time)) = (condition.as_object_mut(), before.get("lastTransitionTime"))
            {
                fields.insert("lastTransitionTime".to_owned(), time.clone());
            }
            *before = condition;
        }
        None => conditions.push(condition),
    }
    status.insert("conditions".to_owned(), Value::Array(conditions));
}
