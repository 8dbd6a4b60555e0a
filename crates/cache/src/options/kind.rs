use std::collections::BTreeMap;
use std::time::Duration;

use bon::Builder;
use controller_runtime_client::Selector;
use controller_runtime_scheme::Object;

use crate::options::bounds::Bounds;
use crate::options::scope::{ALL_OTHERS, ScopeOptions};
use crate::reflector::{ListWatch, ListWatches};
use crate::transform::Transform;

/// How the cache treats one resource. What isn't set is as [`CacheOptions`](crate::CacheOptions) says.
#[derive(Clone, Debug, Default, Builder)]
pub struct KindOptions {
    #[builder(field)]
    pub(crate) namespaces: BTreeMap<String, ScopeOptions>,
    #[builder(field)]
    pub(crate) list_watches: ListWatches,
    /// Caches only objects whose labels match.
    #[builder(into)]
    pub(crate) labels: Option<Selector>,
    /// Caches only objects whose fields match, as the server understands it.
    #[builder(into)]
    pub(crate) fields: Option<String>,
    /// What is done to each object before it is stored.
    pub(crate) transform: Option<Transform>,
    /// How many objects one answer of a list holds.
    pub(crate) page_size: Option<u32>,
    /// After how long handlers are told of every object again; `Duration::MAX`: never.
    pub(crate) resync: Option<Duration>,
    /// Whether watches ask for bookmarks.
    pub(crate) bookmarks: Option<bool>,
    /// Whether the first objects come as a stream.
    pub(crate) streaming_lists: Option<bool>,
    /// Reads don't use an informer that holds everything, but a cache of so many objects. Informers that are asked for
    /// by name still hold everything.
    pub(crate) bounds: Option<Bounds>,
}

impl<S: kind_options_builder::State> KindOptionsBuilder<S> {
    /// Caches only these namespaces' objects, instead of those that [`CacheOptions`](crate::CacheOptions) names. It
    /// means nothing for a cluster-scoped kind.
    pub fn namespaces(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        for name in names {
            self.namespaces.entry(name.into()).or_default();
        }
        self
    }

    /// Lists and watches objects of the Rust type `K` through `source` instead of the cache's client.
    ///
    /// Other representations of the resource, for example metadata only, still come through the client.
    pub fn list_watch<K: Object>(mut self, source: impl ListWatch<K>) -> Self {
        self.list_watches.insert(source);
        self
    }

    /// Caches this namespace, too, with settings of its own.
    pub fn namespace(mut self, name: impl Into<String>, options: ScopeOptions) -> Self {
        self.namespaces.insert(name.into(), options);
        self
    }

    /// Besides the namespaces that are named, caches all others, too, with these settings.
    pub fn other_namespaces(mut self, options: ScopeOptions) -> Self {
        self.namespaces.insert(ALL_OTHERS.to_owned(), options);
        self
    }
}
