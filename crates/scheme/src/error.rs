use crate::conversion::ConversionError;

/// A [`Scheme`](crate::Scheme) refused a registration or could not convert. Trying again helps in no case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// Another type is registered for the kind.
    #[error("{kind} of {api_version} is registered for the type {registered} and cannot be registered for {refused}")]
    KindTaken {
        /// The `apiVersion`.
        api_version: String,
        /// The kind.
        kind: String,
        /// The type that has the kind.
        registered: &'static str,
        /// The type that was refused.
        refused: &'static str,
    },
    /// The type does not belong to the group and version that it was to be registered with.
    #[error("{kind} of {api_version}, the type {type_name}, cannot be registered with the group {group_version}")]
    OtherGroup {
        /// The `apiVersion` of the type.
        api_version: String,
        /// Its kind.
        kind: String,
        /// The type.
        type_name: &'static str,
        /// The group and version, as an `apiVersion`.
        group_version: String,
    },
    /// The type is not registered.
    #[error("the type {type_name} is not registered")]
    UnknownType {
        /// The type.
        type_name: &'static str,
    },
    /// No type is registered for the kind.
    #[error("no type is registered for {kind} of {api_version}")]
    UnknownKind {
        /// The `apiVersion`; empty where the object has none.
        api_version: String,
        /// The kind; empty where the object has none.
        kind: String,
    },
    /// This is no path of a field: see [`Scheme::require`](crate::Scheme::require).
    #[error("{path:?} is no path of a field that the type {type_name} could require")]
    InvalidPath {
        /// The path as it was given.
        path: String,
        /// The type.
        type_name: &'static str,
    },
    /// The object doesn't fit the type.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
}
