use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};
use controller_runtime_client::Client;
use controller_runtime_scheme::{ApiResource, Kind, Object, ObjectKey, TypedObject};
use parking_lot::{Mutex, RwLock};

use crate::error::CacheError;
use crate::informer::{Informer, Phase, Selection, Shared, Write};
use crate::options::CacheOptions;
use crate::query::ListQuery;
use crate::reader::Reader;
use crate::reflector::Reflector;

/// Informers, shared by everybody who asks for the same kind, and reads from them. Cloning is cheap; clones are one
/// cache.
///
/// Nothing is fetched before [`Cache::run`] runs. An informer that is first asked for later starts at once, on the tokio
/// runtime of whoever asks; outside of one that is a panic.
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    options: CacheOptions,
    state: Mutex<State>,
    /// The informers that hold everything of a type that states its kind: the short way for reads.
    typed: RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

#[derive(Default)]
struct State {
    informers: BTreeMap<InformerKey, Entry>,
    /// The tasks, while the cache runs.
    running: Option<TaskGroup>,
    started: bool,
}

/// Sorted by resource, so that informers start in an order that is the same in every run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InformerKey {
    group: String,
    plural: String,
    version: String,
    type_id: TypeId,
    selection: String,
}

/// One informer, for those who don't know its type.
struct Entry {
    informer: Arc<dyn Any + Send + Sync>,
    control: Arc<dyn Control>,
}

trait Control: Send + Sync {
    fn start(self: Arc<Self>, ambient: &Ambient, tasks: &TaskGroup);
    fn set_phase(&self, phase: Phase);
    fn wrote(&self, write: &Write);
    fn wait_for_sync(self: Arc<Self>, within: Duration)
    -> Pin<Box<dyn Future<Output = Result<(), CacheError>> + Send>>;
}

impl Cache {
    /// A cache that reads through `client`, whose clock and randomness it uses.
    pub fn new(client: Client, options: CacheOptions) -> Self {
        let inner = Inner { client, options, state: Mutex::default(), typed: RwLock::default() };
        Self { inner: Arc::new(inner) }
    }

    /// The client it reads through.
    pub fn client(&self) -> &Client {
        &self.inner.client
    }

    /// How it works.
    pub fn options(&self) -> &CacheOptions {
        &self.inner.options
    }

    /// Runs all informers until `cancel`, and ends when their tasks have ended. A cache runs once.
    pub async fn run(&self, cancel: CancellationToken) -> Result<(), CacheError> {
        let ambient = self.inner.client.ambient();
        let tasks = {
            let mut state = self.inner.state.lock();
            if state.started {
                return Err(CacheError::AlreadyStarted);
            }
            let tasks = TaskGroup::new(ambient, &cancel);
            state.started = true;
            state.running = Some(tasks.clone());
            for entry in state.informers.values() {
                entry.control.clone().start(ambient, &tasks);
            }
            tasks
        };
        // Dropping this future must stop the informers, too: what they share would wait for them for ever.
        let stopped = StopOnDrop(self);
        cancel.cancelled().await;
        drop(stopped);
        tasks.shutdown().await;
        Ok(())
    }

    /// The informer of a kind that the type states.
    pub fn informer<K: TypedObject>(&self) -> Informer<K> {
        let type_id = TypeId::of::<K>();
        let known = self.inner.typed.read().get(&type_id).cloned();
        if let Some(shared) = known.and_then(|informer| informer.downcast::<Shared<K>>().ok()) {
            return Informer { shared };
        }
        let informer = self.informer_of(&Kind::<K>::typed());
        self.inner.typed.write().insert(type_id, informer.shared.clone());
        informer
    }

    /// The informer of any kind: unstructured, metadata only, or typed.
    pub fn informer_of<K: Object>(&self, kind: &Kind<K>) -> Informer<K> {
        self.informer_selecting(kind, Selection::default())
    }

