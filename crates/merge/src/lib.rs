//! How Kubernetes combines JSON objects: merge patch, strategic merge patch, and server-side apply with field
//! ownership. No HTTP and no Kubernetes client.
//!
//! ```
//! use controller_runtime_merge::{Apply, FieldSet, NoOtherVersions, apply};
//! use controller_runtime_schema::Schema;
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::from_json(&json!({
//!     "type": "object",
//!     "properties": {"spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}},
//! }))?;
//! let (empty, reset) = (json!({}), FieldSet::new());
//! let options = Apply {
//!     manager: "m1",
//!     force: false,
//!     api_version: "ref.dev/v1",
//!     subresource: None,
//!     schema: &schema,
//!     empty: &empty,
//!     now: "2026-01-01T00:00:00Z",
//!     reset: &reset,
//!     versions: &NoOtherVersions,
//! };
//! let app = |replicas: u32| {
//!     json!({"apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "a"}, "spec": {"replicas": replicas}})
//! };
//! let live = apply(None, &app(1), &options)?;
//! let conflict = apply(Some(&live), &app(2), &Apply { manager: "m2", ..options }).unwrap_err();
//! assert_eq!(conflict.to_string(), r#"Apply failed with 1 conflict: conflict with "m1": .spec.replicas"#);
//! # Ok(())
//! # }
//! ```

mod apply;
mod field;
mod json_merge;
mod managed;
mod strategic;
mod typed;

pub use apply::{
    Apply, ApplyError, Conflict, Conflicts, ConversionError, NoOtherVersions, Update, Versioned, Versions, apply,
    track_update,
};
pub use field::{FieldPath, FieldSet, FieldsError, PathElement};
pub use json_merge::json_merge;
pub use managed::{
    ManagedField, ManagedFieldsError, Operation, ScaleFields, keep_times_of_unchanged, scale_fields_of,
    with_scale_fields,
};
pub use strategic::{StrategicError, strategic_merge};
pub use typed::{TypeError, TypeErrors, empty_object};
