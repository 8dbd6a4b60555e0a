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

mod definitions;
mod field_error;
mod field_path;
mod go_format;
mod link;
mod parse;
mod pattern;
mod schema;
mod validation;

pub use definitions::{DefinitionSource, Definitions};
pub use field_error::{FieldError, FieldErrorKind};
pub use field_path::FieldPath;
pub use link::Link;
pub use parse::SchemaError;
pub use pattern::Pattern;
pub use schema::{AdditionalProperties, GroupVersionKind, ListType, MapType, PatchStrategy, Schema, ValueType};
pub use validation::Validation;
