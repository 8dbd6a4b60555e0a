//! Structural schemas of Kubernetes, on plain JSON values.
//!
//! ```
//! use controller_runtime_schema::Schema;
//! use serde_json::json;
//!
//! let schema = Schema::from_json(&json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer", "default": 1}},
//! }))?;
//! assert!(schema.child("replicas").is_some());
//! # Ok::<(), controller_runtime_schema::SchemaError>(())
//! ```

mod default;
mod definitions;
mod embedded;
mod field_error;
mod field_path;
mod go_format;
mod go_regex;
mod link;
mod list_type;
mod parse;
mod pattern;
mod prune;
mod schema;
mod validate;
mod validation;

pub use default::default;
pub use definitions::{DefinitionSource, Definitions};
pub use embedded::validate_embedded;
pub use field_error::{FieldError, FieldErrorKind};
pub use field_path::FieldPath;
pub use link::Link;
pub use list_type::validate_lists;
pub use parse::SchemaError;
pub use pattern::{Pattern, PatternError};
pub use prune::prune;
pub use schema::{AdditionalProperties, GroupVersionKind, ListType, MapType, PatchStrategy, Schema, ValueType};
pub use validate::{validate, validate_update};
pub use validation::Validation;
