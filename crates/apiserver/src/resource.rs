//! What the server knows of one served resource type.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller_runtime_schema::{Definitions, Schema};

use crate::status::GroupResource;
use crate::strategy::Strategy;

/// One resource type in one version, built-in or custom.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// API group, empty for the core group.
    pub(crate) group: String,
    /// Version within the group, such as `v1`.
    pub(crate) version: String,
    /// Kind of one object.
    pub(crate) kind: String,
    /// Kind of a list of objects.
    pub(crate) list_kind: String,
    /// Plural name in paths.
    pub(crate) plural: String,
    /// Singular name for people.
    pub(crate) singular: String,
    /// Whether objects live in namespaces.
    pub(crate) namespaced: bool,
    /// Verbs as discovery lists them: create, delete, deletecollection, get, list, patch, update, watch.
    pub(crate) verbs: Vec<String>,
    /// Short names, such as `deploy`.
    pub(crate) short_names: Vec<String>,
    /// Categories, such as `all`.
    pub(crate) categories: Vec<String>,
    /// Subresources by name, `status` and `scale` among them.
    pub(crate) subresources: BTreeMap<String, Subresource>,
    /// How `scale` maps to fields, where that subresource exists.
    pub(crate) scale: Option<ScalePaths>,
    /// Where the schema comes from; read it through [`Resource::schema`].
    pub(crate) schema: SchemaSource,
    /// Behaviour that differs between kinds.
    pub(crate) strategy: Arc<dyn Strategy>,
    /// Columns for tables beside those that the strategy gives, as custom resources declare them.
    pub(crate) columns: Vec<Column>,
    /// Dotted field paths that field selectors may name beside `metadata.name` and `metadata.namespace`.
    pub(crate) selectable_fields: Vec<String>,
    /// The resource under whose name objects are stored, when versions or groups share objects: plural and group.
    /// `None` means this resource's own.
    pub(crate) storage: Option<(String, String)>,
    /// Hash that discovery publishes as `storageVersionHash`; empty when there is none.
    pub(crate) storage_version_hash: String,
    /// Warning with which every request for this version is answered: that it is deprecated.
    pub(crate) deprecation_warning: Option<String>,
    /// Whether the definition is going away: no objects are created any more.
    pub(crate) terminating: bool,
}

/// One subresource as discovery lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subresource {
    /// Group of the subresource's kind, where it differs from the parent's (`autoscaling` for `scale`).
    pub(crate) group: Option<String>,
    /// Version of the subresource's kind, where it differs.
    pub(crate) version: Option<String>,
    /// Kind of the body.
    pub(crate) kind: String,
    /// Verbs, such as get, patch, update.
    pub(crate) verbs: Vec<String>,
}

/// Which fields `scale` reads and writes, each as a list of keys from the object's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    /// Wanted number of replicas.
    pub(crate) spec_replicas: Vec<String>,
    /// Observed number of replicas.
    pub(crate) status_replicas: Vec<String>,
    /// The label selector: a string for custom resources, a `LabelSelector` or plain map for built-in kinds.
    pub(crate) label_selector: Option<Vec<String>>,
}

/// One column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Column {
    /// Heading.
    pub(crate) name: String,
    /// OpenAPI type: string, integer, number, boolean, date.
    pub(crate) value_type: String,
    /// OpenAPI format, may be empty.
    pub(crate) format: String,
    /// What the column shows.
    pub(crate) description: String,
    /// 0 is always shown, higher only in wide output.
    pub(crate) priority: i32,
    /// JSONPath of the value, for custom resources.
    pub(crate) json_path: String,
}

/// Where a resource's schema comes from.
#[derive(Clone, Debug)]
pub(crate) enum SchemaSource {
    /// A schema of its own, as custom resources have.
    Inline(Arc<Schema>),
    /// A definition of the catalogue, parsed when it is first needed.
    Named(Definitions, String),
}

impl Resource {
    /// The schema of one object; empty (everything allowed, nothing known) when the catalogue has none.
    pub(crate) fn schema(&self) -> Arc<Schema> {
        match &self.schema {
            SchemaSource::Inline(schema) => Arc::clone(schema),
            SchemaSource::Named(definitions, name) => definitions.get(name).ok().flatten().unwrap_or_default(),
        }
    }

    /// `apiVersion` of objects: `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The Go package of the reference's internal types of this group, as error texts name it.
    pub(crate) fn go_package(&self) -> &str {
        if self.group.is_empty() { "core" } else { self.group.split('.').next().unwrap_or_default() }
    }

    /// Name of the type for error texts.
    pub(crate) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.group, resource: &self.plural }
    }

    /// Name under which objects are stored.
    pub(crate) fn storage_name(&self) -> GroupResource<'_> {
        match &self.storage {
            Some((plural, group)) => GroupResource { group, resource: plural },
            None => self.group_resource(),
        }
    }

    /// Whether discovery lists `verb`.
    pub(crate) fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|listed| listed == verb)
    }

    /// Whether objects are made to be answered and never stored, as reviews are.
    pub(crate) fn is_only_created(&self) -> bool {
        matches!(self.verbs.as_slice(), [verb] if verb == "create")
    }

    /// Whether status is written through a subresource of its own.
    pub(crate) fn has_status(&self) -> bool {
        self.subresources.contains_key("status")
    }
}
