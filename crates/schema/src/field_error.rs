use std::fmt;

use serde_json::Value;

use crate::field_path::FieldPath;
use crate::go_format::{json, number, quote};

/// One thing that is wrong with one field, printed as kube-apiserver prints it.
///
/// ```
/// use controller_runtime_schema::{FieldError, FieldPath};
///
/// let error = FieldError::invalid(&FieldPath::new("spec").child("replicas"), -1, "must be at least 0");
/// assert_eq!(error.to_string(), "spec.replicas: Invalid value: -1: must be at least 0");
/// assert_eq!(error.reason(), "FieldValueInvalid");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The path of the field; `<nil>` for the whole object.
    pub field: String,
    /// The value that is wrong; `None` when it isn't to be shown.
    pub value: Option<Value>,
    /// What the value should be; may be empty.
    pub detail: String,
}

/// What can be wrong with a field (`field.ErrorType` in apimachinery).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// It refers to something that isn't there.
    NotFound,
    /// It must be given.
    Required,
    /// It must be unique and isn't.
    Duplicate,
    /// It has a value that isn't allowed.
    Invalid,
    /// It isn't one of the values that are allowed.
    NotSupported,
    /// It must not be given or changed here.
    Forbidden,
    /// It is longer than allowed.
    TooLong,
    /// It is shorter than allowed.
    TooShort,
    /// It has more items than allowed.
    TooMany,
    /// It has fewer items than allowed.
    TooFew,
    /// It has the wrong type.
    TypeInvalid,
    /// It could not be checked.
    Internal,
}

impl FieldErrorKind {
    /// The reason of the cause in a `Status`.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
            Self::Internal => "Internal error",
        }
    }

    fn shows_value(self) -> bool {
        !matches!(self, Self::Required | Self::Forbidden | Self::TooLong | Self::TooShort | Self::Internal)
    }
}

impl FieldError {
    fn new(kind: FieldErrorKind, path: &FieldPath, value: Option<Value>, detail: impl Into<String>) -> Self {
        Self { kind, field: path.to_string(), value, detail: detail.into() }
    }

    /// A field that must be given and isn't.
    pub fn required(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, path, None, detail)
    }

    /// A value that isn't allowed, and why.
    pub fn invalid(path: &FieldPath, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Invalid, path, Some(value.into()), detail)
    }

    /// A value of the wrong type.
    pub fn type_invalid(path: &FieldPath, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::TypeInvalid, path, Some(value.into()), detail)
    }

    /// A value that isn't among the supported ones, which are told in the order given.
    pub fn not_supported<S: AsRef<str>>(path: &FieldPath, value: impl Into<Value>, supported: &[S]) -> Self {
        let detail = if supported.is_empty() {
            String::new()
        } else {
            let quoted: Vec<_> = supported.iter().map(|value| quote(value.as_ref())).collect();
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(FieldErrorKind::NotSupported, path, Some(value.into()), detail)
    }

    /// A value that occurs twice.
    pub fn duplicate(path: &FieldPath, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::Duplicate, path, Some(value.into()), "")
    }

    /// A value that refers to nothing.
    pub fn not_found(path: &FieldPath, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::NotFound, path, Some(value.into()), "")
    }

    /// A field that must not be given or changed, and why.
    pub fn forbidden(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, path, None, detail)
    }

    /// A text of more than `max` bytes; a negative `max` isn't told.
    pub fn too_long(path: &FieldPath, max: i64) -> Self {
        let detail = match max {
            1 => "may not be more than 1 byte".to_owned(),
            max if max < 0 => "value is too long".to_owned(),
            max => format!("may not be more than {max} bytes"),
        };
        Self::new(FieldErrorKind::TooLong, path, None, detail)
    }

    /// A list of `actual` items where `max` are allowed; a negative `actual` isn't told.
    pub fn too_many(path: &FieldPath, actual: i64, max: i64) -> Self {
        let detail = match max {
            1 => "must have at most 1 item".to_owned(),
            max if max < 0 => "has too many items".to_owned(),
            max => format!("must have at most {max} items"),
        };
        let value = (actual >= 0).then(|| actual.into());
        Self::new(FieldErrorKind::TooMany, path, value, detail)
    }

    /// A check that could not be made, and why.
    pub fn internal(path: &FieldPath, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Internal, path, None, detail)
    }

    /// The reason of the cause in a `Status`, as in `FieldValueInvalid`.
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
    }

    /// The error without the field, which is the message of the cause in a `Status`.
    pub fn body(&self) -> String {
        let mut text = self.kind.title().to_owned();
        if self.kind.shows_value()
            && let Some(value) = &self.value
        {
            text.push_str(": ");
            text.push_str(&match value {
                Value::Number(value) => number(value),
                Value::String(value) => quote(value),
                value => json(value),
            });
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}
