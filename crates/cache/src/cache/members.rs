use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};
use controller_runtime_scheme::{ApiResource, Kind, Object};

use crate::bounded::Bounded;
use crate::error::CacheError;
use crate::informer::{Phase, Selection, Shared, Write};
use crate::reflector::Reflector;

/// What a cache consists of.
#[derive(Default)]
pub(super) struct Members {
    pub(super) informers: BTreeMap<MemberKey, Entry>,
    pub(super) bounded: BTreeMap<MemberKey, Arc<dyn AnyBounded>>,
    /// The tasks, while the cache runs.
    pub(super) running: Option<TaskGroup>,
    pub(super) started: bool,
}

/// Sorted by resource, so that informers start in an order that is the same in every run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MemberKey {
    group: String,
    plural: String,
    version: String,
    type_id: TypeId,
    selection: String,
}

/// One informer, for those who don't know its type.
pub(super) struct Entry {
    pub(super) informer: Arc<dyn Any + Send + Sync>,
    pub(super) control: Arc<dyn Control>,
    /// Ends its lists and watches; none before they start.
    stop: Option<CancellationToken>,
}

pub(super) trait Control: Send + Sync {
    fn start(self: Arc<Self>, ambient: &Ambient, tasks: &TaskGroup, stop: &CancellationToken);
    fn set_phase(&self, phase: Phase);
    fn wrote(&self, write: &Write);
    fn wait_for_sync(self: Arc<Self>, within: Duration)
    -> Pin<Box<dyn Future<Output = Result<(), CacheError>> + Send>>;
}

/// A bounded cache, for those who don't know its type.
pub(super) trait AnyBounded: Send + Sync {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    fn wrote(&self, write: &Write);
}

impl MemberKey {
    pub(super) fn of<K: Object>(kind: &Kind<K>, selection: &Selection) -> Self {
        let resource = kind.resource();
        Self {
            group: resource.group.clone(),
            plural: resource.plural.clone(),
            version: resource.version.clone(),
            type_id: TypeId::of::<K>(),
            selection: format!("{} {}", selection.labels, selection.fields.as_deref().unwrap_or_default()),
        }
    }

    fn is_of(&self, resource: &ApiResource) -> bool {
        self.group == resource.group && self.plural == resource.plural
    }
}

impl Entry {
    pub(super) fn new<K: Object>(shared: &Arc<Shared<K>>) -> Self {
        Self { informer: shared.clone(), control: shared.clone(), stop: None }
    }

    pub(super) fn start(&mut self, ambient: &Ambient, tasks: &TaskGroup) {
        let stop = tasks.token().child_token();
        self.control.clone().start(ambient, tasks, &stop);
        self.stop = Some(stop);
    }
}

impl Members {
    pub(super) fn informer<K: Object>(&self, key: &MemberKey) -> Option<Arc<Shared<K>>> {
        self.informers.get(key)?.informer.clone().downcast().ok()
    }

    /// Adds an informer, and starts it if the cache runs.
    pub(super) fn add<K: Object>(&mut self, key: MemberKey, shared: &Arc<Shared<K>>, ambient: &Ambient) {
        shared.observe();
        let mut entry = Entry::new(shared);
        match &self.running {
            Some(tasks) => entry.start(ambient, tasks),
            None if self.started => entry.control.set_phase(Phase::Stopped),
            None => {}
        }
        self.informers.insert(key, entry);
    }

    /// Takes an informer out and ends it. Says whether it was there.
    pub(super) fn remove<K: Object>(&mut self, shared: &Arc<Shared<K>>) -> bool {
        let found = self.informers.iter().find_map(|(key, entry)| {
            let informer = entry.informer.clone().downcast::<Shared<K>>().ok()?;
            Arc::ptr_eq(&informer, shared).then(|| key.clone())
        });
        let Some(entry) = found.and_then(|key| self.informers.remove(&key)) else { return false };
        if let Some(stop) = entry.stop {
            stop.cancel();
        }
        entry.control.set_phase(Phase::Removed);
        true
    }

    /// Remembers a write of ours for everything that holds objects of the resource, whatever its version and type.
    pub(super) fn wrote(&self, resource: &ApiResource, write: &Write) {
        for (_, entry) in self.informers.iter().filter(|(key, _)| key.is_of(resource)) {
            entry.control.wrote(write);
        }
        for (_, bounded) in self.bounded.iter().filter(|(key, _)| key.is_of(resource)) {
            bounded.wrote(write);
        }
    }
}

impl<K: Object> Control for Shared<K> {
    fn start(self: Arc<Self>, ambient: &Ambient, tasks: &TaskGroup, stop: &CancellationToken) {
        self.progress.set_phase(Phase::Running);
        for scope in 0..self.progress.scopes().len() {
            let reflector = Reflector { shared: self.clone(), ambient: ambient.clone(), scope };
            tasks.spawn("reflector", reflector.run(stop.clone()));
        }
    }

    fn set_phase(&self, phase: Phase) {
        self.progress.set_phase(phase);
    }

    fn wrote(&self, write: &Write) {
        Shared::wrote(self, write);
    }

    fn wait_for_sync(
        self: Arc<Self>,
        within: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<(), CacheError>> + Send>> {
        Box::pin(async move { self.progress.wait_for_sync(within).await })
    }
}

impl<K: Object> AnyBounded for Bounded<K> {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn wrote(&self, write: &Write) {
        Bounded::wrote(self, &write.target());
    }
}
