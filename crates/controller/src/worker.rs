use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_cache::DelegatingClient;
use controller_runtime_client::ErrorClass;
use controller_runtime_metrics::{ControllerMetrics, Outcome};
use controller_runtime_scheme::{Object, ObjectKey};
use controller_runtime_workqueue::{Add, Item, ItemBackoff, Queue};
use futures::FutureExt as _;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::action::{Action, Requeue};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::reconciler::Reconciler;
use crate::store::Store;

/// However long a server asks to wait, an object is tried again after this time: the longest back-off.
const MAX_RETRY_AFTER: Duration = ItemBackoff::DEFAULT_MAX;

/// What the workers of one controller share.
#[derive(Debug)]
pub(crate) struct Worker<R, S> {
    pub(crate) controller: String,
    pub(crate) reconciler: Arc<R>,
    pub(crate) store: S,
    pub(crate) client: DelegatingClient,
    pub(crate) ambient: controller_runtime_ambient::Ambient,
    pub(crate) metrics: ControllerMetrics,
    pub(crate) options: Options,
}

/// How reconciles are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// A reconcile that takes longer is dropped and counts as a transient error. None: it may take as long as it likes.
    pub(crate) timeout: Option<Duration>,
    /// Whether a panic counts as a transient error instead of ending the controller.
    pub(crate) recover_panics: bool,
}

/// A reconcile that did not end by itself.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("panic: {0} [recovered]")]
    Panicked(String),
    #[error("the reconcile did not end within {0:?}")]
    TimedOut(Duration),
}

impl<R, S> Worker<R, S> {
    /// Works until the queue is closed.
    pub(crate) async fn run<K>(&self, queue: Queue<ObjectKey>, token: CancellationToken)
    where
        K: Object,
        R: Reconciler<K>,
        S: Store<K>,
    {
        loop {
            let item = tokio::select! {
                biased;
                () = token.cancelled() => return,
                item = queue.get() => item,
            };
            match item {
                Some(item) => self.process(&item, &token).await,
                None => return,
            }
        }
    }

    async fn process<K>(&self, item: &Item<ObjectKey>, token: &CancellationToken)
    where
        K: Object,
        R: Reconciler<K>,
        S: Store<K>,
    {
        let id = self.ambient.uuid();
        let key = item.key();
        let span = tracing::info_span!(
            "reconcile",
            controller = self.controller,
            namespace = key.namespace,
            name = key.name,
            reconcile_id = id,
        );
        async {
            match self.store.get(key).await {
                Ok(Some(object)) => {
                    let cx = Context::new(self.client.clone(), self.ambient.clone(), key.clone(), id, token.clone());
                    self.reconcile(&cx, object, item).await;
                }
                Ok(None) => {
                    tracing::debug!("the object is gone: nothing to reconcile");
                    item.forget();
                }
                Err(error) if error.class() == ErrorClass::Terminal => {
                    tracing::error!(%error, "cannot read the object: waiting for its next change");
                    item.forget();
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot read the object: trying again");
                    item.requeue_rate_limited();
                }
            }
        }
        .instrument(span)
        .await;
    }

    async fn reconcile<K>(&self, cx: &Context, object: Arc<K>, item: &Item<ObjectKey>)
    where
        R: Reconciler<K>,
    {
        let active = self.metrics.started();
        let started = Instant::now();
        let result = self.attempt(cx, object).await;
        let outcome = match result {
            Ok(action) => requeue(action, item),
            Err(error) => {
                self.put_off(&error, item);
                Outcome::Error
            }
        };
        self.metrics.ended(outcome, started.elapsed());
        drop(active);
    }

