use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use controller_runtime_client::Api;
use controller_runtime_metrics::{CacheMetrics, CacheSnapshot};
use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::CacheError;
use crate::event::ObjectEvent;
use crate::informer::Selection;
use crate::informer::expectations::Expectations;
use crate::informer::handlers::{Handler, HandlerRegistration, Handlers};
use crate::informer::progress::{Phase, Progress};
use crate::informer::scope::Scope;
use crate::informer::undecodable::Undecodable;
use crate::informer::write::Target;
use crate::options::CacheOptions;
use crate::query::ListQuery;
use crate::reflector::AnyListWatch;
use crate::store::{MissingIndex, Store};

/// What an informer's handles, its reflectors and the cache share.
///
/// Writers hold the handlers' lock over the change and its delivery, so that handlers get events in order and a late
/// handler neither misses one nor gets one twice. Readers never wait for it.
pub(crate) struct Shared<K: Object> {
    pub(crate) api: Api<K>,
    pub(crate) source: Arc<dyn AnyListWatch<K>>,
    pub(crate) metrics: CacheMetrics,
    pub(crate) options: CacheOptions,
    pub(crate) store: Store<K>,
    pub(crate) progress: Arc<Progress>,
    undecodable: Undecodable,
    handlers: Mutex<Handlers<K>>,
    pub(super) expectations: Expectations,
    /// Whether somebody's own functions list and watch.
    pub(super) has_own_source: bool,
}

/// Everything that a server has.
#[derive(Debug)]
pub(crate) struct Listed<K> {
    pub(crate) objects: BTreeMap<ObjectKey, Arc<K>>,
    /// Objects that exist and don't fit their type.
    pub(crate) undecodable: BTreeSet<ObjectKey>,
    /// Whether there is an object that doesn't fit its type and whose key can't be read.
    pub(crate) unnamed: bool,
    pub(crate) version: String,
    /// When it was asked for.
    pub(crate) began: Instant,
}

impl<K: Object> Shared<K> {
    pub(crate) fn new(api: Api<K>, selection: &Selection, options: &CacheOptions) -> Self {
        let scopes = options.plans(api.kind(), selection).into_iter().map(Scope::new).collect();
        let resource = api.kind().resource();
        let metrics = api.metrics().cache(&resource.group, &resource.version, &resource.kind);
        let progress = Arc::new(Progress::new(api.kind(), scopes));
        let own = options.special(resource).and_then(|special| special.list_watches.get::<K>());
        let has_own_source = own.is_some();
        let source = own.unwrap_or_else(|| Arc::new(api.clone()));
        let options = options.of_resource(resource);
        Self {
            source,
            metrics,
            api,
            options,
            store: Store::new(),
            progress,
            undecodable: Undecodable::default(),
            handlers: Mutex::new(Handlers::new()),
            expectations: Expectations::default(),
            has_own_source,
        }
    }

    pub(crate) fn kind_name(&self) -> String {
        self.api.kind().to_string()
    }

    /// Everything has come, in one list.
    pub(crate) fn replace(&self, scope: &Scope, listed: Listed<K>) {
        let Listed { objects, undecodable, unnamed, version, began } = listed;
        let mut handlers = self.handlers.lock();
        self.undecodable.add(undecodable.iter().cloned());
        let others = |key: &ObjectKey| !scope.covers(key.namespace.as_deref());
        let keep = |key: &ObjectKey| unnamed || undecodable.contains(key) || others(key);
        let events = self.store.replace(scope.namespace(), objects, keep, !scope.is_synced());
        self.undecodable.keep(|key| others(key) || undecodable.contains(key));
        scope.listed(&version, began);
        self.expectations.listed(began, |target| self.is_all_in(scope, target));
        self.progress.notify();
        handlers.tell(&events);
        // Whoever waits for the first list expects that handlers have had it.
        scope.set_synced();
        self.progress.notify();
    }

    /// Tells handlers again of what there is under the keys.
    pub(crate) fn repeat(&self, keys: &[ObjectKey]) {
        let mut handlers = self.handlers.lock();
        let objects = keys.iter().filter_map(|key| self.store.get(key));
        let events: Vec<_> = objects.map(|object| ObjectEvent::Updated { old: object.clone(), new: object }).collect();
        handlers.tell(&events);
    }

