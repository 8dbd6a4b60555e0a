mod expectations;
mod handlers;
mod look_up;
mod own_writes;
mod progress;
mod scope;
mod shared;
mod undecodable;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_client::Selector;
use controller_runtime_scheme::{Kind, Object, ObjectKey};
use kube_core::SelectorExt;

use crate::error::CacheError;
use crate::event::ObjectEvent;
use crate::query::ListQuery;

pub use handlers::HandlerRegistration;
pub(crate) use progress::Phase;
pub(crate) use scope::Scope;
pub(crate) use shared::{Listed, Shared};
pub(crate) use write::{Ask, Target, Write, Written};

/// Which objects of a kind an informer holds. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// Only objects whose labels match. Default: all.
    pub labels: Selector,
    /// Only objects whose fields match, as the server understands it. Default: all.
    pub fields: Option<String>,
}

impl Selection {
    /// Only objects whose labels match.
    pub fn labels(selector: impl Into<Selector>) -> Self {
        Self { labels: selector.into(), ..Self::default() }
    }

    /// Only objects whose fields match, as the server understands it.
    pub fn fields(selector: impl Into<String>) -> Self {
        Self { fields: Some(selector.into()), ..Self::default() }
    }

    /// Whether the labels match. What an object's fields are to match only the server can tell.
    pub(crate) fn matches_labels(&self, labels: &BTreeMap<String, String>) -> bool {
        self.labels.selects_all() || self.labels.matches(labels)
    }

    /// What both select.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.labels.extend(other.labels.clone());
        self.fields = match (self.fields, other.fields.clone()) {
            (Some(own), Some(other)) => Some(format!("{own},{other}")),
            (own, other) => own.or(other),
        };
        self
    }
}

/// The objects of one kind, kept up to date, and those who are told of changes. Everybody who asks a
/// [`Cache`](crate::Cache) for the same kind gets the same informer. Cloning is cheap.
///
/// Each Rust type of a kind, for example the typed, the unstructured and the metadata-only one, has an informer, a watch
/// and objects of its own.
///
/// Its own reads give what the cache holds at this moment, without waiting for anything. [`Reader`](crate::Reader)
/// waits until the cache is filled and has seen our own writes.
pub struct Informer<K: Object> {
    pub(crate) shared: Arc<Shared<K>>,
}

impl<K: Object> Informer<K> {
    /// The kind of its objects.
    pub fn kind(&self) -> &Kind<K> {
        self.shared.api.kind()
    }

    /// Tells `handler` of every object that there is (as [`ObjectEvent::Added`], `initial`), and from then on of every
    /// change, each once and in order, until the registration is dropped.
    ///
    /// The store shows a change before handlers are told of it. Handlers run one after the other in the informer's own
    /// task: they must be quick, and must not add a handler to the same informer. A panic is caught and reported.
    pub fn add_handler(&self, handler: impl Fn(&ObjectEvent<K>) + Send + Sync + 'static) -> HandlerRegistration {
        self.shared.add_handler(Arc::new(handler))
    }

    /// Adds an index: `values_of` gives the values under which an object is listed. It must give the same values for
    /// the same object each time, and must not read the cache. A name that is taken is an error.
    pub fn add_index(
        &self,
        name: &str,
        values_of: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Result<(), CacheError> {
        if self.shared.store.add_index(name, Arc::new(values_of)) {
            Ok(())
        } else {
            Err(CacheError::IndexExists { kind: self.shared.kind_name(), index: name.to_owned() })
        }
    }

    /// Whether the first list has come and all handlers have been told of it.
    pub fn has_synced(&self) -> bool {
        self.shared.progress.has_synced()
    }

    /// Waits until [`Informer::has_synced`], at most `within`. Cancel safe.
    pub async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        self.shared.progress.wait_for_sync(within).await
    }

    /// The object as the cache holds it now.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.shared.store.get(key)
    }

    /// The objects as the cache holds them now, by namespace, then name. An index that doesn't exist is an error.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        query.check_namespace(self.kind())?;
        self.shared.list(query)
    }

    /// How many objects the cache holds now.
    pub fn len(&self) -> usize {
        self.shared.store.len()
    }

    /// Whether the cache holds no objects now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Object> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K: Object> fmt::Debug for Informer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("kind", self.kind())
            .field("synced", &self.has_synced())
            .finish_non_exhaustive()
    }
}
