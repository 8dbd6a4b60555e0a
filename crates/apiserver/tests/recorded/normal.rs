//! What is the same in every run.

use serde_json::{Value, json};

/// Replaces what differs from run to run, as `cargo xtask codegen` does when it records.
pub(super) fn blank(value: &mut Value, namespace: &str) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match key.as_str() {
                    "uid" | "batch.kubernetes.io/controller-uid" | "controller-uid" => *field = json!("UID"),
                    "resourceVersion" => *field = json!("VERSION"),
                    "creationTimestamp" | "deletionTimestamp" | "time" if field.is_string() => *field = json!("TIME"),
                    "clusterIP" if field.as_str().is_some_and(|ip| ip.starts_with("10.")) => *field = json!("IP"),
                    "clusterIPs" if field[0].as_str().is_some_and(|ip| ip.starts_with("10.")) => *field = json!(["IP"]),
                    "nodePort" => *field = json!("PORT"),
                    _ => blank(field, namespace),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| blank(item, namespace)),
        Value::String(text) => *text = text.replace(namespace, "{namespace}"),
        _ => {}
    }
}

/// Takes the texts out of an error, for steps whose texts can't be the same.
pub(super) fn forget_texts(answer: &mut Value) {
    answer["body"]["message"] = json!("(text)");
    let causes = answer.pointer_mut("/body/details/causes").and_then(Value::as_array_mut);
    for cause in causes.into_iter().flatten() {
        cause["message"] = json!("(text)");
    }
}

/// Brings the causes of an error into one order: the reference tells those of maps in any. The message repeats them.
pub(super) fn sort_causes(answer: &mut Value) {
    let Some(causes) = answer.pointer_mut("/body/details/causes").and_then(Value::as_array_mut) else { return };
    causes.sort_by_key(ToString::to_string);
    if causes.len() > 1 {
        answer["body"]["message"] = json!("(causes)");
    }
}

/// Tells each place where two values differ.
pub(super) fn compare(expected: &Value, found: &Value, place: &str, tell: &mut impl FnMut(&str, &Value, &Value)) {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                compare(value, right.get(key).unwrap_or(&json!("(nothing)")), &format!("{place}.{key}"), tell);
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                tell(&format!("{place}.{key}"), &json!("(nothing)"), value);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(left, right, &format!("{place}[{index}]"), tell);
            }
        }
        _ if expected == found => {}
        _ => tell(place, expected, found),
    }
}
