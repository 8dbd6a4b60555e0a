//! OpenAPI v3: an index of group versions, and a document for each (KEP-2896).
//!
//! Documents are put together when they are asked for: paths from what the registry serves, schemas from the generated
//! definitions and from custom resource definitions. Schemas of built-in kinds carry no prose.

mod components;
mod document;
mod hash;
mod parameters;
mod paths;

pub(crate) use self::document::document;
pub(crate) use self::hash::hash;

use serde_json::{Map, Value, json};

use crate::registry::Registry;

/// `/openapi/v3`: where the document of each group version is. The address changes with the content, so that clients
/// can keep what they have read.
pub(crate) fn index(registry: &Registry) -> Value {
    let mut versions: Vec<(String, String)> = Vec::new();
    for resource in registry.all() {
        let found = (resource.group.clone(), resource.version.clone());
        if !versions.contains(&found) {
            versions.push(found);
        }
    }
    let mut paths = Map::new();
    for (group, version) in versions {
        let path = paths::base(&group, &version);
        let path = path.trim_start_matches('/');
        let hash = hash::of_group_version(registry, &group, &version);
        let address = json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")});
        paths.insert(path.to_owned(), address);
    }
    json!({"paths": paths})
}

#[cfg(test)]
mod tests;
