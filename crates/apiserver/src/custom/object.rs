//! How custom objects behave.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller_runtime_schema::{
    FieldError, FieldErrorKind, FieldPath, RuleValidator, Schema, prune, validate, validate_embedded, validate_lists,
    validate_update,
};
use serde_json::Value;

use super::versions::Versions;
use super::{embedded, settle, warning};
use crate::core::Core;
use crate::resource::ScalePaths;
use crate::strategy::{Change, Strategy};

/// The strategy of the objects of one version of a definition.
#[derive(Debug)]
pub(super) struct ObjectStrategy {
    /// Name of the definition.
    definition: String,
    /// What the definition says of objects, metadata included.
    schema: Arc<Schema>,
    /// All versions of the definition.
    versions: Arc<Versions>,
    /// The rules in CEL, compiled once for the definition.
    rules: Option<RuleValidator>,
    has_status: bool,
    scale: Option<ScalePaths>,
    selectable_fields: Vec<String>,
}

impl ObjectStrategy {
    pub(super) fn new(
        definition: &str,
        schema: Arc<Schema>,
        versions: Arc<Versions>,
        has_status: bool,
        scale: Option<ScalePaths>,
        selectable_fields: Vec<String>,
    ) -> Self {
        let rules = RuleValidator::new(&schema, true);
        Self { definition: definition.to_owned(), schema, versions, rules, has_status, scale, selectable_fields }
    }

    /// Rules of the scale subresource: `replicas` is a number of pods.
    fn scale(&self, object: &Value, spec: bool) -> Vec<FieldError> {
        let Some(scale) = &self.scale else { return Vec::new() };
        let mut errors = Vec::new();
        let replicas = [(&scale.spec_replicas, spec), (&scale.status_replicas, true)];
        for (keys, _) in replicas.into_iter().filter(|(_, asked)| *asked) {
            let path = dotted(keys);
            match at(object, keys) {
                Err(problem) => errors.push(FieldError::invalid(&path, 0, problem)),
                Ok(None) => {}
                Ok(Some(found)) => match found.as_i64() {
                    Some(..0) => {
                        errors.push(FieldError::invalid(&path, found.clone(), "should be a non-negative integer"));
                    }
                    Some(count) if count > i64::from(i32::MAX) => {
                        let detail = format!("should be less than or equal to {}", i32::MAX);
                        errors.push(FieldError::invalid(&path, found.clone(), detail));
                    }
                    Some(_) => {}
                    None => errors.push(FieldError::invalid(&path, 0, accessor_error(keys, found, "int64"))),
                },
            }
        }
        if let Some(keys) = &scale.label_selector {
            let problem = match at(object, keys) {
                Err(problem) => Some(problem),
                Ok(found) => {
                    found.filter(|found| !found.is_string()).map(|found| accessor_error(keys, found, "string"))
                }
            };
            errors.extend(problem.map(|problem| FieldError::invalid(&dotted(keys), "", problem)));
        }
        errors
    }

    fn embedded(&self, object: &Value) -> Vec<FieldError> {
        validate_embedded(object, &self.schema, &FieldPath::root(), false, &embedded::validate)
    }
}

/// What is said where errors are such that rules can't be asked.
fn unchecked(errors: &[FieldError]) -> Option<FieldError> {
    let blocks = |error: &FieldError| {
        matches!(
            error.kind,
            FieldErrorKind::NotSupported
                | FieldErrorKind::Required
                | FieldErrorKind::TooLong
                | FieldErrorKind::TooMany
                | FieldErrorKind::TypeInvalid
        )
    };
    let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to \
                  complete validation";
    errors.iter().any(blocks).then(|| FieldError::invalid(&FieldPath::root(), Value::Null, detail))
}

