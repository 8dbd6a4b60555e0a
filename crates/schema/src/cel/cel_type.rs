use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// A type of CEL (the Common Expression Language), as the type checker sees it.
///
/// It prints as error texts name it, such as `list(string)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CelType {
    /// Any type; what is done with it is checked when it is evaluated.
    Dyn,
    /// The type of an expression that is wrong, so that it isn't reported twice.
    Error,
    /// The type of `null`.
    Null,
    /// A truth.
    Bool,
    /// A number of 64 bits with a sign.
    Int,
    /// A number of 64 bits without a sign.
    Uint,
    /// A number of floating point.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A span of time.
    Duration,
    /// A point in time.
    Timestamp,
    /// A list of one type.
    List(Arc<CelType>),
    /// A map from one type to another.
    Map(Arc<CelType>, Arc<CelType>),
    /// A value that may be absent.
    Optional(Arc<CelType>),
    /// An object with named fields.
    Object(Arc<ObjectType>),
    /// A type of a library, by its name.
    Opaque(&'static str),
    /// A type as a value.
    Type(Arc<CelType>),
    /// A type that is still open, in the signature of a function.
    Parameter(Arc<str>),
}

/// The type of objects with named fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectType {
    /// Its name, unlike all others of an environment.
    pub name: String,
    /// Its fields, by the names that expressions have for them.
    pub fields: BTreeMap<String, CelType>,
}

impl CelType {
    /// A list of this.
    pub fn list(element: CelType) -> Self {
        Self::List(Arc::new(element))
    }

    /// A map.
    pub fn map(key: CelType, value: CelType) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// This, or nothing.
    pub fn optional(of: CelType) -> Self {
        Self::Optional(Arc::new(of))
    }

    /// Whether anything goes.
    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// The types that this one is made of.
    pub(crate) fn parameters(&self) -> Vec<&CelType> {
        match self {
            Self::List(of) | Self::Optional(of) | Self::Type(of) => vec![of],
            Self::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }
}

impl Display for CelType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn => f.write_str("dyn"),
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Duration => f.write_str("duration"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Optional(of) => write!(f, "optional_type({of})"),
            Self::Object(object) => f.write_str(&object.name),
            Self::Opaque(name) => f.write_str(name),
            Self::Type(of) => write!(f, "type({of})"),
            Self::Parameter(name) => f.write_str(name),
        }
    }
}
