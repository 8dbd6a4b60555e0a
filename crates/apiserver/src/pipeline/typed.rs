//! What Go's typed decoder refuses: values of the wrong type, malformed times and bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use controller_runtime_schema::{AdditionalProperties, Link, Schema, ValueType};
use serde_json::Value;

use super::go_time;
use crate::strategy::quantity_error;

/// Checks a value against the schema of a built-in type. The error is Go's text.
pub(crate) fn check(value: &Value, schema: &Schema, structure: &str) -> Result<(), String> {
    Checker { path: Vec::new() }.value(value, schema, None, structure)
}

struct Checker<'a> {
    path: Vec<&'a str>,
}

impl<'a> Checker<'a> {
    /// `name` is the definition that the schema comes from, `structure` the Go struct that the field belongs to.
    fn value(&mut self, value: &'a Value, schema: &Schema, name: Option<&str>, structure: &str) -> Result<(), String> {
        if value.is_null() {
            return Ok(());
        }
        let own = name.map(short);
        if let Some(result) = own.and_then(|own| special(value, own)) {
            return result.map_err(|error| error.unwrap_or_else(|| self.mismatch(value, schema, name, structure)));
        }
        if schema.int_or_string || schema.format.as_deref() == Some("int-or-string") {
            return if value.is_string() || value.is_i64() {
                Ok(())
            } else {
                self.wrong(value, schema, name, structure)
            };
        }
        match (schema.value_type, value) {
            (Some(ValueType::Object), Value::Object(members)) => {
                let structure = own.unwrap_or(structure);
                let is_map = schema.additional_properties.is_some();
                for (key, member) in members {
                    let Some(link) = child(schema, key) else { continue };
                    // Go names fields, not the keys of maps.
                    if !is_map {
                        self.path.push(key);
                    }
                    self.value(member, link.get(), link.name(), structure)?;
                    if !is_map {
                        self.path.pop();
                    }
                }
                Ok(())
            }
            (Some(ValueType::Array), Value::Array(items)) => {
                let Some(link) = &schema.items else { return Ok(()) };
                items.iter().try_for_each(|item| self.value(item, link.get(), link.name(), structure))
            }
            (Some(ValueType::String), Value::String(text)) if schema.format.as_deref() == Some("byte") => {
                STANDARD.decode(text).map(|_| ()).map_err(|error| base64_text(&error))
            }
            (None, _)
            | (Some(ValueType::String), Value::String(_))
            | (Some(ValueType::Boolean), Value::Bool(_))
            | (Some(ValueType::Number), Value::Number(_)) => Ok(()),
            (Some(ValueType::Integer), Value::Number(number)) if fits(number, schema) => Ok(()),
            _ => self.wrong(value, schema, name, structure),
        }
    }

    fn wrong(&self, value: &Value, schema: &Schema, name: Option<&str>, structure: &str) -> Result<(), String> {
        Err(self.mismatch(value, schema, name, structure))
    }

    fn mismatch(&self, value: &Value, schema: &Schema, name: Option<&str>, structure: &str) -> String {
        let found = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "bool".to_owned(),
            Value::Number(number) if schema.value_type == Some(ValueType::Integer) => format!("number {number}"),
            Value::Number(_) => "number".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        let field = self.path.join(".");
        let wanted = go_type(schema, name);
        if field.is_empty() {
            return format!("json: cannot unmarshal {found} into Go value of type {wanted}");
        }
        format!("json: cannot unmarshal {found} into Go struct field {structure}.{field} of type {wanted}")
    }
}

/// Types whose Go form decodes itself. `Err(None)` asks for the usual text.
fn special(value: &Value, name: &str) -> Option<Result<(), Option<String>>> {
    match (name, value) {
        ("Quantity", Value::String(text)) => Some(quantity_error(text).map_err(|text| Some(text.to_owned()))),
        ("Quantity", Value::Number(number)) => {
            Some(quantity_error(&number.to_string()).map_err(|text| Some(text.to_owned())))
        }
        ("IntOrString", Value::String(_)) | ("RawExtension" | "JSON" | "FieldsV1", _) => Some(Ok(())),
        ("IntOrString", Value::Number(number)) if number.is_i64() => Some(Ok(())),
        ("Time", Value::String(text)) => Some(go_time::check(text).map_err(Some)),
        ("MicroTime", Value::String(text)) => Some(go_time::check_micro(text).map_err(Some)),
        ("Quantity" | "IntOrString" | "Time" | "MicroTime", _) => Some(Err(None)),
        _ => None,
    }
}

fn child<'s>(schema: &'s Schema, key: &str) -> Option<&'s Link> {
    match (schema.properties.get(key), &schema.additional_properties) {
        (None, Some(AdditionalProperties::Schema(link))) => Some(link),
        (known, _) => known,
    }
}

fn fits(number: &serde_json::Number, schema: &Schema) -> bool {
    match (number.as_i64(), schema.format.as_deref()) {
        (Some(value), Some("int32")) => i32::try_from(value).is_ok(),
        (number, _) => number.is_some(),
    }
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn go_type(schema: &Schema, name: Option<&str>) -> String {
    // Times read their text themselves.
    if let Some(name) = name.filter(|name| !matches!(short(name), "Time" | "MicroTime")) {
        let mut parts = name.rsplit('.');
        let (kind, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        return format!("{package}.{kind}");
    }
    let of = |link: &Link| go_type(link.get(), link.name());
    match schema.value_type {
        Some(ValueType::String) => "string".to_owned(),
        Some(ValueType::Boolean) => "bool".to_owned(),
        Some(ValueType::Integer) => schema.format.clone().unwrap_or_else(|| "int".to_owned()),
        Some(ValueType::Number) => "float64".to_owned(),
        Some(ValueType::Array) => format!("[]{}", schema.items.as_ref().map_or_else(String::new, of)),
        Some(ValueType::Object) => match &schema.additional_properties {
            Some(AdditionalProperties::Schema(link)) => format!("map[string]{}", of(link)),
            _ => "map[string]interface {}".to_owned(),
        },
        _ => "interface {}".to_owned(),
    }
}

fn base64_text(error: &base64::DecodeError) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _)
        | base64::DecodeError::InvalidLastSymbol(at, _)
        | base64::DecodeError::InvalidLength(at) => *at,
        base64::DecodeError::InvalidPadding => 0,
    };
    format!("illegal base64 data at input byte {at}")
}
