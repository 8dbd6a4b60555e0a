//! Objects inside of custom objects.

use controller_runtime_schema::{FieldError, FieldPath, Schema};
use serde_json::{Map, Value};

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

/// Brings embedded objects into the form of objects, as decoding does with whole ones.
///
/// `metadata` does so with the metadata of each, and tells the paths of what it dropped or why it can't be read. Gives
/// the paths of all that was dropped.
pub(crate) fn coerce(
    object: &mut Value,
    schema: &Schema,
    metadata: &mut dyn FnMut(&mut Value) -> Result<Vec<String>, String>,
) -> Result<Vec<String>, FieldError> {
    let mut dropped = Vec::new();
    coerce_value(object, schema, &FieldPath::root(), metadata, &mut dropped)?;
    Ok(dropped)
}

fn coerce_value(
    value: &mut Value,
    schema: &Schema,
    path: &FieldPath,
    metadata: &mut dyn FnMut(&mut Value) -> Result<Vec<String>, String>,
    dropped: &mut Vec<String>,
) -> Result<(), FieldError> {
    match value {
        Value::Object(map) => {
            if schema.embedded_resource {
                coerce_resource(map, path, metadata, dropped)?;
            }
            for (key, value) in map.iter_mut().filter(|(_, value)| value.is_object() || value.is_array()) {
                if let Some(schema) = schema.child(key) {
                    coerce_value(value, schema, &path.child(key), metadata, dropped)?;
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.item() else { return Ok(()) };
            for (index, item) in items.iter_mut().enumerate() {
                coerce_value(item, schema, &path.index(index), metadata, dropped)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_resource(
    map: &mut Map<String, Value>,
    path: &FieldPath,
    metadata: &mut dyn FnMut(&mut Value) -> Result<Vec<String>, String>,
    dropped: &mut Vec<String>,
) -> Result<(), FieldError> {
    for key in ["apiVersion", "kind"] {
        if let Some(value) = map.get(key).filter(|value| !value.is_string()) {
            return Err(FieldError::invalid(&path.child(key), value.clone(), "must be a string"));
        }
    }
    let Some(found) = map.get_mut("metadata") else { return Ok(()) };
    let at = path.child("metadata");
    match metadata(found) {
        Ok(paths) => dropped.extend(paths.into_iter().map(|path| format!("{at}.{path}"))),
        Err(problem) => return Err(FieldError::invalid(&at, found.clone(), problem)),
    }
    Ok(())
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
