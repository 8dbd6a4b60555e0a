//! What an object of a built-in kind holds before anything is set.

use controller_runtime_schema::{Link, Schema, ValueType};
use serde_json::{Map, Value};

/// An object of a built-in kind in which nothing is set yet.
///
/// Built-in kinds are structs in kube-apiserver, and a struct always has its mandatory parts: nested structs, whose
/// default is `{}` in the schema, and required fields. Who creates an object doesn't own them as such, only what is in
/// them. Custom resources have no such parts; their empty object is `{}`.
pub fn empty_object(schema: &Schema) -> Value {
    empty_struct(schema, 0)
}

/// Structs that contain themselves do so through optional fields, so that no real kind is nested as deep as this.
const MAX_DEPTH: usize = 32;

fn empty_struct(schema: &Schema, depth: usize) -> Value {
    let mut fields = Map::new();
    if depth > MAX_DEPTH {
        return Value::Object(fields);
    }
    for (name, link) in &schema.properties {
        let has_empty_default = link.default_value().and_then(Value::as_object).is_some_and(Map::is_empty);
        if has_empty_default && link.get().value_type == Some(ValueType::Object) {
            fields.insert(name.clone(), empty_struct(link.get(), depth + 1));
        } else if schema.required.contains(name) || link.default_value().is_some_and(is_zero) {
            fields.insert(name.clone(), empty_field(link));
        }
    }
    Value::Object(fields)
}

/// Whether a default is what Go's zero value is, so that the field is written whether or not anybody set it.
fn is_zero(default: &Value) -> bool {
    match default {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(value) => !value,
        _ => false,
    }
}

/// The zero value of a required field; pointers, lists and maps are null.
fn empty_field(link: &Link) -> Value {
    let is_plain = link.default_value().is_some();
    match link.get().value_type {
        Some(ValueType::String) if is_plain => Value::String(String::new()),
        Some(ValueType::Integer | ValueType::Number) if is_plain => Value::from(0),
        Some(ValueType::Boolean) if is_plain => Value::Bool(false),
        _ => Value::Null,
    }
}
