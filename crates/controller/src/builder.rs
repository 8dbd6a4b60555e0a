use std::sync::Arc;
use std::time::Duration;

use controller_runtime_cache::Cache;
use controller_runtime_scheme::{Kind, Object, ObjectKey, TypedObject};
use controller_runtime_workqueue::ItemBackoff;

use crate::controller::Running;
use crate::handler::{ControllerOwner, Handler, Itself, Mapped};
use crate::host::{AddError, Host};
use crate::predicate::Predicate;
use crate::reconciler::Reconciler;
use crate::runnable::Runnable;
use crate::source::{Feed, InformerSource, KindFeed};
use crate::worker::{Options, Worker};

/// What a controller watches besides its own kind is set up when it is run, with the host's cache at hand.
type SetUp = Box<dyn FnOnce(&Cache) -> Box<dyn Feed> + Send>;

/// A controller in the making: which objects it reconciles, what leads to a reconcile, and how reconciles run.
///
/// ```no_run
/// use controller_runtime_controller::{Controller, Host, Reconciler, predicate};
/// use controller_runtime_scheme::ObjectKey;
/// use k8s_openapi::api::apps::v1::Deployment;
/// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
///
/// # fn example(reconciler: impl Reconciler<Deployment>, host: &impl Host) -> Result<(), Box<dyn std::error::Error>> {
/// Controller::for_kind::<Deployment>()
///     .with_predicate(predicate::generation_changed())
///     .owns::<ConfigMap>()
///     .watches::<Secret>(|secret, _cache| {
///         let namespace = secret.metadata.namespace.clone().unwrap_or_default();
///         vec![ObjectKey::namespaced(namespace, "web")]
///     })
///     .max_concurrent(4)
///     .run(reconciler, host)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a controller does nothing until it is run"]
pub struct Controller<K: Object> {
    kind: Kind<K>,
    name: Option<String>,
    predicates: Vec<Arc<dyn Predicate<K>>>,
    watches: Vec<SetUp>,
    backoff: ItemBackoff,
    max_concurrent: usize,
    sync_timeout: Duration,
    options: Options,
}

/// A kind that a controller watches besides its own, and which of its events count.
#[must_use = "a watch does nothing until a controller has it"]
pub struct Watch<W: Object> {
    kind: Kind<W>,
    predicates: Vec<Arc<dyn Predicate<W>>>,
}

impl<W: Object> Watch<W> {
    /// All events of a kind whose type states it.
    pub fn new() -> Self
    where
        W: TypedObject,
    {
        Self::of(Kind::typed())
    }

    /// All events of any kind.
    pub fn of(kind: Kind<W>) -> Self {
        Self { kind, predicates: Vec::new() }
    }

    /// Only events that `predicate` passes; of several, all must.
    pub fn with_predicate(mut self, predicate: impl Predicate<W>) -> Self {
        self.predicates.push(Arc::new(predicate));
        self
    }

    fn feed<H: Handler<W>>(self, cache: &Cache, handler: H) -> Box<dyn Feed> {
        Box::new(KindFeed { source: InformerSource::new(cache, &self.kind), predicates: self.predicates, handler })
    }
}

impl<W: TypedObject> Default for Watch<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl Controller<controller_runtime_scheme::Unstructured> {
    /// A controller of the objects of a kind whose type states it.
    pub fn for_kind<K: TypedObject>() -> Controller<K> {
        Controller::of(Kind::typed())
    }
}

impl<K: Object> Controller<K> {
    /// A controller of the objects of any kind.
    pub fn of(kind: Kind<K>) -> Self {
        Self {
            kind,
            name: None,
            predicates: Vec::new(),
            watches: Vec::new(),
            backoff: ItemBackoff::default(),
            max_concurrent: 1,
            sync_timeout: Duration::from_mins(2),
            options: Options { timeout: None, recover_panics: true },
        }
    }

