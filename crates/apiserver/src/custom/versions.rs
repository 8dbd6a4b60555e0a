use std::collections::BTreeMap;
use std::sync::Arc;

use controller_runtime_schema::{Schema, SchemaError, default, prune};
use serde_json::Value;

use super::conversion_webhook::ConversionWebhook;
use super::definition::{Definition, Version};

/// The versions of one definition's objects: what each says, which is stored, and who knows how to get from one to
/// another.
#[derive(Debug)]
pub(crate) struct Versions {
    group: String,
    schemas: BTreeMap<String, Arc<Schema>>,
    storage: String,
    webhook: Option<ConversionWebhook>,
}

impl Versions {
    pub(super) fn of(definition: Definition<'_>) -> Result<Self, SchemaError> {
        let schemas =
            definition.versions().into_iter().map(|version| Ok((version.name().to_owned(), schema(version)?)));
        Ok(Self {
            group: definition.group().to_owned(),
            schemas: schemas.collect::<Result<_, SchemaError>>()?,
            storage: definition.storage_version().map(|version| version.name().to_owned()).unwrap_or_default(),
            webhook: ConversionWebhook::of(definition),
        })
    }

    /// `apiVersion` of objects as they are stored.
    pub(crate) fn storage(&self) -> String {
        format!("{}/{}", self.group, self.storage)
    }

    /// Who converts, where versions differ in more than `apiVersion`.
    pub(crate) fn webhook(&self) -> Option<&ConversionWebhook> {
        self.webhook.as_ref()
    }

    pub(super) fn schema(&self, version: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(version)
    }

    fn schema_of(&self, object: &Value) -> Option<&Arc<Schema>> {
        let api_version = object.get("apiVersion").and_then(Value::as_str)?;
        self.schemas.get(api_version.rsplit_once('/').map_or(api_version, |(_, version)| version))
    }

    /// Sets the defaults of the version that a stored object is in: reading does that before it converts.
    pub(crate) fn fill_in(&self, object: &mut Value) {
        if let Some(schema) = self.schema_of(object) {
            default(object, schema);
        }
    }

    /// Drops what the version of a converted object doesn't know.
    pub(crate) fn coerce(&self, object: &mut Value) {
        if let Some(schema) = self.schema_of(object) {
            prune(object, schema, true);
        }
    }

    /// Brings a stored object into the form in which this definition reads it, in its own version.
    pub(super) fn read_anew(&self, object: &mut Value) {
        self.coerce(object);
        self.fill_in(object);
    }
}

/// What a version says of objects.
fn schema(version: Version<'_>) -> Result<Arc<Schema>, SchemaError> {
    Ok(Arc::new(match version.schema() {
        Some(json) => Schema::from_json(json)?,
        None => Schema { preserve_unknown_fields: true, ..Schema::default() },
    }))
}
