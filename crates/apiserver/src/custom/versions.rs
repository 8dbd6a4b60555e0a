use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller_runtime_schema::{Schema, SchemaError, default, prune};
use serde_json::Value;

use super::conversion_webhook::ConversionWebhook;
use super::definition::{Definition, Version};
use super::served::with_metadata;
use crate::store::Content;

/// The versions of one definition's objects: what each says, which is stored, and who knows how to get from one to
/// another.
#[derive(Debug)]
pub(crate) struct Versions {
    group: String,
    schemas: BTreeMap<String, Arc<Schema>>,
    /// The same with what holds for objects of every kind.
    of_objects: BTreeMap<String, Arc<Schema>>,
    /// Those whose status is written through a subresource.
    with_status: BTreeSet<String>,
    storage: String,
    webhook: Option<ConversionWebhook>,
}

impl Versions {
    pub(super) fn of(definition: Definition<'_>) -> Result<Self, SchemaError> {
        let schemas =
            definition.versions().into_iter().map(|version| Ok((version.name().to_owned(), schema(version)?)));
        let schemas = schemas.collect::<Result<BTreeMap<String, Arc<Schema>>, SchemaError>>()?;
        let of_objects = schemas.iter().map(|(name, schema)| (name.clone(), Arc::new(with_metadata(schema))));
        let in_use = definition.versions().into_iter().filter(|version| version.is_served() || version.is_storage());
        Ok(Self {
            group: definition.group().to_owned(),
            of_objects: of_objects.collect(),
            with_status: in_use.filter(|it| it.has_status()).map(|it| it.name().to_owned()).collect(),
            schemas,
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

    /// What the version of an `apiVersion` says of whole objects, if the definition has it, served or not.
    pub(crate) fn schema_of_objects(&self, api_version: &str) -> Option<&Arc<Schema>> {
        self.of_objects.get(self.name_of(api_version)?)
    }

    /// Whether the version of an `apiVersion` is in use and has a subresource for its status.
    pub(crate) fn has_status(&self, api_version: &str) -> bool {
        self.name_of(api_version).is_some_and(|name| self.with_status.contains(name))
    }

    fn name_of<'a>(&self, api_version: &'a str) -> Option<&'a str> {
        api_version.split_once('/').filter(|(group, _)| *group == self.group).map(|(_, version)| version)
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

    /// What an object is read as that is stored as `stored`: what its version doesn't know is not seen, and its defaults
    /// are set.
    pub(crate) fn content(&self, stored: Value) -> Content {
        let mut read = stored.clone();
        self.coerce(&mut read);
        self.fill_in(&mut read);
        let stored = Some(stored).filter(|stored| *stored != read);
        Content { read, stored }
    }

    /// What is stored of an object that the server itself changes. A webhook isn't asked: the object then stays in the
    /// version that it has.
    pub(crate) fn content_of_changed(&self, mut object: Value) -> Content {
        if self.webhook.is_none()
            && let Some(members) = object.as_object_mut()
        {
            members.insert("apiVersion".to_owned(), self.storage().into());
            self.coerce(&mut object);
        }
        self.content(object)
    }
}

/// What a version says of objects.
fn schema(version: Version<'_>) -> Result<Arc<Schema>, SchemaError> {
    Ok(Arc::new(match version.schema() {
        Some(json) => Schema::from_json(json)?,
        None => Schema { preserve_unknown_fields: true, ..Schema::default() },
    }))
}
