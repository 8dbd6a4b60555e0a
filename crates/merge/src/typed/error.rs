//! Values that don't fit their type.

use std::fmt::{self, Display, Formatter};

/// A field that can't be what its value makes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{message}", .path, if .path.is_empty() { "" } else { ": " })]
pub struct TypeError {
    /// The path of the field, such as `.spec.replicas`; empty for the whole object.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// All the fields of an object that can't be what their values make them, in the words of kube-apiserver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeErrors(Vec<TypeError>);

impl TypeErrors {
    /// The errors, in the order of the fields.
    pub fn errors(&self) -> &[TypeError] {
        &self.0
    }

    pub(crate) fn add(&mut self, path: &dyn Display, message: impl Into<String>) {
        self.0.push(TypeError { path: path.to_string(), message: message.into() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_result(self) -> Result<(), TypeErrors> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl Display for TypeErrors {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [error] => error.fmt(f),
            errors => {
                f.write_str("errors:")?;
                errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

impl std::error::Error for TypeErrors {}
