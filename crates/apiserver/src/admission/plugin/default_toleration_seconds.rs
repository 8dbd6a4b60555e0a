//! `DefaultTolerationSeconds`: pods stay a while on nodes that are no longer ready or don't answer.

use serde_json::{Value, json};

use super::{Write, spec};
use crate::strategy::fields::{is_given, text};

/// Seconds a pod stays, unless it says otherwise.
const SECONDS: i64 = 300;

pub(super) fn mutate(write: Write<'_>, object: &mut Value) {
    if !write.is_of("", "pods") {
        return;
    }
    let Some(spec) = spec(object) else { return };
    let given = spec.get("tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut tolerations = given.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = given.iter().any(|toleration| {
            (!is_given(toleration, "key") || text(toleration, "key") == key)
                && matches!(text(toleration, "effect"), "" | "NoExecute")
        });
        if !tolerated {
            let seconds = json!({
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": SECONDS,
            });
            tolerations.push(seconds);
        }
    }
    spec.insert("tolerations".to_owned(), Value::Array(tolerations));
}