    /// The informer of some objects of a kind. It is shared by those who ask for the same kind and selection; reads
    /// from the cache don't use it.
    pub fn informer_selecting<K: Object>(&self, kind: &Kind<K>, selection: Selection) -> Informer<K> {
        let resource = kind.resource();
        let key = InformerKey {
            group: resource.group.clone(),
            plural: resource.plural.clone(),
            version: resource.version.clone(),
            type_id: TypeId::of::<K>(),
            selection: format!("{} {}", selection.labels, selection.fields.as_deref().unwrap_or_default()),
        };
        let mut state = self.inner.state.lock();
        let known = state.informers.get(&key).map(|entry| entry.informer.clone());
        if let Some(shared) = known.and_then(|informer| informer.downcast::<Shared<K>>().ok()) {
            return Informer { shared };
        }
        let api = self.inner.client.api(kind.clone());
        let shared = Arc::new(Shared::new(api, selection, &self.inner.options));
        match &state.running {
            Some(tasks) => Control::start(shared.clone(), self.inner.client.ambient(), tasks),
            None if state.started => shared.set_phase(Phase::Stopped),
            None => {}
        }
        state.informers.insert(key, Entry { informer: shared.clone(), control: shared.clone() });
        Informer { shared }
    }

    /// Waits until every informer that exists now has its first list and has told its handlers of it, all together at
    /// most `within`. Cancel safe.
    pub async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        let controls: Vec<_> = self.inner.state.lock().informers.values().map(|entry| entry.control.clone()).collect();
        let began = tokio::time::Instant::now();
        for control in controls {
            let left = within.saturating_sub(began.elapsed());
            control.wait_for_sync(left).await?;
        }
        Ok(())
    }

    /// Reads of any kind.
    pub fn reader<K: Object>(&self, kind: &Kind<K>) -> Reader<K> {
        Reader::new(self.informer_of(kind))
    }

    /// See [`Reader::get`].
    pub async fn get<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Arc<K>, CacheError> {
        Reader::new(self.informer::<K>()).get(key).await
    }

    /// See [`Reader::get_opt`].
    pub async fn get_opt<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Option<Arc<K>>, CacheError> {
        Reader::new(self.informer::<K>()).get_opt(key).await
    }

    /// See [`Reader::list`].
    pub async fn list<K: TypedObject>(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        Reader::new(self.informer::<K>()).list(query).await
    }

    /// Remembers a write of ours for all informers of the resource, whatever their version and type: reads wait for
    /// it. Those that hold a selection only can't tell whether they will ever see it.
    pub(crate) fn wrote(&self, resource: &ApiResource, write: &Write) {
        let state = self.inner.state.lock();
        let of_resource = |key: &InformerKey| key.group == resource.group && key.plural == resource.plural;
        for entry in state.informers.iter().filter(|(key, _)| of_resource(key)).map(|(_, entry)| entry) {
            entry.control.wrote(write);
        }
    }

    fn stopped(&self) {
        let mut state = self.inner.state.lock();
        if let Some(tasks) = state.running.take() {
            tasks.token().cancel();
        }
        for entry in state.informers.values() {
            entry.control.set_phase(Phase::Stopped);
        }
    }
}

struct StopOnDrop<'a>(&'a Cache);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stopped();
    }
}

impl<K: Object> Control for Shared<K> {
    fn start(self: Arc<Self>, ambient: &Ambient, tasks: &TaskGroup) {
        Shared::set_phase(&self, Phase::Running);
        for scope in 0..self.scopes.len() {
            let reflector = Reflector { shared: self.clone(), ambient: ambient.clone(), scope };
            tasks.spawn("reflector", reflector.run(tasks.token().clone()));
        }
    }

    fn set_phase(&self, phase: Phase) {
        Shared::set_phase(self, phase);
    }

    fn wrote(&self, write: &Write) {
        if self.selection.is_everything() {
            Shared::wrote(self, write);
        }
    }

    fn wait_for_sync(
        self: Arc<Self>,
        within: Duration,
    ) -> Pin<Box<dyn Future<Output = Result<(), CacheError>> + Send>> {
        Box::pin(async move { Shared::wait_for_sync(&self, within).await })
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let informers = self.inner.state.lock().informers.len();
        f.debug_struct("Cache")
            .field("informers", &informers)
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}
