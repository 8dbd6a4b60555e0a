use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use controller_runtime_client::Api;
use controller_runtime_metrics::CacheMetrics;
use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::error::CacheError;
use crate::event::ObjectEvent;
use crate::informer::expectations::{Expectations, Until};
use crate::informer::handlers::{Handler, HandlerRegistration, Handlers};
use crate::informer::scope::{Failure, Scope};
use crate::informer::undecodable::Undecodable;
use crate::informer::{Selection, Write};
use crate::options::CacheOptions;
use crate::query::ListQuery;
use crate::reflector::AnyListWatch;
use crate::store::Store;

/// What an informer's handles, its reflectors and the cache share.
///
/// Writers hold the handlers' lock over the change and its delivery, so that handlers get events in order and a late
/// handler neither misses one nor gets one twice. Readers never wait for it.
pub(crate) struct Shared<K: Object> {
    pub(crate) api: Api<K>,
    pub(crate) source: Arc<dyn AnyListWatch<K>>,
    pub(crate) metrics: CacheMetrics,
    pub(crate) selection: Selection,
    pub(crate) options: CacheOptions,
    pub(crate) store: Store<K>,
    pub(crate) scopes: Vec<Scope>,
    undecodable: Undecodable,
    handlers: Mutex<Handlers<K>>,
    expectations: Expectations,
    changed: Notify,
    phase: AtomicU8,
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

/// Where an informer is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    Waiting = 0,
    Running = 1,
    Stopped = 2,
}

impl<K: Object> Shared<K> {
    pub(crate) fn new(api: Api<K>, selection: Selection, options: &CacheOptions) -> Self {
        let scopes = options.plans(api.kind(), &selection).into_iter().map(Scope::new).collect();
        let resource = api.kind().resource();
        let metrics = api.metrics().cache(&resource.group, &resource.version, &resource.kind);
        let own = options.special(resource).and_then(|special| special.list_watches.get::<K>());
        let source = own.unwrap_or_else(|| Arc::new(api.clone()));
        let options = options.of_resource(resource);
        Self {
            source,
            metrics,
            api,
            selection,
            options,
            store: Store::new(),
            scopes,
            undecodable: Undecodable::default(),
            handlers: Mutex::new(Handlers::new()),
            expectations: Expectations::default(),
            changed: Notify::new(),
            phase: AtomicU8::new(Phase::Waiting as u8),
        }
    }

