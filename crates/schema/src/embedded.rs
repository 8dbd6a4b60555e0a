use serde_json::{Map, Value};

use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::schema::{AdditionalProperties, Schema};

/// What is wrong with apiVersion, kind and metadata of the objects inside `value` that `schema` says are embedded
/// resources, and of `value` itself when it `is_resource_root`.
///
/// What metadata must satisfy isn't a schema's business: the caller passes `metadata`, which is given each one with its
/// path.
pub fn validate_embedded(
    value: &Value,
    schema: &Schema,
    root: &FieldPath,
    is_resource_root: bool,
    metadata: &dyn Fn(&Value, &FieldPath) -> Vec<FieldError>,
) -> Vec<FieldError> {
    let mut visitor = Visitor { metadata, errors: Vec::new() };
    visitor.value(value, schema, root, is_resource_root);
    visitor.errors
}

struct Visitor<'a> {
    metadata: &'a dyn Fn(&Value, &FieldPath) -> Vec<FieldError>,
    errors: Vec<FieldError>,
}

impl Visitor<'_> {
    fn value(&mut self, value: &Value, schema: &Schema, path: &FieldPath, is_resource: bool) {
        match value {
            Value::Object(map) => {
                if is_resource || schema.embedded_resource {
                    self.resource(map, path);
                }
                for (key, value) in map {
                    if let Some(link) = schema.properties.get(key) {
                        self.value(value, link.get(), &path.child(key), false);
                    } else if let Some(AdditionalProperties::Schema(link)) = &schema.additional_properties {
                        self.value(value, link.get(), &path.key(key), false);
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = schema.item() else { return };
                for (index, item) in items.iter().enumerate() {
                    self.value(item, schema, &path.index(index), false);
                }
            }
            _ => {}
        }
    }

    fn resource(&mut self, map: &Map<String, Value>, path: &FieldPath) {
        let at = path.child("apiVersion");
        match map.get("apiVersion") {
            None => self.errors.push(FieldError::required(&at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                self.errors.push(FieldError::invalid(&at, "", "must not be empty"));
            }
            Some(Value::String(text)) if text.matches('/').count() > 1 => {
                let detail = format!("unexpected GroupVersion string: {text}");
                self.errors.push(FieldError::invalid(&at, text.as_str(), detail));
            }
            Some(Value::String(_)) => {}
            Some(other) => self.errors.push(FieldError::invalid(&at, other.clone(), "must be a string")),
        }
        let at = path.child("kind");
        match map.get("kind") {
            None => self.errors.push(FieldError::required(&at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                self.errors.push(FieldError::invalid(&at, "", "must not be empty"));
            }
            Some(Value::String(text)) => {
                let problems = dns_1035_label(&text.to_lowercase());
                if !problems.is_empty() {
                    let detail = format!("may have mixed case, but should otherwise match: {}", problems.join(","));
                    self.errors.push(FieldError::invalid(&at, text.as_str(), detail));
                }
            }
            Some(other) => self.errors.push(FieldError::invalid(&at, other.clone(), "must be a string")),
        }
        if let Some(metadata) = map.get("metadata") {
            self.errors.extend((self.metadata)(metadata, &path.child("metadata")));
        }
    }
}

/// What is wrong with a label of RFC 1035; empty when nothing is.
fn dns_1035_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push("must be no more than 63 characters".to_owned());
    }
    let bytes = text.as_bytes();
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let valid = bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-');
    if !valid {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
             is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::validate_embedded;
    use crate::field_error::FieldError;
    use crate::field_path::FieldPath;
    use crate::schema::Schema;

    fn check(value: &Value, expected: &[&str]) {
        let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": {
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}});
        let schema = Schema::from_json(&schema).unwrap();
        let metadata = |_: &Value, path: &FieldPath| vec![FieldError::forbidden(path, "here")];
        let errors = validate_embedded(value, &schema, &FieldPath::root(), false, &metadata);
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn embedded_resources_have_a_type() {
        check(&json!({"list": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}), &[]);
        check(&json!({"list": [{}]}), &["list[0].apiVersion: Required value", "list[0].kind: Required value"]);
        check(
            &json!({"list": [{"apiVersion": "a/b/c", "kind": 1, "metadata": {}}]}),
            &[
                "list[0].apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
                "list[0].kind: Invalid value: 1: must be a string",
                "list[0].metadata: Forbidden: here",
            ],
        );
    }
}
