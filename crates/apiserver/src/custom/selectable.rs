//! Fields of custom resources that field selectors may name (KEP-4358).

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

/// The most fields that a version may have.
const MOST: usize = 8;

/// What is wrong with the paths of selectable fields of objects with a schema.
pub(super) fn validate(paths: &[&str], schema: &Value, root: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let at = root.index(index).child("jsonPath");
        if path.is_empty() {
            errors.push(FieldError::required(&at, ""));
            continue;
        }
        let field = match find(path, schema) {
            Ok(field) => field,
            Err(problem) => {
                errors.push(FieldError::invalid(&at, *path, format!("is an invalid path: {problem}")));
                continue;
            }
        };
        if path.split('.').nth(1) == Some("metadata") {
            errors.push(FieldError::invalid(&at, *path, "must not point to fields in metadata"));
        }
        if !matches!(field.get("type").and_then(Value::as_str), Some("string" | "boolean" | "integer")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                          formats are allowed.";
            errors.push(FieldError::invalid(&at, *path, detail));
        }
        if seen.contains(path) {
            errors.push(FieldError::duplicate(&at, *path));
        } else {
            seen.push(path);
        }
    }
    if seen.len() > MOST {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        errors.push(FieldError::too_many(root, count(seen.len()), count(MOST)));
    }
    errors
}

/// The schema of the field at a path of names with dots before them.
fn find<'a>(path: &str, schema: &'a Value) -> Result<&'a Value, String> {
    const UNKNOWN: &str = "does not refer to a valid field";
    if path.contains('[') {
        return Err("array notation is not allowed".to_owned());
    }
    let Some(names) = path.strip_prefix('.') else {
        return Err(format!("expected [ or . but got: {}", path.split('.').next().unwrap_or_default()));
    };
    let mut schema = schema;
    for name in names.split('.') {
        if name.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        let properties =
            schema.get("properties").and_then(Value::as_object).filter(|properties| !properties.is_empty());
        let child = match properties {
            Some(properties) => properties.get(name),
            None => schema.get("additionalProperties").filter(|values| values.is_object()),
        };
        schema = child.ok_or(UNKNOWN)?;
    }
    Ok(schema)
}
