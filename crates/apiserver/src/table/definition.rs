//! Cells of custom resource definitions.

use serde_json::{Value, json};

use super::column::{at, items_at, text_at};

pub(super) fn versions(object: &Value) -> Value {
    let names: Vec<String> = items_at(object, "spec.versions")
        .iter()
        .map(|version| {
            let mark =
                |key: &str, mark: &str| if at(version, key) == &json!(true) { mark.to_owned() } else { String::new() };
            let unserved = if at(version, "served") == &json!(false) { "(unserved)" } else { "" };
            format!("{}{}{unserved}", text_at(version, "name"), mark("storage", "(storage)"))
        })
        .collect();
    json!(names.join(","))
}

pub(super) fn short_names(object: &Value) -> Value {
    let names: Vec<&str> = items_at(object, "spec.names.shortNames").iter().filter_map(Value::as_str).collect();
    json!(names.join(","))
}

pub(super) fn established(object: &Value) -> Value {
    let mut conditions = items_at(object, "status.conditions").iter();
    json!(conditions.any(|found| text_at(found, "type") == "Established" && text_at(found, "status") == "True"))
}