    /// Its name in logs, metrics and errors, unique within the host. By default the kind's name in lower case.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Only events of its own kind that `predicate` passes lead to a reconcile; of several predicates, all must pass.
    pub fn with_predicate(mut self, predicate: impl Predicate<K>) -> Self {
        self.predicates.push(Arc::new(predicate));
        self
    }

    /// Events of objects of kind `C` lead to a reconcile of the object that controls them: the owner that is marked as
    /// the controller, in whatever version of its group.
    pub fn owns<C: TypedObject>(self) -> Self {
        self.owns_watch(Watch::<C>::new())
    }

    /// [`Controller::owns`] for any kind, with predicates.
    pub fn owns_watch<C: Object>(mut self, watch: Watch<C>) -> Self {
        let owner = ControllerOwner::of(&self.kind);
        self.watches.push(Box::new(move |cache| watch.feed(cache, owner)));
        self
    }

    /// Events of objects of kind `W` lead to reconciles of the objects that `map` names. Of an update it is called with
    /// what the object was and with what it is, and each name counts once. It may look objects up in the cache, and
    /// should be quick: events wait for it.
    pub fn watches<W: TypedObject>(self, map: impl Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.watches_mapped(Watch::<W>::new(), map)
    }

    /// [`Controller::watches`] for any kind, with predicates.
    pub fn watches_mapped<W: Object>(
        mut self,
        watch: Watch<W>,
        map: impl Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.watches.push(Box::new(move |cache| watch.feed(cache, Mapped::new(map, cache.clone()))));
        self
    }

    /// How many reconciles, of different objects, may run at a time; at least and by default 1.
    pub fn max_concurrent(mut self, reconciles: usize) -> Self {
        self.max_concurrent = reconciles.max(1);
        self
    }

    /// How long objects wait after failures; by default 5 ms, doubling up to 1000 s.
    pub fn backoff(mut self, backoff: ItemBackoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// How long the caches of the watched kinds may take to get all objects before the controller gives up; by default
    /// 2 minutes.
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.sync_timeout = timeout;
        self
    }

    /// A reconcile that takes longer is dropped, counts as a transient error and is tried again. By default it may take
    /// as long as it likes.
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Whether a reconcile that panics counts as a transient error, which is the default, or ends the host.
    pub fn recover_panics(mut self, recover: bool) -> Self {
        self.options.recover_panics = recover;
        self
    }

    /// Lets `host` run the controller with `reconciler`. Gives an error when a controller of its name is there, or the
    /// host is stopping.
    ///
    /// Writes of the reconciler are attributed to the host's field manager or, when it has none, to the controller's
    /// name.
    pub fn run<R: Reconciler<K>>(self, reconciler: R, host: &(impl Host + ?Sized)) -> Result<(), AddError> {
        let name = self.name.unwrap_or_else(|| self.kind.name().to_ascii_lowercase());
        let (ambient, cache) = (host.ambient().clone(), host.cache());
        let own = Watch { kind: self.kind.clone(), predicates: self.predicates };
        let mut feeds = vec![own.feed(cache, Itself)];
        feeds.extend(self.watches.into_iter().map(|set_up| set_up(cache)));
        let live = host.client().live();
        let client = match live.field_manager() {
            Some(_) => host.client().clone(),
            None => host.client().with_client(live.clone().with_field_manager(&name)),
        };
        let worker = Worker {
            controller: name.clone(),
            reconciler: Arc::new(reconciler),
            store: cache.reader(&self.kind),
            client,
            ambient: ambient.clone(),
            metrics: host.metrics().controller(&name, self.max_concurrent),
            options: self.options,
        };
        let running = Running {
            name: name.clone(),
            ambient,
            metrics: host.metrics().clone(),
            backoff: self.backoff,
            max_concurrent: self.max_concurrent,
            sync_timeout: self.sync_timeout,
            worker,
        };
        host.add(Runnable::new(format!("controller {name}"), move |token| running.run::<K>(feeds, token)))
    }
}
