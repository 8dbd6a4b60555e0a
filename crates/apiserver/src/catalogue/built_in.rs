use serde::Deserialize;

/// The generated table of resources.
const TABLE: &str = include_str!("generated/resources.json");

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Table {
    pub(super) version: String,
    pub(super) group_versions: Vec<BuiltInGroupVersion>,
}

impl Table {
    // The text is part of the program, and tests read it.
    pub(super) fn read() -> Self {
        serde_json::from_str(TABLE).expect("the generated table of resources has the form that codegen gives it")
    }
}

/// A group version of built-in kinds.
#[derive(Debug, Deserialize)]
pub(crate) struct BuiltInGroupVersion {
    /// The API group; empty for the core group.
    pub(crate) group: String,
    /// The version within the group.
    pub(crate) version: String,
    /// The resources in the order of discovery.
    pub(crate) resources: Vec<BuiltInResource>,
}

/// What discovery says of a built-in resource.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BuiltInResource {
    /// The name in URLs, as in `pods`.
    pub(crate) plural: String,
    /// The name of one, as in `pod`.
    pub(crate) singular: String,
    /// The kind of an object.
    pub(crate) kind: String,
    /// The kind of a list; `None` when there are no lists.
    pub(crate) list_kind: Option<String>,
    /// Whether objects stand in a namespace.
    pub(crate) namespaced: bool,
    /// What can be done with it.
    pub(crate) verbs: Vec<String>,
    /// Short names for people, as in `po`.
    #[serde(default)]
    pub(crate) short_names: Vec<String>,
    /// Groups of resources for people, as in `all`.
    #[serde(default)]
    pub(crate) categories: Vec<String>,
    /// What tells clients that the stored version changed.
    pub(crate) storage_version_hash: Option<String>,
    /// The name of the schema in the definitions.
    pub(crate) schema: Option<String>,
    /// The subresources, as in `pods/status`.
    #[serde(default)]
    pub(crate) subresources: Vec<BuiltInSubresource>,
}

/// What discovery says of a subresource.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BuiltInSubresource {
    /// The last part of the URL, as in `status`.
    pub(crate) name: String,
    /// The kind that is read and written there.
    pub(crate) kind: String,
    /// The group of that kind, where it isn't the resource's own.
    pub(crate) kind_group: Option<String>,
    /// The version of that kind, where it isn't the resource's own.
    pub(crate) kind_version: Option<String>,
    /// What can be done with it.
    pub(crate) verbs: Vec<String>,
    /// The name of the schema in the definitions.
    pub(crate) schema: Option<String>,
}
