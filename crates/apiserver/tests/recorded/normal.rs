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

/// Brings the causes of an error into one order, since the reference tells those of maps in any; the message repeats
/// them. Texts that print Go structs or changes (`forget`) are left out.
pub(super) fn sort_causes(answer: &mut Value, forget: bool) {
    let Some(causes) = answer.pointer_mut("/details/causes").and_then(Value::as_array_mut) else { return };
    if forget {
        for cause in causes.iter_mut() {
            cause["message"] = json!("(text)");
        }
    }
    causes.sort_by_key(ToString::to_string);
    if forget || causes.len() > 1 {
        answer["message"] = json!("(causes)");
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
