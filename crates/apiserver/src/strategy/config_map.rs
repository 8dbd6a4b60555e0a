//! `v1` ConfigMap.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::Strategy;
use super::fields::at;
use super::rules::Errors;

/// The bytes that the values of a ConfigMap or Secret may have together.
const MAX_BYTES: usize = 1024 * 1024;

/// What is special about ConfigMaps.
#[derive(Debug)]
pub(super) struct ConfigMap;

impl Strategy for ConfigMap {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.ConfigMap")
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let (data, binary) = (at(object, "data"), at(object, "binaryData"));
        for (key, _) in data.as_object().into_iter().flatten() {
            let path = FieldPath::new("data").key(key);
            data_key(key, &path, &mut errors);
            if binary.get(key).is_some() {
                errors.push(FieldError::invalid(&path, key.as_str(), "duplicate of key present in binaryData"));
            }
        }
        for (key, _) in binary.as_object().into_iter().flatten() {
            data_key(key, &FieldPath::new("binaryData").key(key), &mut errors);
        }
        if size(data) + decoded_size(binary) > MAX_BYTES {
            errors.push(FieldError::too_long(&FieldPath::root().key(""), i64::try_from(MAX_BYTES).unwrap_or(-1)));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let mut errors = Errors::new();
        unchanged_when_immutable(new, old, &["data", "binaryData"], &mut errors);
        errors.extend(self.validate(new));
        errors
    }
}

/// The rule for keys, which may become names of files.
pub(super) fn data_key(key: &str, path: &FieldPath, errors: &mut Errors) {
    if key.len() > 253 {
        errors.push(FieldError::invalid(path, key, "must be no more than 253 characters"));
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if key.is_empty() || !key.bytes().all(allowed) {
        let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                      'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        errors.push(FieldError::invalid(path, key, detail));
    }
    if key == "." {
        errors.push(FieldError::invalid(path, key, "must not be '.'"));
    } else if key == ".." {
        errors.push(FieldError::invalid(path, key, "must not be '..'"));
    } else if key.starts_with("..") {
        errors.push(FieldError::invalid(path, key, "must not start with '..'"));
    }
}

/// Once `immutable` is true it stays, and so does the content.
pub(super) fn unchanged_when_immutable(new: &Value, old: &Value, keys: &[&str], errors: &mut Errors) {
    let is_immutable = |object: &Value| at(object, "immutable").as_bool() == Some(true);
    if !is_immutable(old) {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    if !is_immutable(new) {
        errors.push(FieldError::forbidden(&FieldPath::new("immutable"), detail));
    }
    for key in keys {
        if at(new, key) != at(old, key) {
            errors.push(FieldError::forbidden(&FieldPath::new(*key), detail));
        }
    }
}

/// The bytes of the values of a map of texts.
fn size(data: &Value) -> usize {
    data.as_object().into_iter().flatten().map(|(_, value)| value.as_str().map_or(0, str::len)).sum()
}

/// The bytes of the values of a map of base64 texts.
pub(super) fn decoded_size(data: &Value) -> usize {
    let decoded = |text: &str| text.trim_end_matches('=').len() * 3 / 4;
    data.as_object().into_iter().flatten().map(|(_, value)| value.as_str().map_or(0, decoded)).sum()
}
