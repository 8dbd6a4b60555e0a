//! Which resources this server serves: the built-in ones and those that custom resource definitions add.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::catalogue;
use crate::resource::Resource;

/// The served resources. Built-in ones are shared by all servers of the process; custom ones belong to this server and
/// come and go while it runs.
#[derive(Debug)]
pub(crate) struct Registry {
    built_in: &'static [Arc<Resource>],
    custom: RwLock<Arc<Custom>>,
    generation: AtomicU64,
}

type Custom = BTreeMap<(String, String, String), Arc<Resource>>;

impl Registry {
    /// A registry of the built-in resources.
    pub(crate) fn new() -> Self {
        Self::of(catalogue::resources())
    }

    /// A registry of other built-in resources than the catalogue's; they must be sorted by group, version and plural.
    pub(crate) fn of(built_in: &'static [Arc<Resource>]) -> Self {
        Self { built_in, custom: RwLock::default(), generation: AtomicU64::new(0) }
    }

    /// Looks up one resource by where its path says it is.
    pub(crate) fn get(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        let found = self.built_in.binary_search_by(|resource| {
            (resource.group.as_str(), resource.version.as_str(), resource.plural.as_str())
                .cmp(&(group, version, plural))
        });
        if let Ok(index) = found {
            return self.built_in.get(index).cloned();
        }
        let custom = Arc::clone(&self.custom.read());
        custom.get(&(group.to_owned(), version.to_owned(), plural.to_owned())).cloned()
    }

    /// Looks up a resource by the kind of its objects.
    pub(crate) fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Resource>> {
        self.all()
            .into_iter()
            .find(|resource| resource.group == group && resource.version == version && resource.kind == kind)
    }

    /// All resources, sorted by group, version and plural name within the built-in and then the custom ones.
    pub(crate) fn all(&self) -> Vec<Arc<Resource>> {
        let custom = Arc::clone(&self.custom.read());
        self.built_in.iter().chain(custom.values()).cloned().collect()
    }

    /// The custom resources alone.
    pub(crate) fn custom(&self) -> Vec<Arc<Resource>> {
        self.custom.read().values().cloned().collect()
    }

    /// Replaces all served versions of one custom resource; an empty list removes it.
    pub(crate) fn install(&self, group: &str, plural: &str, versions: Vec<Resource>) {
        let mut custom = self.custom.write();
        let next = Arc::make_mut(&mut custom);
        next.retain(|(g, _, p), _| g != group || p != plural);
        for resource in versions {
            let key = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
            next.insert(key, Arc::new(resource));
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Counts the changes, for whoever keeps something derived from the registry (discovery, OpenAPI).
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}
