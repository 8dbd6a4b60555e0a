use serde_json::Value;

use super::{Failure, Outcome, Trail, Validator};
use crate::field_error::FieldError;
use crate::go_format::quote;
use crate::schema::{Schema, ValueType};

/// The JSON type and the format that a value has by itself.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

/// The types a schema allows, in the order in which messages name them.
fn allowed(schema: &Schema) -> &'static [&'static str] {
    if schema.int_or_string {
        return &["integer", "string"];
    }
    match schema.value_type {
        None => &[],
        Some(ValueType::Object) => &["object"],
        Some(ValueType::Array) => &["array"],
        Some(ValueType::String) => &["string"],
        Some(ValueType::Integer) => &["integer"],
        Some(ValueType::Number) => &["number"],
        Some(ValueType::Boolean) => &["boolean"],
    }
}

impl Validator<'_> {
    pub(super) fn value_type(&self, value: &Value, schema: &Schema, trail: Trail<'_>, outcome: &mut Outcome) {
        let types = allowed(schema);
        let format = schema.checked_format();
        if value.is_null() {
            if !types.is_empty() && !schema.nullable {
                outcome.add(self.wrong_type(&trail, &types.join(","), "null"));
            } else {
                outcome.matches += 1;
            }
            return;
        }
        if types.is_empty() && format.is_none() {
            return;
        }
        // The group of checks counts as made, whatever it finds.
        outcome.matches += 1;
        let (actual, actual_format) = type_of(value);
        let whole = actual == "number" && value.as_f64().is_some_and(is_whole) && types.contains(&"integer");
        let widened = actual == "integer" && types.contains(&"number");
        let fits = types.contains(&actual) || whole || widened;
        let is_text_or_list = value.is_string() || value.is_array();
        if let Some(format) = format {
            if !is_text_or_list && !fits && format != actual_format {
                outcome.add(self.wrong_type(&trail, format, actual_format));
                return;
            }
            if is_text_or_list && !types.contains(&"number") && !types.contains(&"integer") {
                // What remains is the format's business.
                outcome.matches += 1;
                return;
            }
        }
        if fits {
            outcome.matches += 1;
        } else {
            outcome.add(self.wrong_type(&trail, &types.join(","), actual));
        }
    }

    /// A value of the wrong type; `found` is what the message and the error show in its place.
    pub(super) fn wrong_type(&self, trail: &Trail<'_>, expected: &str, found: &str) -> Failure {
        let message = format!("{trail} in body must be of type {expected}: {}", quote(found));
        Failure { error: FieldError::type_invalid(&self.path(trail), found, message.clone()), message }
    }
}

/// Whether a float stands for a whole number that JSON can carry without loss.
pub(super) fn is_whole(value: f64) -> bool {
    const GREATEST: f64 = 9_007_199_254_740_991.0;
    if !value.is_finite() || value.abs() > GREATEST {
        return false;
    }
    let rounded = value.round();
    let difference = (value - rounded).abs();
    difference == 0.0 || difference < 1e-9 * value.abs().max(rounded.abs())
}
