//! Values as kube-apiserver prints them in type errors.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use crate::field::quoted;

/// The Go name of a value's type.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value in the form of Go's `%v`.
pub(crate) struct GoPlain<'a>(pub(crate) &'a Value);

impl Display for GoPlain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::String(text) => f.write_str(text),
            Value::Array(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "" } else { " " }, GoPlain(item))?;
                }
                f.write_str("]")
            }
            Value::Object(fields) => {
                f.write_str("map[")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}{name}:{}", if index == 0 { "" } else { " " }, GoPlain(value))?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A value in the form of Go's `%#v`.
pub(crate) struct GoSyntax<'a>(pub(crate) &'a Value);

impl Display for GoSyntax<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("interface {}(nil)"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::String(text) => write!(f, "{}", quoted(text)),
            Value::Array(items) => {
                f.write_str("[]interface {}{")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "" } else { ", " }, GoSyntax(item))?;
                }
                f.write_str("}")
            }
            Value::Object(fields) => {
                f.write_str("map[string]interface {}{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{}:{}", quoted(name), GoSyntax(value))?;
                }
                f.write_str("}")
            }
        }
    }
}