    /// An object is new or changed.
    pub(crate) fn put(&self, scope: &Scope, object: &Arc<K>, version: &str) {
        let mut handlers = self.handlers.lock();
        let events = self.store.put(object);
        // Reads that wait for this version go on now.
        let key = ObjectKey::of(&**object);
        self.expectations.seen(&key, object.meta().resource_version.as_deref().unwrap_or_default());
        self.undecodable.remove(&key);
        self.advance(scope, version);
        handlers.tell(&events);
    }

    /// An object is gone; `last` is its last state.
    pub(crate) fn remove(&self, scope: &Scope, last: Arc<K>, version: &str) {
        let mut handlers = self.handlers.lock();
        let key = ObjectKey::of(&*last);
        let uid = last.meta().uid.clone();
        let event = self.store.remove(last);
        self.undecodable.remove(&key);
        self.expectations.gone(&key, uid.as_deref());
        self.advance(scope, version);
        handlers.tell(event.as_slice());
    }

    /// An object is new or changed and doesn't fit its type. What the store has of it stays.
    pub(crate) fn put_undecodable(&self, scope: &Scope, key: ObjectKey, version: &str) {
        self.expectations.seen(&key, version);
        self.undecodable.add([key]);
        self.advance(scope, version);
    }

    /// An object that never fitted its type is gone.
    pub(crate) fn remove_undecodable(&self, scope: &Scope, key: &ObjectKey, version: &str) {
        self.undecodable.remove(key);
        self.expectations.gone(key, None);
        self.advance(scope, version);
    }

    /// Whether the object exists and doesn't fit its type. Ask before the store.
    pub(crate) fn is_undecodable(&self, key: &ObjectKey) -> bool {
        self.undecodable.contains(key)
    }

    /// Nothing else happened up to this version.
    pub(crate) fn advance(&self, scope: &Scope, version: &str) {
        scope.advance(version);
        self.progress.notify();
    }

    pub(crate) fn add_handler(&self, handler: Arc<Handler<K>>) -> HandlerRegistration {
        let mut handlers = self.handlers.lock();
        let everything = self.store.list(&ListQuery::all()).unwrap_or_default();
        let present = everything.into_iter().map(|object| ObjectEvent::Added { object, initial: true });
        handlers.add(present, handler, &self.progress)
    }

    /// The objects that match, as they are now.
    pub(crate) fn list(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        let kind = || self.kind_name();
        let query = query
            .resolve()
            .map_err(|problem| CacheError::FieldSelector { kind: kind(), reason: problem.to_string() })?;
        self.store.list(&query).map_err(|MissingIndex(index)| CacheError::MissingIndex { kind: kind(), index })
    }

    pub(super) fn covering(&self, namespace: Option<&str>) -> impl Iterator<Item = &Scope> {
        self.progress.scopes().iter().filter(move |scope| scope.covers(namespace))
    }

    /// Lets scrapes of metrics see what it holds, until it is removed.
    pub(crate) fn observe(self: &Arc<Self>) {
        let shared = Arc::downgrade(self);
        self.metrics.observe_with(move || {
            let shared = shared.upgrade().filter(|shared| shared.progress.phase() != Phase::Removed)?;
            Some(CacheSnapshot {
                objects: shared.store.len(),
                bytes: shared.store.estimated_size(),
                resource_version: shared.progress.scopes().iter().map(Scope::seen).min().unwrap_or_default(),
            })
        });
    }

    /// Whether a list of the scope shows all that there is of the target.
    fn is_all_in(&self, scope: &Scope, target: &Target) -> bool {
        self.progress.scopes().len() == 1 || target.namespace().is_some_and(|namespace| scope.covers(Some(namespace)))
    }

    /// Whether the cache is to hold the namespace.
    pub(crate) fn covers(&self, namespace: &str) -> bool {
        self.covering(Some(namespace)).next().is_some()
    }
}

impl<K: Object> fmt::Debug for Shared<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("kind", self.api.kind())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}
