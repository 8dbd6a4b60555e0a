//! Keeping `metadata.managedFields` while objects are written.

use controller_runtime_merge::{
    Apply, ApplyError, FieldSet, Update, Versions, apply, empty_object, keep_times_of_unchanged, track_update,
};
use controller_runtime_schema::Schema;
use serde_json::{Map, Value};
use std::sync::Arc;

use crate::resource::Resource;
use crate::status::{ApiError, Cause};
use crate::strategy::write_nulls;

use super::reset::reset_fields;

/// Who writes an object, where and when: what it takes to say who owns its fields afterwards.
#[derive(Debug)]
pub(crate) struct Tracking {
    api_version: String,
    manager: String,
    subresource: Option<String>,
    now: String,
    schema: Arc<Schema>,
    empty: Value,
    reset: FieldSet,
    typed: bool,
}

impl Tracking {
    /// A write by `manager` at `now` (RFC 3339, seconds, UTC).
    pub(crate) fn new(resource: &Resource, subresource: Option<&str>, manager: String, now: String) -> Tracking {
        let schema = resource.schema();
        let typed = resource.strategy.typed();
        let mut empty = if typed { empty_object(&schema) } else { Value::Object(Map::new()) };
        if let Some(definition) = resource.strategy.definition() {
            write_nulls(&mut empty, definition);
        }
        Tracking {
            api_version: resource.api_version(),
            manager,
            subresource: subresource.map(str::to_owned),
            now,
            empty,
            reset: reset_fields(resource, subresource),
            schema,
            typed,
        }
    }

    /// A write of a built-in kind that no resource stands for, such as a `Scale`.
    pub(super) fn of_schema(
        schema: Arc<Schema>,
        api_version: &str,
        subresource: Option<&str>,
        manager: String,
        now: String,
    ) -> Tracking {
        Tracking {
            api_version: api_version.to_owned(),
            manager,
            subresource: subresource.map(str::to_owned),
            now,
            empty: empty_object(&schema),
            reset: FieldSet::new(),
            schema,
            typed: true,
        }
    }

    /// The same of a kind whose member of `spec` is written as null when it isn't there, although it is a struct.
    pub(crate) fn with_null_in_spec(mut self, field: &str) -> Tracking {
        if let Some(spec) = self.empty.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert(field.to_owned(), Value::Null);
        }
        self
    }

    /// Notes in a new object who owns what, and in a changed one what changed hands.
    ///
    /// Both are as the client sees them: `new` is decoded and has its defaults, but nothing is allocated yet.
    /// `versions` are those in which others may have written.
    pub(crate) fn track(&self, live: Option<&Value>, new: &mut Value, versions: &dyn Versions) {
        let update = Update {
            manager: &self.manager,
            api_version: &self.api_version,
            subresource: self.subresource.as_deref(),
            schema: &self.schema,
            empty: &self.empty,
            now: &self.now,
            reset: &self.reset,
            versions,
        };
        if !self.typed {
            drop_empty_list(new);
        }
        track_update(live, new, &update);
    }

    /// Applies a configuration to the live object, if there is one.
    ///
    /// Errors: 409 with a cause per field that another manager owns, 400 for a configuration that brings managed
    /// fields, 500 for one that doesn't fit the schema and for
    /// objects that can't be had in the version of another manager.
    pub(crate) fn apply(
        &self,
        live: Option<&Value>,
        config: &Value,
        force: bool,
        versions: &dyn Versions,
    ) -> Result<Value, ApiError> {
        let options = Apply {
            manager: &self.manager,
            force,
            api_version: &self.api_version,
            subresource: self.subresource.as_deref(),
            schema: &self.schema,
            empty: &self.empty,
            now: &self.now,
            reset: &self.reset,
            versions,
        };
        apply(live, config, &options).map_err(|error| apply_error(&error))
    }

    /// Undoes new times in the managed fields of an object in which nothing else changed.
    pub(crate) fn settle(live: &Value, new: &mut Value) {
        keep_times_of_unchanged(live, new);
    }
}

/// Drops an empty list of managed fields, which decoding doesn't keep in custom resources; in built-in kinds it turns
/// tracking off.
fn drop_empty_list(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if metadata.get("managedFields").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        metadata.remove("managedFields");
    }
}

fn apply_error(error: &ApplyError) -> ApiError {
    let message = error.to_string();
    match error {
        ApplyError::Conflicts(conflicts) => {
            let causes = conflicts.conflicts().iter().map(|conflict| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: format!("conflict with {}", conflict.manager()),
                field: conflict.field().to_string(),
            });
            ApiError::apply_conflict(message, causes.collect())
        }
        ApplyError::ManagedFieldsGiven => ApiError::bad_request(message),
        _ => ApiError::unclassified(message),
    }
}
