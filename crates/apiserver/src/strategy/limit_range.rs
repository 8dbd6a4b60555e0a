//! `v1` LimitRange.

use serde_json::{Value, json};

use super::fields::{Fields, object_or_new, set_default};

/// `LimitRangeItem`: what a container gets follows from what it may have.
pub(super) fn defaults(item: &mut Fields) {
    if item.get("type") != Some(&json!("Container")) {
        return;
    }
    for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
        let amounts = item.get(from).and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(defaults) = object_or_new(item, to) {
            for (name, amount) in amounts {
                set_default(defaults, &name, amount);
            }
        }
    }
}
