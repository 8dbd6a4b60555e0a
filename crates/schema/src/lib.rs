//! What Kubernetes does with the schema of a kind, on plain JSON values.
//!
//! [`Schema`] is OpenAPI v3 as Kubernetes uses it. It is read from the `openAPIV3Schema` of a CustomResourceDefinition, or
//! from the named schemas of built-in kinds ([`Definitions`]), which refer to each other and to themselves.
//!
//! An object that comes in is [`prune`]d of what its schema doesn't know, its [`default`]s are filled in, and it is
//! [`validate`]d, with the messages, field paths and reasons of kube-apiserver. [`check_structural`] says whether a schema
//! may be installed at all.
//!
//! ```
//! use controller_runtime_schema::{FieldPath, Schema, default, prune, validate};
//! use serde_json::json;
//!
//! let schema = Schema::from_json(&json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer", "default": 1}, "size": {"type": "string"}},
//! }))?;
//! let mut spec = json!({"size": 3, "color": "red"});
//! assert_eq!(prune(&mut spec, &schema, false), ["color"]);
//! default(&mut spec, &schema);
//! assert_eq!(spec, json!({"replicas": 1, "size": 3}));
//! let errors = validate(&spec, &schema, &FieldPath::new("spec"));
//! assert_eq!(errors[0].field, "spec.size");
//! # Ok::<(), controller_runtime_schema::SchemaError>(())
//! ```
//!
//! Rules in CEL (`x-kubernetes-validations`) are compiled by [`check_structural`], with an estimate of what they can cost,
//! and evaluated by a [`RuleValidator`].

pub mod cel;
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
mod publish;
mod schema;
mod structural;
mod validate;
mod validation;

pub use crate::cel::rule::{EarlierRules, RuleFindings, RuleValidator};
pub use default::{default, fill_defaults};
pub use definitions::{DefinitionSource, Definitions};
pub use embedded::validate_embedded;
pub use field_error::{FieldError, FieldErrorKind};
pub use field_path::FieldPath;
pub use link::Link;
pub use list_type::validate_lists;
pub use parse::SchemaError;
pub use pattern::{Pattern, PatternError};
pub use prune::prune;
pub use schema::{
    AdditionalProperties, GroupVersionKind, ListType, MapType, PatchStrategy, Schema, ValueType, is_checked_format,
};
pub use structural::check_structural;
pub use validate::{validate, validate_update};
pub use validation::Validation;