    /// Calls the reconciler within its time, and makes an error of a panic.
    async fn attempt<K>(&self, cx: &Context, object: Arc<K>) -> Result<Action>
    where
        R: Reconciler<K>,
    {
        let attempt = AssertUnwindSafe(async { self.reconciler.reconcile(cx, object).await }).catch_unwind();
        let ended = match self.options.timeout {
            None => attempt.await,
            Some(timeout) => {
                let Ok(ended) = tokio::time::timeout(timeout, attempt).await else {
                    self.metrics.timed_out();
                    return Err(Error::transient(Broken::TimedOut(timeout)));
                };
                ended
            }
        };
        ended.unwrap_or_else(|panic| {
            if !self.options.recover_panics {
                std::panic::resume_unwind(panic);
            }
            self.metrics.panicked();
            Err(Error::transient(Broken::Panicked(message(panic.as_ref()))))
        })
    }

    fn put_off(&self, error: &Error, item: &Item<ObjectKey>) {
        if error.is_terminal() {
            self.metrics.terminal_error();
            // Nothing is to be tried again, so there is no back-off to remember either.
            item.forget();
            tracing::error!(%error, "the reconcile failed and is not tried again until something changes");
            return;
        }
        let wait = error.retry_after().unwrap_or_default().min(MAX_RETRY_AFTER);
        item.requeue(Add::rate_limited().at_least_after(wait).priority(item.priority()));
        tracing::error!(%error, failures = item.num_requeues(), "the reconcile failed and will be tried again");
    }
}

/// Does what the reconciler asks for.
fn requeue(action: Action, item: &Item<ObjectKey>) -> Outcome {
    let priority = action.priority.unwrap_or(item.priority());
    match action.requeue {
        Requeue::Never => {
            item.forget();
            Outcome::Success
        }
        Requeue::After(delay) => {
            item.forget();
            item.requeue(Add::after(delay).priority(priority));
            Outcome::RequeueAfter
        }
        Requeue::WithBackoff => {
            item.requeue(Add::rate_limited().priority(priority));
            Outcome::Requeue
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use controller_runtime_ambient::Ambient;
    use controller_runtime_cache::CacheError;
    use controller_runtime_metrics::Registry;
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::{Action, Arc, CancellationToken, Context, Duration, Error, ObjectKey, Options, Queue, Store, Worker};
    use crate::reconciler::Reconciler;
    use crate::testing;

    struct Idle;

    impl Reconciler<ConfigMap> for Idle {
        async fn reconcile(&self, _: &Context, _: Arc<ConfigMap>) -> Result<Action, Error> {
            Ok(Action::done())
        }
    }

    /// Counts reads, which all fail.
    #[derive(Clone)]
    struct Unreadable {
        reads: Arc<AtomicUsize>,
        error: fn() -> CacheError,
    }

    impl Store<ConfigMap> for Unreadable {
        async fn get(&self, _: &ObjectKey) -> Result<Option<Arc<ConfigMap>>, CacheError> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            Err((self.error)())
        }
    }

    /// How often an object is read within a minute that gives this error each time.
    async fn reads(error: fn() -> CacheError) -> usize {
        let ambient = Ambient::seeded(0);
        let store = Unreadable { reads: Arc::default(), error };
        let worker = Worker {
            controller: "test".to_owned(),
            reconciler: Arc::new(Idle),
            store: store.clone(),
            client: testing::client(&ambient),
            ambient: ambient.clone(),
            metrics: Registry::new().controller("test", 1),
            options: Options { timeout: None, recover_panics: true },
        };
        let (queue, token) = (Queue::new(&ambient), CancellationToken::new());
        queue.add(ObjectKey::namespaced("elsewhere", "a"));
        let running = worker.run::<ConfigMap>(queue, token);
        let ended = tokio::time::timeout(Duration::from_mins(1), running).await;
        assert!(ended.is_err(), "a worker goes on after an error");
        store.reads.load(Ordering::SeqCst)
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_is_tried_again_only_if_that_can_help() {
        let unknown =
            || CacheError::UnknownNamespace { kind: "ConfigMap/v1".to_owned(), namespace: "elsewhere".to_owned() };
        assert_eq!(reads(unknown).await, 1);
        let late = || CacheError::NotStarted { kind: "ConfigMap/v1".to_owned() };
        assert!(reads(late).await > 5);
    }
}
