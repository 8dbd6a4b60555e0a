use controller_runtime_scheme::ObjectKey;
use serde::Deserialize;

/// The part of an object that can be read even when the rest doesn't fit its type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Sketch {
    metadata: SketchMeta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SketchMeta {
    namespace: Option<String>,
    name: String,
    resource_version: String,
}

impl Sketch {
    pub(crate) fn of(json: &[u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_default()
    }

    pub(crate) fn version(&self) -> &str {
        &self.metadata.resource_version
    }

    pub(crate) fn into_key(self) -> ObjectKey {
        ObjectKey { namespace: self.metadata.namespace, name: self.metadata.name }
    }
}
