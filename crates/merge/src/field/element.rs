//! One step of a field path.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use super::quote::quoted;
use super::value_order::{compare_pairs, compare_values};

/// One step of a [`FieldPath`](crate::FieldPath): into a field of a map, or into an item of a list.
///
/// Numbers are equal when their values are, so that `1` and `1.0` select the same item.
#[derive(Debug, Clone)]
pub enum PathElement {
    /// The field of this name; the containing value is a map or a struct.
    Field(String),
    /// The item whose key fields have these values, sorted by name; the containing value is a list of type `map`.
    Key(Vec<(String, Value)>),
    /// The item that equals this scalar; the containing value is a list of type `set`.
    Value(Value),
    /// The item at this index; the containing value is an atomic list. Only old objects have such paths.
    Index(i64),
}

impl PathElement {
    /// A step into the field of a name.
    pub fn field(name: impl Into<String>) -> PathElement {
        PathElement::Field(name.into())
    }

    /// A step into the list item with these values in its key fields.
    pub fn key<N: Into<String>, V: Into<Value>>(fields: impl IntoIterator<Item = (N, V)>) -> PathElement {
        let mut fields: Vec<(String, Value)> =
            fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        fields.sort_by(|(left, _), (right, _)| left.cmp(right));
        PathElement::Key(fields)
    }

    fn rank(&self) -> u8 {
        match self {
            PathElement::Field(_) => 0,
            PathElement::Key(_) => 1,
            PathElement::Value(_) => 2,
            PathElement::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &PathElement) -> Ordering {
        match (self, other) {
            (PathElement::Field(left), PathElement::Field(right)) => left.cmp(right),
            (PathElement::Key(left), PathElement::Key(right)) => {
                compare_pairs(left.iter().map(|(n, v)| (n, v)), right.iter().map(|(n, v)| (n, v)))
            }
            (PathElement::Value(left), PathElement::Value(right)) => compare_values(left, right),
            (PathElement::Index(left), PathElement::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &PathElement) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &PathElement) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

/// The form of error messages: `.name`, `[key="value"]`, `[="value"]` or `[0]`.
impl Display for PathElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PathElement::Field(name) => write!(f, ".{name}"),
            PathElement::Key(fields) => {
                f.write_str("[")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{name}=")?;
                    write_value(f, value)?;
                }
                f.write_str("]")
            }
            PathElement::Value(value) => {
                f.write_str("[=")?;
                write_value(f, value)?;
                f.write_str("]")
            }
            PathElement::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn write_value(f: &mut Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::String(text) => write!(f, "{}", quoted(text)),
        Value::Number(number) => write!(f, "{number}"),
        Value::Bool(value) => write!(f, "{value}"),
        Value::Null => f.write_str("null"),
        Value::Array(items) => {
            f.write_str("[")?;
            for (index, item) in items.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                write_value(f, item)?;
            }
            f.write_str("]")
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                write!(f, "{name}=")?;
                write_value(f, value)?;
            }
            Ok(())
        }
    }
}
