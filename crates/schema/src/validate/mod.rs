//! Validation of values against a schema, with kube-apiserver's errors.

mod combined;
mod format;
mod number;
mod object;
mod outcome;
mod text;
mod trail;
mod value_type;

use serde_json::Value;

pub(crate) use self::format::{is_known as is_known_format, is_of_format};
use self::outcome::{Failure, Outcome};
use self::trail::Trail;
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::schema::{ListType, Schema};

/// What is wrong with `value`, which is at `root`, by `schema`; empty when nothing is.
///
/// Covers types, required fields, enums, bounds, patterns, formats and combinations, in a fixed order. Uniqueness in
/// lists of type set and map is [`validate_lists`](crate::validate_lists)'s, and embedded objects are
/// [`validate_embedded`](crate::validate_embedded)'s.
///
/// ```
/// use controller_runtime_schema::{FieldPath, Schema, validate};
/// use serde_json::json;
///
/// let schema = Schema::from_json(&json!({"type": "object", "properties": {"replicas": {"type": "integer"}}}))?;
/// let errors = validate(&json!({"replicas": "3"}), &schema, &FieldPath::root());
/// let text = r#"replicas: Invalid value: "string": replicas in body must be of type integer: "string""#;
/// assert_eq!(errors[0].to_string(), text);
/// # Ok::<(), controller_runtime_schema::SchemaError>(())
/// ```
pub fn validate(value: &Value, schema: &Schema, root: &FieldPath) -> Vec<FieldError> {
    Validator { root }.value(value, None, schema, Trail::Root).into_errors()
}

/// What is wrong with `value`, which replaces `old`: values that are as they were before are not held against it
/// (KEP-4008).
///
/// Items of lists are paired by their keys in lists of type map; in other lists they have no former self.
pub fn validate_update(value: &Value, old: &Value, schema: &Schema, root: &FieldPath) -> Vec<FieldError> {
    Validator { root }.value(value, Some(old), schema, Trail::Root).into_errors()
}

struct Validator<'a> {
    root: &'a FieldPath,
}

impl Validator<'_> {
    fn path(&self, trail: &Trail<'_>) -> FieldPath {
        let name = trail.to_string();
        let name = name.strip_prefix('.').unwrap_or(&name);
        if name.is_empty() { self.root.clone() } else { self.root.child(name) }
    }

    /// A failure of the field itself.
    fn invalid(&self, trail: &Trail<'_>, value: impl Into<Value>, message: String) -> Failure {
        Failure { error: FieldError::invalid(&self.path(trail), value, message.clone()), message }
    }

    /// A failure that kube-apiserver reports for the object as a whole.
    fn general(&self, message: String) -> Failure {
        Failure { error: FieldError::invalid(self.root, "", message.clone()), message }
    }

    /// Validates a value; with `old`, the value it replaces, failures are forgiven when the two are equal.
    fn value(&self, value: &Value, old: Option<&Value>, schema: &Schema, trail: Trail<'_>) -> Outcome {
        let mut outcome = self.fresh(value, old, schema, trail);
        if !outcome.is_valid() && old == Some(value) {
            outcome.forgive();
        }
        outcome
    }

    fn fresh(&self, value: &Value, old: Option<&Value>, schema: &Schema, trail: Trail<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        self.value_type(value, schema, trail, &mut outcome);
        if value.is_null() {
            self.enumeration(value, schema, trail, &mut outcome);
            return outcome;
        }
        // Each group of checks that applies to the value counts as a match, as the messages of anyOf depend on it.
        self.combined(value, old, schema, trail, &mut outcome);
        outcome.matches += 1;
        match value {
            Value::String(text) => {
                self.text(text, schema, trail, &mut outcome);
                outcome.matches += 1;
                self.format(text, schema, trail, &mut outcome);
            }
            Value::Number(number) => {
                self.number(number, schema, trail, &mut outcome);
                outcome.matches += 2;
            }
            Value::Array(items) => {
                self.list(items, old.and_then(Value::as_array), schema, trail, &mut outcome);
                outcome.matches += 2;
            }
            _ => {}
        }
        self.enumeration(value, schema, trail, &mut outcome);
        outcome.matches += 1;
        if let Value::Object(map) = value {
            self.object(map, old.and_then(Value::as_object), schema, trail, &mut outcome);
            outcome.matches += 1;
        }
        outcome.matches += 1;
        outcome
    }

    fn enumeration(&self, value: &Value, schema: &Schema, trail: Trail<'_>, outcome: &mut Outcome) {
        if schema.enumeration.is_empty() || schema.enumeration.iter().any(|allowed| equal_as(value, allowed)) {
            return;
        }
        let supported: Vec<_> = schema
            .enumeration
            .iter()
            .map(|allowed| match allowed {
                Value::String(text) => text.clone(),
                other => crate::go_format::json(other),
            })
            .collect();
        let error = FieldError::not_supported(&self.path(&trail), value.clone(), &supported);
        let message = format!("{trail} in body should be one of {supported:?}");
        outcome.add(Failure { error, message });
    }

    fn list(
        &self,
        items: &[Value],
        old: Option<&Vec<Value>>,
        schema: &Schema,
        trail: Trail<'_>,
        outcome: &mut Outcome,
    ) {
        if let Some(item_schema) = schema.item() {
            let paired = old.filter(|_| schema.list_type == Some(ListType::Map));
            for (index, item) in items.iter().enumerate() {
                let before = paired.and_then(|old| old.iter().find(|old| same_key(item, old, &schema.list_map_keys)));
                outcome.merge(self.value(item, before, item_schema, Trail::Index(&trail, index)));
            }
        }
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(least) = schema.validation.min_items.filter(|least| size < *least) {
            let message = format!("{trail} in body should have at least {least} items");
            outcome.add(self.invalid(&trail, size, message));
        }
        if let Some(most) = schema.validation.max_items.filter(|most| size > *most) {
            let message = format!("{trail} in body should have at most {most} items");
            outcome.add(Failure { error: FieldError::too_many(&self.path(&trail), size, most), message });
        }
        if schema.validation.unique_items && has_doubles(items) {
            outcome.add(self.invalid(&trail, "", format!("{trail} in body shouldn't contain duplicates")));
        }
    }
}

fn same_key(one: &Value, other: &Value, keys: &[String]) -> bool {
    !keys.is_empty() && keys.iter().all(|key| one.get(key) == other.get(key))
}

fn has_doubles(items: &[Value]) -> bool {
    items.iter().enumerate().any(|(index, item)| items.iter().take(index).any(|earlier| earlier == item))
}

/// Whether a value is an allowed one. As in kube-apiserver the value's number is first converted to the type of the
/// allowed one, and a null that is listed allows nothing.
fn equal_as(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (_, Value::Null) => false,
        (Value::Number(value), Value::Number(allowed)) => match (value.as_i64(), allowed.as_i64()) {
            #[expect(clippy::cast_possible_truncation, reason = "kube-apiserver truncates as well")]
            (None, Some(allowed)) => value.as_f64().is_some_and(|value| value as i64 == allowed),
            (Some(value), Some(allowed)) => value == allowed,
            (_, None) => value.as_f64() == allowed.as_f64(),
        },
        (value, allowed) => value == allowed,
    }
}

#[cfg(test)]
mod tests;
