//! Objects in the versions in which their managers wrote them.

use std::fmt::Debug;
use std::sync::Arc;

use controller_runtime_schema::Schema;
use serde_json::Value;

use crate::field::FieldSet;
use crate::typed::TypeErrors;

/// How objects of a kind get from one version to another.
///
/// A manager's fields are those of the version that it wrote. Whether another write changes them shows only in that
/// version, so the objects before and after it are converted.
pub trait Versions: Debug + Sync {
    /// An object in a version, such as `apps/v1`. One that has it already stays as it is.
    ///
    /// Errors: [`ConversionError::UnknownVersion`] where the kind has no such version; what its managers own is
    /// forgotten. Any other error fails the write, or leaves the managed fields as they are if it isn't an apply.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Versioned, ConversionError>;
}

/// An object in one of the versions of its kind.
#[derive(Debug, Clone)]
pub struct Versioned {
    /// The object.
    pub object: Value,
    /// What the version says of objects.
    pub schema: Arc<Schema>,
    /// Fields that the endpoint never writes in this version.
    pub reset: FieldSet,
}

/// Why an object can't be had in a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// There is no such version.
    #[error("no such version")]
    UnknownVersion,
    /// Whoever converts didn't.
    #[error("{0}")]
    Failed(String),
    /// The converted object doesn't fit the schema of the version.
    #[error("{0}")]
    Types(#[source] TypeErrors),
}

/// The versions of a kind that has only the one which is written.
#[derive(Debug, Clone, Copy)]
pub struct NoOtherVersions;

impl Versions for NoOtherVersions {
    fn convert(&self, _object: &Value, _api_version: &str) -> Result<Versioned, ConversionError> {
        Err(ConversionError::UnknownVersion)
    }
}
