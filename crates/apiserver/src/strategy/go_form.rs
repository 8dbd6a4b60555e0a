//! The form in which Go's types write an object: what is empty and optional isn't there, quantities are canonical.
//!
//! A field that isn't a pointer can't say that it was given as zero, so the reference never stores `hostNetwork: false`
//! or `env: []`. Which fields are pointers is part of the generated catalogue.

use controller_runtime_schema::{Link, Schema, ValueType};
use serde_json::Value;

use super::quantity;
use crate::catalogue::{catalogue, keeps_zero, written_as_null};

/// The definition of a quantity, as in `500m`.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/// Definitions whose content isn't the type's own, so that nothing in it may be touched.
const OPAQUE: &[&str] = &[
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
];

/// Brings an object of a definition into the form in which Go would write it.
pub(crate) fn normalize(object: &mut Value, definition: &str) {
    if let Ok(Some(schema)) = catalogue().definitions.get(definition) {
        normalize_fields(object, &schema, definition);
    }
}

/// Brings an object of a definition into the form in which Go reads it from the store: protocol buffers keep nothing of an
/// empty list, so that where Go writes fields that aren't there it writes null.
pub(crate) fn write_empty_as_null(object: &mut Value, definition: &str) {
    if let Ok(Some(schema)) = catalogue().definitions.get(definition) {
        empty_as_null(object, &schema, definition);
    }
}

fn empty_as_null(value: &mut Value, schema: &Schema, definition: &str) {
    match value {
        Value::Object(fields) => {
            for key in written_as_null(definition) {
                if let Some(field @ Value::Array(_)) = fields.get_mut(key)
                    && field.as_array().is_some_and(Vec::is_empty)
                {
                    *field = Value::Null;
                }
            }
            for (key, field) in fields {
                if let Some(link) = schema.child_link(key) {
                    empty_as_null(field, link.get(), link.name().unwrap_or_default());
                }
            }
        }
        Value::Array(items) => {
            if let Some(link) = &schema.items {
                for item in items {
                    empty_as_null(item, link.get(), link.name().unwrap_or_default());
                }
            }
        }
        _ => {}
    }
}

fn normalize_link(value: &mut Value, link: &Link) {
    let definition = link.name().unwrap_or_default();
    if definition == QUANTITY {
        quantity::canonicalize(value);
    } else if !OPAQUE.contains(&definition) {
        normalize_fields(value, link.get(), definition);
    }
}

fn normalize_fields(value: &mut Value, schema: &Schema, definition: &str) {
    match value {
        Value::Object(fields) => fields.retain(|key, field| {
            let Some(link) = schema.child_link(key) else { return !field.is_null() };
            if field.is_null() && is_value_of_map(key, schema) && link.get().value_type == Some(ValueType::String) {
                // Go decodes null into a string of a map as the empty one.
                *field = Value::from("");
            }
            normalize_link(field, link);
            !is_left_out(key, field, link, schema, definition)
        }),
        Value::Array(items) => {
            if let Some(link) = &schema.items {
                for item in items {
                    normalize_link(item, link);
                }
            }
        }
        _ => {}
    }
}

fn is_left_out(key: &str, field: &Value, link: &Link, schema: &Schema, definition: &str) -> bool {
    if is_value_of_map(key, schema) {
        // Values of a map stay, whatever they are.
        return field.is_null();
    }
    let is_written = || written_as_null(definition).any(|written| written == key);
    let optional = || !schema.required.iter().any(|required| required == key);
    match field {
        Value::Null => true,
        Value::Array(items) => items.is_empty() && optional() && !is_written(),
        Value::Object(fields) => fields.is_empty() && is_map(link) && optional() && !is_written(),
        Value::String(text) => text.is_empty() && is_scalar(link) && is_zero_left_out(key, link, definition, optional),
        Value::Bool(value) => !value && is_scalar(link) && is_zero_left_out(key, link, definition, optional),
        Value::Number(number) => {
            number.as_f64() == Some(0.0) && is_scalar(link) && is_zero_left_out(key, link, definition, optional)
        }
    }
}

fn is_value_of_map(key: &str, schema: &Schema) -> bool {
    !schema.properties.contains_key(key)
}

/// Whether a scalar that is zero is left out: an optional field that isn't a pointer and always written.
fn is_zero_left_out(key: &str, link: &Link, definition: &str, optional: impl Fn() -> bool) -> bool {
    link.default_value().is_none() && optional() && !keeps_zero(definition, key)
}

fn is_map(link: &Link) -> bool {
    let schema = link.get();
    schema.additional_properties.is_some() && schema.properties.is_empty()
}

/// Whether the field is a scalar of Go: int-or-string values and what has no type are structs, which keep their zero.
fn is_scalar(link: &Link) -> bool {
    let schema = link.get();
    let scalars = [ValueType::String, ValueType::Boolean, ValueType::Integer, ValueType::Number];
    !schema.int_or_string && schema.value_type.is_some_and(|value_type| scalars.contains(&value_type))
}
