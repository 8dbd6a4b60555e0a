//! OpenAPI v3: an index of group versions, and a document for each (KEP-2896); OpenAPI v2: one document of all.
//!
//! Documents are put together when they are first asked for, and kept until what is served changes: paths from what the registry serves, schemas from the generated
//! definitions and from custom resource definitions. Schemas of built-in kinds carry no prose.

mod components;
mod document;
mod hash;
mod parameters;
mod paths;
mod second_version;

pub(crate) use self::document::Document;
pub(crate) use self::hash::hash;
pub(crate) use self::second_version::SecondVersion;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use serde_json::{Map, Value, json};

use crate::registry::Registry;

/// The documents of one server that somebody asked for.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Of which generation of the registry the documents are.
    generation: u64,
    index: Option<Arc<Value>>,
    by_group_version: BTreeMap<(String, String), Arc<Document>>,
    second_version: Option<Arc<SecondVersion>>,
}

impl Documents {
    /// The index.
    pub(crate) fn index(&self, registry: &Registry) -> Arc<Value> {
        let generation = registry.generation();
        if let Some(kept) = self.of_generation(generation).index.clone() {
            return kept;
        }
        let made = Arc::new(index(registry));
        self.of_generation(generation).index = Some(Arc::clone(&made));
        made
    }

    /// The document of a group version, if it has resources.
    pub(crate) fn of_group_version(&self, registry: &Registry, group: &str, version: &str) -> Option<Arc<Document>> {
        let (generation, key) = (registry.generation(), (group.to_owned(), version.to_owned()));
        if let Some(kept) = self.of_generation(generation).by_group_version.get(&key) {
            return Some(Arc::clone(kept));
        }
        // Made without the lock: it takes long, and who else wants it makes the same.
        let made = Arc::new(document::document(registry, group, version)?);
        self.of_generation(generation).by_group_version.insert(key, Arc::clone(&made));
        Some(made)
    }

    /// The one document of OpenAPI v2.
    pub(crate) fn second_version(&self, registry: &Registry) -> Arc<SecondVersion> {
        let generation = registry.generation();
        if let Some(kept) = self.of_generation(generation).second_version.clone() {
            return kept;
        }
        let made = Arc::new(second_version::second_version(registry));
        self.of_generation(generation).second_version = Some(Arc::clone(&made));
        made
    }

    /// What is kept, without what is older. What is made of an older generation than what is kept goes at once.
    fn of_generation(&self, generation: u64) -> parking_lot::MutexGuard<'_, Kept> {
        let mut kept = self.0.lock();
        if kept.generation != generation {
            *kept = Kept { generation, ..Kept::default() };
        }
        kept
    }
}

/// `/openapi/v3`: where the document of each group version is. The address changes with the content, so that clients
/// can keep what they have read.
fn index(registry: &Registry) -> Value {
    let mut paths = Map::new();
    for (group, version) in group_versions(registry) {
        let path = paths::base(&group, &version);
        let path = path.trim_start_matches('/');
        let hash = hash::of_group_version(registry, &group, &version);
        let address = json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")});
        paths.insert(path.to_owned(), address);
    }
    json!({"paths": paths})
}

/// Every group version that is served, once and in order.
fn group_versions(registry: &Registry) -> Vec<(String, String)> {
    let mut versions: Vec<(String, String)> = Vec::new();
    for resource in registry.all() {
        let found = (resource.group.clone(), resource.version.clone());
        if !versions.contains(&found) {
            versions.push(found);
        }
    }
    versions
}

#[cfg(test)]
mod tests;
