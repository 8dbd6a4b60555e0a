use serde_json::Value;

/// Names one object for good: a name may be given to another object later, a uid never.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectReference {
    pub(super) uid: String,
    pub(super) api_version: String,
    pub(super) kind: String,
    /// Empty for cluster-scoped objects.
    pub(super) namespace: String,
    pub(super) name: String,
}

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnerReference {
    pub(super) uid: String,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    /// `blockOwnerDeletion`: the owner may not go before this object when it waits for its dependents.
    pub(super) blocks: bool,
}

impl ObjectReference {
    /// Reads an object's own name; `None` for one without uid.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let uid = text("/metadata/uid");
        (!uid.is_empty()).then(|| Self {
            uid,
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        })
    }
}

impl OwnerReference {
    /// Reads all owner references of an object.
    pub(super) fn all(object: &Value) -> Vec<Self> {
        let references = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        references.into_iter().flatten().map(Self::read).collect()
    }

    fn read(reference: &Value) -> Self {
        let text = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            uid: text("uid"),
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            blocks: reference.get("blockOwnerDeletion").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// Whether the object is on its way out.
pub(super) fn is_being_deleted(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// The object's finalizers.
pub(super) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    object.pointer("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The object's resource version.
pub(super) fn resource_version(object: &Value) -> &str {
    object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default()
}

/// Splits `apps/v1` into group and version; the core group is empty.
pub(super) fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
