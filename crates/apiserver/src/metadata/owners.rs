//! References to owners that stand twice.

use serde_json::Value;

use super::fields;
use crate::verbs::Call;

/// Drops references that are equal to another one, with a warning. A request's own are looked at first; `admitted`
/// says that webhooks have changed the object since.
pub(crate) fn drop_duplicates(call: &Call, object: &mut Value, admitted: bool) {
    let Some(owners) = fields::get(object, "ownerReferences").and_then(Value::as_array) else { return };
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    let mut dropped = Vec::new();
    for owner in owners {
        if kept.contains(owner) {
            dropped.push(owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned());
        } else {
            kept.push(owner.clone());
        }
    }
    if dropped.is_empty() {
        return;
    }
    let uids = dropped.join(", ");
    call.warn(if admitted {
        format!(
            ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate \
             UID(s) observed: {uids}"
        )
    } else {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
        )
    });
    fields::set(object, "ownerReferences", kept);
}
