mod members;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{CancellationToken, TaskGroup};
use controller_runtime_client::Client;
use controller_runtime_scheme::{ApiResource, Kind, Object, ObjectKey, TypedObject};
use parking_lot::{Mutex, RwLock};

use crate::bounded::Bounded;
use crate::cache::members::{MemberKey, Members};
use crate::error::CacheError;
use crate::informer::{Informer, Phase, Selection, Shared, Write};
use crate::options::CacheOptions;
use crate::query::ListQuery;
use crate::reader::Reader;
use crate::route::Route;

/// Informers, shared by everybody who asks for the same kind, and reads from them. Cloning is cheap; clones are one
/// cache.
///
/// Nothing is fetched before [`Cache::run`] runs. An informer that is first asked for later starts at once, on the tokio
/// runtime of whoever asks; outside of one that is a panic. One that nobody needs any more can be removed.
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    options: CacheOptions,
    members: Mutex<Members>,
    /// The routes of types that state their kind: the short way for reads.
    routes: RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Cache {
    /// A cache that reads through `client`, whose clock and randomness it uses.
    pub fn new(client: Client, options: CacheOptions) -> Self {
        let inner = Inner { client, options, members: Mutex::default(), routes: RwLock::default() };
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
    ///
    /// The informers start with this call, before the future is first polled: reads that come after it wait. Dropping
    /// the future stops them.
    ///
    /// # Panics
    /// When called outside a tokio runtime.
    pub fn run(
        &self,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<(), CacheError>> + Send + 'static + use<> {
        let started = self.start(&cancel);
        async move {
            let running = started?;
            cancel.cancelled().await;
            let tasks = running.tasks.clone();
            drop(running);
            tasks.shutdown().await;
            Ok(())
        }
    }

    fn start(&self, cancel: &CancellationToken) -> Result<Running, CacheError> {
        let ambient = self.inner.client.ambient();
        let mut members = self.inner.members.lock();
        if members.started {
            return Err(CacheError::AlreadyStarted);
        }
        let tasks = TaskGroup::new(ambient, cancel);
        members.started = true;
        members.running = Some(tasks.clone());
        for entry in members.informers.values_mut() {
            entry.start(ambient, &tasks);
        }
        drop(members);
        Ok(Running { cache: self.clone(), tasks })
    }

    /// The informer of a kind that the type states.
    pub fn informer<K: TypedObject>(&self) -> Informer<K> {
        self.informer_of(&Kind::<K>::typed())
    }

    /// The informer of any kind: unstructured, metadata only, or typed.
    pub fn informer_of<K: Object>(&self, kind: &Kind<K>) -> Informer<K> {
        self.informer_selecting(kind, &Selection::default())
    }

    /// The informer of some objects of a kind, of those that the cache's options select. It is shared by those who ask
    /// for the same kind and selection; reads from the cache don't use it.
    pub fn informer_selecting<K: Object>(&self, kind: &Kind<K>, selection: &Selection) -> Informer<K> {
        let key = MemberKey::of(kind, selection);
        let mut members = self.inner.members.lock();
        if let Some(shared) = members.informer(&key) {
            return Informer { shared };
        }
        let api = self.inner.client.api(kind.clone());
        let shared = Arc::new(Shared::new(api, selection, &self.inner.options));
        members.add(key, &shared, self.inner.client.ambient());
        Informer { shared }
    }

    /// The informer that reads use.
    pub(crate) fn informer_for_reads<K: Object>(&self, kind: &Kind<K>) -> Result<Arc<Shared<K>>, CacheError> {
        if self.inner.options.reads_start_informers {
            return Ok(self.informer_of(kind).shared);
        }
        let members = self.inner.members.lock();
        match members.informer(&MemberKey::of(kind, &Selection::default())) {
            Some(shared) => Ok(shared),
            None if !members.started => Err(CacheError::NotStarted { kind: kind.to_string() }),
            None => Err(CacheError::NoInformer { kind: kind.to_string() }),
        }
    }

    /// Ends an informer for everybody: its lists and watches end, its handlers hear nothing more, and its own reads
    /// give what it held last. Whoever asks the cache for the kind again, a read too, gets a new one. Says whether the
    /// cache had the informer.
    pub fn remove_informer<K: Object>(&self, informer: &Informer<K>) -> bool {
        self.inner.members.lock().remove(&informer.shared)
    }

    /// Waits until every informer that exists now has its first list and has told its handlers of it, all together at
    /// most `within`. Cancel safe.
    pub async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        let controls: Vec<_> =
            self.inner.members.lock().informers.values().map(|entry| entry.control.clone()).collect();
        let began = tokio::time::Instant::now();
        for control in controls {
            let left = within.saturating_sub(began.elapsed());
            control.wait_for_sync(left).await?;
        }
        Ok(())
    }

    /// Reads of any kind.
    pub fn reader<K: Object>(&self, kind: &Kind<K>) -> Reader<K> {
        Reader::new(self.clone(), Arc::new(self.route_of(kind)))
    }

    fn route_of<K: Object>(&self, kind: &Kind<K>) -> Route<K> {
        Route::new(kind.clone(), self.bounded(kind))
    }

    /// The kind's bounded cache, if it is to have one.
    fn bounded<K: Object>(&self, kind: &Kind<K>) -> Option<Arc<Bounded<K>>> {
        let options = &self.inner.options;
        let bounds = options.special(kind.resource())?.bounds?;
        let everything = Selection::default();
        let new = || Bounded::new(self.inner.client.api(kind.clone()), bounds, options.plans(kind, &everything));
        let mut members = self.inner.members.lock();
        let bounded = members.bounded.entry(MemberKey::of(kind, &everything)).or_insert_with(|| Arc::new(new()));
        bounded.clone().as_any().downcast().ok()
    }

    /// The reader of a type that states its kind.
    fn typed<K: TypedObject>(&self) -> Reader<K> {
        let type_id = TypeId::of::<K>();
        let known = self.inner.routes.read().get(&type_id).cloned();
        let route = known.and_then(|route| route.downcast::<Route<K>>().ok()).unwrap_or_else(|| {
            let route = Arc::new(self.route_of(&Kind::<K>::typed()));
            self.inner.routes.write().insert(type_id, route.clone());
            route
        });
        Reader::new(self.clone(), route)
    }

    /// See [`Reader::get`].
    pub async fn get<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Arc<K>, CacheError> {
        self.typed::<K>().get(key).await
    }

    /// See [`Reader::get_opt`].
    pub async fn get_opt<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Option<Arc<K>>, CacheError> {
        self.typed::<K>().get_opt(key).await
    }

    /// See [`Reader::list`].
    pub async fn list<K: TypedObject>(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        self.typed::<K>().list(query).await
    }

    /// Remembers a write of ours: reads of the resource, of whatever version and type, wait for it. Those that select
    /// by fields can't tell whether they will ever see it, and wait for deletions only.
    pub(crate) fn wrote(&self, resource: &ApiResource, write: &Write) {
        self.inner.members.lock().wrote(resource, write);
    }

    fn stopped(&self) {
        let mut members = self.inner.members.lock();
        if let Some(tasks) = members.running.take() {
            tasks.token().cancel();
        }
        for entry in members.informers.values() {
            entry.control.set_phase(Phase::Stopped);
        }
    }
}

/// A cache that runs. Dropping it stops the informers: what they share would wait for them for ever.
struct Running {
    cache: Cache,
    tasks: TaskGroup,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cache.stopped();
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let informers = self.inner.members.lock().informers.len();
        f.debug_struct("Cache")
            .field("informers", &informers)
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}
