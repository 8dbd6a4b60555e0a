//! Why a configuration can't be applied.

use crate::managed::ManagedFieldsError;
use crate::typed::TypeErrors;

use super::{Conflicts, ConversionError};

/// Why a configuration can't be applied. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Other managers own fields that would change. With `force`, they would lose them.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The configuration says itself who owns its fields.
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsGiven,
    /// The live object's managed fields can't be read.
    #[error("failed to decode managed fields: {0}")]
    ManagedFields(#[source] ManagedFieldsError),
    /// The configuration doesn't fit the schema.
    #[error("failed to create typed patch object ({object}): {errors}")]
    Config {
        /// Namespace, name and kind of the object.
        object: String,
        /// What doesn't fit.
        #[source]
        errors: TypeErrors,
    },
    /// The live object doesn't fit the schema.
    #[error("failed to create typed live object ({object}): {errors}")]
    Live {
        /// Namespace, name and kind of the object.
        object: String,
        /// What doesn't fit.
        #[source]
        errors: TypeErrors,
    },
    /// Nobody's fields of the live object are known, and it doesn't fit the schema.
    #[error(
        "failed to create manager for existing fields: failed to convert new object ({object}) to smd typed: {errors}"
    )]
    Untracked {
        /// Namespace, name and kind of the object.
        object: String,
        /// What doesn't fit.
        #[source]
        errors: TypeErrors,
    },
    /// Both objects fit the schema, but not each other.
    #[error("failed to merge config: {0}")]
    Merge(#[source] TypeErrors),
    /// The merged object and the live one can't be compared.
    #[error("failed to compare objects: {0}")]
    Compare(#[source] TypeErrors),
    /// An object that has to be compared can't be had in the version of a manager.
    #[error("{doing}{source}")]
    Conversion {
        /// What was being done, with a colon behind it; may be empty.
        doing: String,
        /// Why it can't.
        #[source]
        source: ConversionError,
    },
}
