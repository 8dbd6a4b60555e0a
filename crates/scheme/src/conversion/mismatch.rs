use std::fmt;

use serde::de::{Error, Expected, Unexpected};
use serde_json::Value;

use super::path::Path;

/// How an object and its type differ, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Empty until the place where it happened is known.
    pub(crate) path: Option<String>,
    pub(crate) what: Difference,
}

/// How a value and its type differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Another value was expected.
    Value { expected: String, found: String },
    /// The field that is named is missing in the object at the path.
    Missing { field: String },
    /// The field at the path is none of the type.
    Unknown { found: Option<String> },
    /// What the type itself says against the value. What that is, is known once the place is.
    Refused { reason: String, found: Option<String> },
}

impl Mismatch {
    fn of(what: Difference) -> Self {
        Self { path: None, what }
    }

    /// It happened here, unless it is known that it happened further inside.
    pub(crate) fn at(mut self, path: &Path<'_>, value: &Value) -> Self {
        if self.path.is_none() {
            self.path = Some(match &self.what {
                Difference::Missing { field } => Path::Field(path, field).to_string(),
                _ => path.to_string(),
            });
            if let Difference::Refused { found: found @ None, .. } | Difference::Unknown { found: found @ None } =
                &mut self.what
            {
                *found = Some(describe(value));
            }
        }
        self
    }

    /// The path of the object in which a field is missing.
    pub(crate) fn parent(&self) -> Option<String> {
        let Difference::Missing { field } = &self.what else { return None };
        let parent = self.path.as_deref()?.strip_suffix(field.as_str())?;
        Some(parent.strip_suffix('.').unwrap_or(parent).to_owned())
    }

    pub(crate) fn unknown(path: &Path<'_>, value: &Value) -> Self {
        Self { path: Some(path.to_string()), what: Difference::Unknown { found: Some(describe(value)) } }
    }

    pub(crate) fn missing(path: &Path<'_>, field: &str) -> Self {
        Self { path: Some(Path::Field(path, field).to_string()), what: Difference::Missing { field: field.to_owned() } }
    }
}

impl Difference {
    pub(crate) fn expected(&self) -> &str {
        match self {
            Self::Value { expected, .. } => expected,
            Self::Missing { .. } => "a value",
            Self::Unknown { .. } => "no field of this name",
            Self::Refused { reason, .. } => reason,
        }
    }

    pub(crate) fn found(&self) -> &str {
        match self {
            Self::Value { found, .. } => found,
            Self::Missing { .. } => "none",
            Self::Refused { found, .. } | Self::Unknown { found } => found.as_deref().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(self, Self::Refused { .. }) {
            f.write_str("expected ")?;
        }
        write!(f, "{}, found {}", self.expected(), self.found())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

impl std::error::Error for Mismatch {}

impl Error for Mismatch {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self::of(Difference::Refused { reason: reason.to_string(), found: None })
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Unit => "null".to_owned(),
            other => other.to_string(),
        };
        Self::of(Difference::Value { expected: expected.to_string(), found })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let expected = expected.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ");
        Self::of(Difference::Value { expected, found: format!("string {variant:?}") })
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::of(Difference::Unknown { found: None })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::of(Difference::Missing { field: field.to_owned() })
    }
}

/// A value in a few words: what is long is cut.
fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() > 64 => {
            format!("string {:?}…", text.chars().take(64).collect::<String>())
        }
        Value::String(text) => format!("string {text:?}"),
        Value::Number(number) => format!("number {number}"),
        Value::Bool(value) => format!("boolean {value}"),
        Value::Null => "null".to_owned(),
    }
}
