mod keys;
mod run;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_cache::Cache;
use controller_runtime_scheme::{Kind, Object, ObjectKey, TypedObject, Unstructured};
use controller_runtime_workqueue::{ItemBackoff, RateLimiter};

use crate::handler::{Handler, Itself, Owner, controller_owner, mapped};
use crate::predicate::Predicate;
use crate::runs::{Newest, Runs};
use crate::source::Feed;
use crate::store::Store;
use crate::watch::Watch;
use crate::worker::Options;

pub use keys::KeyController;

/// What a controller watches is set up when it is run, with the host's cache at hand.
type SetUp = Box<dyn FnOnce(&Cache) -> Feed + Send>;

/// How the objects of a controller's own kind lead to reconciles of themselves.
type SetUpOwn<K> = Box<dyn FnOnce(&Cache, Vec<Arc<dyn Predicate<K>>>, Option<Arc<Runs>>) -> Feed + Send>;

/// How the objects that are reconciled are found.
type SetUpStore<K> = Box<dyn FnOnce(&Cache) -> Box<dyn Store<K>> + Send>;

/// A controller in the making: which objects it reconciles, what leads to a reconcile, and how reconciles run.
///
/// ```no_run
/// use controller_runtime_controller::{Controller, Host, Reconciler, Watch, predicate};
/// use controller_runtime_scheme::ObjectKey;
/// use k8s_openapi::api::apps::v1::Deployment;
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
///
/// # fn example(reconciler: impl Reconciler<Deployment>, host: &impl Host) -> Result<(), Box<dyn std::error::Error>> {
/// Controller::for_kind::<Deployment>()
///     .with_predicate(predicate::generation_changed())
///     .owns::<ConfigMap>()
///     .owns_watch(Watch::metadata::<Pod>())
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
pub struct Controller<K> {
    name: String,
    /// Its own kind, as owner of others; none when it reconciles keys.
    kind: Option<Owner>,
    own: Option<SetUpOwn<K>>,
    predicates: Vec<Arc<dyn Predicate<K>>>,
    store: SetUpStore<K>,
    watches: Vec<SetUp>,
    rate_limiter: Arc<dyn RateLimiter<ObjectKey>>,
    max_concurrent: Option<usize>,
    sync_timeout: Duration,
    warm_up: bool,
    cancel_outdated: bool,
    options: Options,
}

impl Controller<Unstructured> {
    /// A controller of the objects of a kind whose type states it.
    pub fn for_kind<K: TypedObject>() -> Controller<K> {
        Controller::of(Kind::typed())
    }

    /// A controller that reconciles keys, of objects that exist or not, or of something that isn't an object at all. It
    /// has no kind of its own: what it watches leads to keys.
    pub fn for_keys(name: impl Into<String>) -> KeyController {
        KeyController::new(name.into())
    }
}

impl<K: Object> Controller<K> {
    /// A controller of the objects of any kind.
    pub fn of(kind: Kind<K>) -> Self {
        let (owner, of_own) = (controller_owner(&kind), kind.clone());
        let own: SetUpOwn<K> = Box::new(move |cache, predicates, runs| {
            let own = Watch::of(of_own).with_predicates(predicates);
            match runs {
                Some(runs) => own.feed(cache, Newest(runs)),
                None => own.feed(cache, Itself),
            }
        });
        let store = move |cache: &Cache| -> Box<dyn Store<K>> { Box::new(cache.reader(&kind)) };
        Self { kind: Some(owner.clone()), own: Some(own), ..Self::with(owner.kind().to_ascii_lowercase(), store) }
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
    pub fn owns_watch<C: Object>(self, watch: Watch<C>) -> Self {
        self.owned(watch, |owner| owner)
    }

    /// Events of what is watched lead to reconciles of all its owners of this controller's kind, whether they control it
    /// or not.
    pub fn owns_with_others<C: Object>(self, watch: Watch<C>) -> Self {
        self.owned(watch, Owner::every)
    }

    fn owned<C: Object>(mut self, watch: Watch<C>, which: impl FnOnce(Owner) -> Owner) -> Self {
        if let Some(owner) = self.kind.clone().map(which) {
            self.watches.push(Box::new(move |cache| watch.feed(cache, owner)));
        }
        self
    }

    /// Whether an event of the object itself that passes the predicates cancels a run that was given an older version of
    /// it: the reconciler's future is dropped, and the object is reconciled anew at once. By default it doesn't.
    ///
    /// A reconciler that writes to its own object cancels itself that way, unless a predicate such as
    /// [`generation_changed`](crate::predicate::generation_changed) keeps such events out. A cancelled run counts with
    /// the result `requeue`.
    pub fn cancel_outdated(mut self, cancel: bool) -> Self {
        self.cancel_outdated = cancel;
        self
    }
}

impl<K: Send + Sync + 'static> Controller<K> {
    fn with(name: String, store: impl FnOnce(&Cache) -> Box<dyn Store<K>> + Send + 'static) -> Self {
        Self {
            name,
            kind: None,
            own: None,
            predicates: Vec::new(),
            store: Box::new(store),
            watches: Vec::new(),
            rate_limiter: Arc::new(ItemBackoff::default()),
            max_concurrent: None,
            sync_timeout: Duration::from_mins(2),
            warm_up: false,
            cancel_outdated: false,
            options: Options::default(),
        }
    }

