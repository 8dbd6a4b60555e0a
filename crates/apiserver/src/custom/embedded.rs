//! Metadata of objects inside of custom objects.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use crate::metadata::names;

/// What is wrong with the metadata of an embedded object.
pub(super) fn validate(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    for (key, is_prefix) in [("generateName", true), ("name", false)] {
        let Some(name) = text(key) else { continue };
        for problem in names::path_segment(name, is_prefix) {
            errors.push(FieldError::invalid(&path.child(key), name, problem));
        }
    }
    if let Some(namespace) = text("namespace") {
        for problem in names::dns_label(namespace, false) {
            errors.push(FieldError::invalid(&path.child("namespace"), namespace, problem));
        }
    }
    for (key, value) in metadata.get("labels").and_then(Value::as_object).into_iter().flatten() {
        let at = path.child("labels");
        for problem in names::qualified_name(key) {
            errors.push(FieldError::invalid(&at, key.as_str(), problem));
        }
        for problem in names::label_value(value.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(&at, value.clone(), problem));
        }
    }
    for (key, _) in metadata.get("annotations").and_then(Value::as_object).into_iter().flatten() {
        for problem in names::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid(&path.child("annotations"), key.as_str(), problem));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use controller_runtime_schema::FieldPath;
    use serde_json::json;

    use super::validate;

    #[test]
    fn names_and_labels_are_checked() {
        let metadata = json!({"name": "A/b", "labels": {"ok": "x", "b": "?"}, "annotations": {"A b": ""}});
        let errors = validate(&metadata, &FieldPath::new("pod").child("metadata"));
        let found: Vec<_> = errors.iter().map(|error| (error.field.as_str(), error.value.clone())).collect();
        let expected = [("name", "A/b"), ("labels", "?"), ("annotations", "A b")];
        let expected: Vec<_> =
            expected.iter().map(|(key, value)| (format!("pod.metadata.{key}"), Some(json!(value)))).collect();
        let expected: Vec<_> = expected.iter().map(|(field, value)| (field.as_str(), value.clone())).collect();
        assert_eq!(found, expected);
    }
}