fn finalizers(object: &Value) -> Vec<&str> {
    let listed = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The path as the definition writes it, with its leading dot.
fn dotted(keys: &[String]) -> FieldPath {
    FieldPath::new(format!(".{}", keys.join(".")))
}

fn accessor_error(keys: &[String], found: &Value, expected: &str) -> String {
    let (shown, actual) = match found {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::Bool(value) => (value.to_string(), "bool"),
        Value::Number(value) => (value.to_string(), if value.is_i64() { "int64" } else { "float64" }),
        Value::String(value) => (value.clone(), "string"),
        Value::Array(_) => (found.to_string(), "[]interface {}"),
        Value::Object(_) => (found.to_string(), "map[string]interface {}"),
    };
    format!(".{} accessor error: {shown} is of the type {actual}, expected {expected}", keys.join("."))
}

/// The value at a path of keys, or why there can't be one.
fn at<'a>(object: &'a Value, keys: &[String]) -> Result<Option<&'a Value>, String> {
    let mut value = object;
    for (index, key) in keys.iter().enumerate() {
        match value {
            Value::Null => return Ok(None),
            Value::Object(map) => match map.get(key) {
                Some(next) => value = next,
                None => return Ok(None),
            },
            other => {
                let reached = keys.get(..=index).unwrap_or(keys);
                return Err(accessor_error(reached, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(value))
}

/// Writes numbers as Go does, which drops an empty fraction.
fn shorten_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9.2e18);
            if let Some(whole) = whole {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
                let whole = whole as i64;
                *value = whole.into();
            }
        }
        Value::Object(map) => map.values_mut().for_each(shorten_numbers),
        Value::Array(items) => items.iter_mut().for_each(shorten_numbers),
        _ => {}
    }
}

impl Strategy for ObjectStrategy {
    fn normalize(&self, object: &mut Value) {
        shorten_numbers(object);
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = validate(object, &self.schema, &FieldPath::root());
        errors.extend(self.scale(object, true));
        errors.extend(self.embedded(object));
        errors.extend(validate_lists(object, &self.schema, &FieldPath::root()));
        if let Some(rules) = &self.rules {
            match unchecked(&errors) {
                Some(error) => errors.push(error),
                None => errors.extend(rules.validate(object, None, &FieldPath::root()).errors),
            }
        }
        errors
    }

    fn review_update(
        &self,
        new: &Value,
        old: &Value,
        subresource: Option<&str>,
        warn: &mut dyn FnMut(String),
    ) -> Vec<FieldError> {
        let root = FieldPath::root();
        let is_status = subresource == Some("status");
        let mut errors = if is_status {
            match (new.get("status"), self.schema.child("status")) {
                (Some(status), Some(schema)) => {
                    let old = old.get("status").unwrap_or(&Value::Null);
                    validate_update(status, old, schema, &FieldPath::new("status"))
                }
                _ => Vec::new(),
            }
        } else {
            validate_update(new, old, &self.schema, &root)
        };
        errors.extend(self.scale(new, !is_status));
        errors.extend(self.embedded(new));
        // Doubles that are there already are not held against a change.
        if validate_lists(old, &self.schema, &root).is_empty() {
            errors.extend(validate_lists(new, &self.schema, &root));
        }
        if let Some(rules) = &self.rules {
            if let Some(error) = unchecked(&errors) {
                errors.push(error);
                return errors;
            }
            let found = rules.validate_update(new, old, &root);
            found.warnings.iter().for_each(|warning| warn(warning.to_string()));
            errors.extend(found.errors);
        }
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let known = old.map(finalizers).unwrap_or_default();
        let mut added: Vec<&str> = finalizers(new).into_iter().filter(|name| !known.contains(name)).collect();
        added.sort_unstable();
        added.into_iter().flat_map(warning::of_finalizer).collect()
    }

    fn unconditional_update(&self) -> bool {
        false
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn drops_status(&self) -> bool {
        self.has_status
    }

    fn typed(&self) -> bool {
        false
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        let value = |path: &String| {
            let found = path.split('.').try_fold(object, |value, key| value.get(key));
            match found {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            }
        };
        self.selectable_fields.iter().map(|path| (path.clone(), value(path))).collect()
    }

    fn committed(&self, change: Change<'_>, core: &Arc<Core>) {
        if change.new.is_none() {
            settle::object_removed(&self.definition, core);
        }
    }

    fn versions(&self) -> Option<Arc<Versions>> {
        Some(Arc::clone(&self.versions))
    }

    fn convert(&self, object: &mut Value, api_version: &str, kind: &str) {
        self.versions.fill_in(object);
        if let Some(map) = object.as_object_mut() {
            map.insert("apiVersion".to_owned(), api_version.into());
            map.insert("kind".to_owned(), kind.into());
        }
        // A version shows only what it knows.
        prune(object, &self.schema, true);
    }
}