    /// Its name in logs, metrics and errors, unique within the host. By default the kind's name in lower case.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Events of objects of kind `W` lead to reconciles of the objects that `map` names. Of an update it is called with
    /// what the object was and with what it is, and each name counts once. It may look objects up in the cache.
    pub fn watches<W: TypedObject>(self, map: impl Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.watches_mapped(Watch::<W>::new(), map)
    }

    /// [`Controller::watches`] for any kind or source, with predicates.
    pub fn watches_mapped<W: Send + Sync + 'static>(
        mut self,
        watch: Watch<W>,
        map: impl Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.watches.push(Box::new(move |cache| {
            let for_map = cache.clone();
            watch.isolated_feed(cache, mapped(move |object: &W| map(object, &for_map)))
        }));
        self
    }

    /// Events of what is watched lead to reconciles as a [handler](crate::handler) says.
    pub fn watches_with<W: Send + Sync + 'static>(mut self, watch: Watch<W>, handler: impl Handler<W>) -> Self {
        self.watches.push(Box::new(move |cache| watch.isolated_feed(cache, handler)));
        self
    }

    /// How many reconciles, of different objects, may run at a time; at least 1. By default as many as the host says for
    /// the kind ([`Host::concurrency_of`](crate::Host::concurrency_of)), or 1.
    pub fn max_concurrent(mut self, reconciles: usize) -> Self {
        self.max_concurrent = Some(reconciles.max(1));
        self
    }

    /// How long objects wait after failures and after [`Action::requeue`](crate::Action::requeue); by default 5 ms,
    /// doubling up to 1000 s, each object by itself ([`ItemBackoff`]).
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<ObjectKey>) -> Self {
        self.rate_limiter = Arc::new(limiter);
        self
    }

    /// How long the caches of the watched kinds may take to get all objects, and other sources to sync, before the
    /// controller gives up; by default 2 minutes.
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.sync_timeout = timeout;
        self
    }

    /// A reconcile that takes longer, from when a worker takes the key, is dropped, counts as a transient error and is
    /// tried again. By default it may take as long as it likes.
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Whether the reconcile time-out counts from when the key was ready, so that it includes what the key waited for a
    /// worker. By default it doesn't. A key that has waited for longer gets as far as its reconciler's first wait.
    pub fn reconcile_timeout_includes_wait(mut self, includes: bool) -> Self {
        self.options.timeout_includes_wait = includes;
        self
    }

    /// Whether a reconcile that panics counts as a transient error, which is the default, or ends the host.
    pub fn recover_panics(mut self, recover: bool) -> Self {
        self.options.recover_panics = recover;
        self
    }

    /// Whether the queue is filled before the host lets the controller run, while it waits to be elected leader: then it
    /// begins as soon as it leads. By default it isn't. The host starts what fills it in
    /// [`Stage::WarmUp`](crate::Stage::WarmUp).
    pub fn warm_up(mut self, warm_up: bool) -> Self {
        self.warm_up = warm_up;
        self
    }
}

impl<K> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("name", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}