    pub(crate) fn kind_name(&self) -> String {
        self.api.kind().to_string()
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Waiting,
            1 => Phase::Running,
            _ => Phase::Stopped,
        }
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
        self.changed.notify_waiters();
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
        self.expectations.listed(began);
        self.changed.notify_waiters();
        handlers.tell(&events);
        // Whoever waits for the first list expects that handlers have had it.
        scope.set_synced();
        self.changed.notify_waiters();
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
        self.expectations.seen(&**object);
        self.undecodable.remove(&ObjectKey::of(&**object));
        self.advance(scope, version);
        handlers.tell(&events);
    }

    /// An object is gone; `last` is its last state.
    pub(crate) fn remove(&self, scope: &Scope, last: Arc<K>, version: &str) {
        let mut handlers = self.handlers.lock();
        let key = ObjectKey::of(&*last);
        let event = self.store.remove(last);
        self.undecodable.remove(&key);
        self.expectations.gone(&key);
        self.advance(scope, version);
        handlers.tell(event.as_slice());
    }

    /// An object is new or changed and doesn't fit its type. What the store has of it stays.
    pub(crate) fn put_undecodable(&self, scope: &Scope, key: ObjectKey, version: &str) {
        self.undecodable.add([key]);
        self.advance(scope, version);
    }

    /// An object that never fitted its type is gone.
    pub(crate) fn remove_undecodable(&self, scope: &Scope, key: &ObjectKey, version: &str) {
        self.undecodable.remove(key);
        self.advance(scope, version);
    }

    /// Whether the object exists and doesn't fit its type. Ask before the store.
    pub(crate) fn is_undecodable(&self, key: &ObjectKey) -> bool {
        self.undecodable.contains(key)
    }

    /// Nothing else happened up to this version.
    pub(crate) fn advance(&self, scope: &Scope, version: &str) {
        scope.advance(version);
        self.changed.notify_waiters();
    }

    pub(crate) fn add_handler(&self, handle: Handler<K>) -> HandlerRegistration {
        let mut handlers = self.handlers.lock();
        let everything = self.store.list(&ListQuery::all()).unwrap_or_default();
        let present = everything.into_iter().map(|object| ObjectEvent::Added { object, initial: true });
        handlers.add(present, handle)
    }

    pub(crate) fn has_synced(&self) -> bool {
        self.scopes.iter().all(Scope::is_synced)
    }

    /// Waits until all first lists have come.
    pub(crate) async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        let kind = || self.kind_name();
        self.until(within, || self.has_synced() || self.phase() == Phase::Stopped).await;
        if self.has_synced() {
            return Ok(());
        }
        match self.phase() {
            Phase::Waiting => return Err(CacheError::NotStarted { kind: kind() }),
            Phase::Stopped => return Err(CacheError::Stopped { kind: kind() }),
            Phase::Running => {}
        }
        let failure = self.scopes.iter().filter(|scope| !scope.is_synced()).find_map(Scope::failure);
        Err(match failure {
            Some(Failure::KindNotServed) => CacheError::KindNotServed { kind: kind(), after: within },
            Some(Failure::Other(last)) => CacheError::SyncTimeout { kind: kind(), after: within, last: Some(last) },
            None => CacheError::SyncTimeout { kind: kind(), after: within, last: None },
        })
    }

    /// Remembers a write of ours that reads must see.
    pub(crate) fn wrote(&self, write: &Write) {
        let namespace = write.key.namespace.as_deref();
        let Some(scope) = self.scopes.iter().find(|scope| scope.covers(namespace)) else { return };
        match write {
            Write { gone: true, uid: Some(uid), .. } => {
                self.expectations.add(write.key.clone(), Until::Gone(uid.clone()));
            }
            Write { gone: false, version: Some(version), .. } if !scope.wrote(version) => {
                self.expectations.add(write.key.clone(), Until::Version(version.clone()));
            }
            _ => {}
        }
    }

    pub(crate) fn is_caught_up(&self, namespace: Option<&str>) -> bool {
        self.scopes.iter().filter(|scope| scope.covers(namespace)).all(Scope::is_caught_up)
            && self.expectations.are_met(&self.store, namespace)
    }

    /// Waits until reads of the namespace (of everything, if none) see our own writes.
    pub(crate) async fn wait_for_writes(&self, namespace: Option<&str>) -> Result<(), CacheError> {
        let after = self.options.write_timeout;
        self.until(after, || self.is_caught_up(namespace) || self.phase() == Phase::Stopped).await;
        if self.is_caught_up(namespace) {
            Ok(())
        } else if self.phase() == Phase::Stopped {
            Err(CacheError::Stopped { kind: self.kind_name() })
        } else {
            Err(CacheError::Stale { kind: self.kind_name(), after })
        }
    }

    /// Waits until something is true, or for this long.
    async fn until(&self, within: Duration, ready: impl Fn() -> bool) {
        if ready() {
            return;
        }
        let wait = async {
            loop {
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if ready() {
                    return;
                }
                changed.await;
            }
        };
        // The caller looks itself at what is true now.
        let _ = timeout(within, wait).await;
    }
}

impl<K: Object> fmt::Debug for Shared<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("kind", self.api.kind())
            .field("selection", &self.selection)
            .field("scopes", &self.scopes)
            .field("phase", &self.phase())
            .finish_non_exhaustive()
    }
}
