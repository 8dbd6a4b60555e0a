//! Values of expressions. What comes from a JSON document is looked at where it is, through its schema.

mod compare;
mod digest;
mod entries;
mod list;
mod map;
mod opaque;

use std::borrow::Cow;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

pub(crate) use self::compare::{equal, keys_of, order};
pub(crate) use self::digest::Places;
pub use self::entries::CelEntries;
pub use self::list::CelList;
pub use self::map::CelMap;
pub use self::opaque::Opaque;

use super::cel_type::CelType;
use super::library;
use crate::schema::{Schema, ValueType};

/// A value of an expression.
#[derive(Clone, Debug)]
pub enum CelValue<'a> {
    /// Nothing.
    Null,
    /// A truth.
    Bool(bool),
    /// A number with a sign.
    Int(i64),
    /// A number without a sign.
    Uint(u64),
    /// A number of floating point.
    Double(f64),
    /// Text.
    String(Cow<'a, str>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A span of time, in nanoseconds.
    Duration(i64),
    /// A point in time.
    Timestamp(jiff::Timestamp),
    /// A list.
    List(CelList<'a>),
    /// A map or an object.
    Map(CelMap<'a>),
    /// A value or none.
    Optional(Option<Rc<CelValue<'a>>>),
    /// A type.
    Type(CelType),
    /// A value of a library.
    Opaque(Opaque),
}

impl<'a> CelValue<'a> {
    /// Text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::String(text.into())
    }

    /// A list of values.
    pub fn list(values: Vec<CelValue<'a>>) -> Self {
        Self::List(CelList::Values(Rc::new(values)))
    }

    /// A value that is there.
    pub(crate) fn some(value: CelValue<'a>) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    /// A JSON value as it is.
    pub fn from_json(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => match number.as_i64() {
                Some(number) => Self::Int(number),
                None => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::text(text.as_str()),
            Value::Array(items) => Self::List(CelList::Json(items, None)),
            Value::Object(fields) => Self::Map(CelMap::Json(fields, None)),
        }
    }

    /// A JSON value as its schema says what it is: text of some formats is a time, a span or bytes, and fields that the
    /// schema doesn't know aren't there.
    pub fn with_schema(value: &'a Value, schema: &'a Schema) -> Self {
        match value {
            Value::Array(items) => Self::List(CelList::Json(items, Some(schema))),
            Value::Object(fields) => Self::Map(CelMap::Json(fields, Some(schema))),
            Value::Number(number) if schema.value_type == Some(ValueType::Number) => {
                Self::Double(number.as_f64().unwrap_or(f64::NAN))
            }
            Value::String(text) if !schema.int_or_string => formatted(text, schema),
            other => Self::from_json(other),
        }
    }

    /// Its type, as `type()` tells it.
    pub(crate) fn type_of(&self) -> CelType {
        let any = || std::sync::Arc::new(CelType::Dyn);
        match self {
            Self::Null => CelType::Null,
            Self::Bool(_) => CelType::Bool,
            Self::Int(_) => CelType::Int,
            Self::Uint(_) => CelType::Uint,
            Self::Double(_) => CelType::Double,
            Self::String(_) => CelType::String,
            Self::Bytes(_) => CelType::Bytes,
            Self::Duration(_) => CelType::Duration,
            Self::Timestamp(_) => CelType::Timestamp,
            Self::List(_) => CelType::List(any()),
            Self::Map(_) => CelType::Map(any(), any()),
            Self::Optional(_) => CelType::Optional(any()),
            Self::Type(_) => CelType::Type(any()),
            Self::Opaque(opaque) => CelType::Opaque(opaque.type_name()),
        }
    }

    /// What `size()` says of it, and 1 of what has none: what costs are counted by.
    pub(crate) fn size(&self) -> u64 {
        let size = match self {
            Self::String(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
            Self::Optional(Some(value)) => return value.size(),
            Self::Opaque(opaque) => opaque.size(),
            _ => 1,
        };
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// Whether it is what its type has when nothing is said.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(truth) => !truth,
            Self::Int(number) => *number == 0,
            Self::Uint(number) => *number == 0,
            Self::Double(number) => *number == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Duration(span) => *span == 0,
            Self::List(list) => list.len() == 0,
            Self::Map(map) => map.len() == 0,
            Self::Optional(value) => value.is_none(),
            Self::Timestamp(_) | Self::Type(_) | Self::Opaque(_) => false,
        }
    }
}

fn formatted<'a>(text: &'a str, schema: &Schema) -> CelValue<'a> {
    let read = match schema.format.as_deref() {
        Some("byte") => STANDARD.decode(text).ok().map(|bytes| CelValue::Bytes(bytes.into())),
        Some("duration") => library::duration(text).map(CelValue::Duration),
        Some("date-time") => library::timestamp(text).map(CelValue::Timestamp),
        Some("date") => library::timestamp(&format!("{text}T00:00:00Z")).map(CelValue::Timestamp),
        _ => None,
    };
    read.unwrap_or(CelValue::String(text.into()))
}
