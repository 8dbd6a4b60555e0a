use std::fmt;

use super::mismatch::Mismatch;
use crate::key::ObjectKey;

/// An object does not fit its Rust type, or the type does not serialise to an object.
///
/// It names the kind, namespace and name, the JSON path, and what was expected and found there. Retrying cannot help: the
/// object, its custom resource definition or the type must change.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConversionError(Box<Details>);

#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {kind}{}{}: {cause}", named(key), at(path))]
pub(crate) struct Details {
    pub(crate) action: Action,
    pub(crate) kind: String,
    pub(crate) key: ObjectKey,
    pub(crate) path: String,
    #[source]
    pub(crate) cause: Cause,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Decode,
    Encode,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// A value that the type doesn't take.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The object's `apiVersion` or `kind` isn't the type's.
    #[error("{0}")]
    Kind(Mismatch),
    /// No JSON, or none that the type makes.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
        })
    }
}

fn named(key: &ObjectKey) -> String {
    if key.name.is_empty() { String::new() } else { format!(" {key}") }
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" at {path}") }
}

impl ConversionError {
    pub(crate) fn new(details: Details) -> Self {
        Self(Box::new(details))
    }

    /// The kind's name, as the caller gave it.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// The object's namespace and name, as far as they could be read.
    pub fn key(&self) -> &ObjectKey {
        &self.0.key
    }

    /// The JSON path of the field that did not fit, for example `spec.containers[0].image`; empty where none is known.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What the type takes at the path, for example `i32`: where the type itself refused a value, its reason. `None` for a
    /// text that is no JSON.
    pub fn expected(&self) -> Option<&str> {
        self.mismatch().map(|mismatch| mismatch.what.expected())
    }

    /// What is at the path, for example `string "three"`, or `none` where a field is missing. `None` for a text that is
    /// no JSON.
    pub fn found(&self) -> Option<&str> {
        self.mismatch().map(|mismatch| mismatch.what.found())
    }

    /// Whether the object is of another kind or version than the type.
    pub fn is_wrong_kind(&self) -> bool {
        matches!(self.0.cause, Cause::Kind(_))
    }

    fn mismatch(&self) -> Option<&Mismatch> {
        match &self.0.cause {
            Cause::Mismatch(mismatch) | Cause::Kind(mismatch) => Some(mismatch),
            Cause::Json(_) => None,
        }
    }
}
