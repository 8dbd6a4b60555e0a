mod attempt;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::DelegatingClient;
use controller_runtime_metrics::{ControllerMetrics, Outcome};
use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::{Add, Item, ItemBackoff, Queue};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::action::{Action, Requeue};
use crate::context::Run;
use crate::error::Error;
use crate::reconciler::Reconciler;
use crate::run_tasks::RunTasks;
use crate::runs::Runs;
use crate::store::Store;

use attempt::Ended;

/// However long a server asks to wait, an object is tried again after this time: the longest back-off.
const MAX_RETRY_AFTER: Duration = ItemBackoff::DEFAULT_MAX;

/// What the workers of one controller share.
pub(crate) struct Worker<K, R> {
    pub(crate) controller: String,
    pub(crate) reconciler: R,
    pub(crate) store: Box<dyn Store<K>>,
    pub(crate) client: DelegatingClient,
    pub(crate) ambient: Ambient,
    pub(crate) metrics: ControllerMetrics,
    pub(crate) options: Options,
    /// There when a newer version of an object is to cancel the run that has an older one.
    pub(crate) runs: Option<Arc<Runs>>,
}

/// How reconciles are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// A reconcile that takes longer is dropped and counts as a transient error. None: it may take as long as it likes.
    pub(crate) timeout: Option<Duration>,
    /// Whether that time includes what the key waited for a worker after it was ready.
    pub(crate) timeout_includes_wait: bool,
    /// Whether a panic counts as a transient error instead of ending the controller.
    pub(crate) recover_panics: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: None, timeout_includes_wait: false, recover_panics: true }
    }
}

impl<K: Send + Sync + 'static, R: Reconciler<K>> Worker<K, R> {
    /// Works until the queue is closed.
    pub(crate) async fn run(&self, queue: Queue<ObjectKey>, token: CancellationToken) {
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

    async fn process(&self, item: &Item<ObjectKey>, stop: &CancellationToken) {
        let reconcile_id = self.ambient.uuid();
        let key = item.key();
        let span = tracing::info_span!(
            "reconcile",
            controller = self.controller,
            namespace = key.namespace,
            name = key.name,
            reconcile_id,
        );
        let taken = Instant::now();
        let run = RunGuard(Arc::new(Run {
            client: self.client.clone(),
            ambient: self.ambient.clone(),
            key: key.clone(),
            reconcile_id,
            attempt: item.num_requeues().saturating_add(1),
            priority: item.priority(),
            deadline: self.deadline(taken, item),
            token: stop.child_token(),
            span: span.clone(),
            tasks: RunTasks::new(),
        }));
        async {
            let active = self.metrics.started();
            let ended = self.attempt(&run.0).await;
            run.0.token.cancel();
            run.0.tasks.end().await;
            if let Some(outcome) = self.settle(ended, item) {
                self.metrics.ended(outcome, taken.elapsed());
            }
            drop(active);
        }
        .instrument(span)
        .await;
    }

    /// When the run has to be over; none when no clock reaches that.
    fn deadline(&self, taken: Instant, item: &Item<ObjectKey>) -> Option<Instant> {
        let timeout = self.options.timeout?;
        let waited = if self.options.timeout_includes_wait { item.waited() } else { Duration::ZERO };
        taken.checked_add(timeout.saturating_sub(waited))
    }

    /// Does what the end of a run asks for. Gives what it counts as; a run that did not come to reconcile is none.
    fn settle(&self, ended: Ended, item: &Item<ObjectKey>) -> Option<Outcome> {
        match ended {
            Ended::Gone => {
                tracing::debug!("the object is gone: nothing to reconcile");
                item.forget();
                None
            }
            Ended::Superseded => {
                // The event that told of the newer version has queued the key. Should that event be of an object that
                // is queued again for no other reason, this keeps it from being lost.
                tracing::debug!("there is a newer version of the object: reconciling that one");
                item.requeue(Add::now().priority(item.priority()));
                Some(Outcome::Requeue)
            }
            Ended::Acted(action) => Some(requeue(action, item)),
            Ended::Failed(error) => {
                self.put_off(&error, item);
                Some(Outcome::Error)
            }
        }
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
        let priority = error.priority().unwrap_or(item.priority());
        item.requeue(Add::rate_limited().at_least_after(wait).priority(priority));
        tracing::error!(%error, failures = item.num_requeues(), "the reconcile failed and will be tried again");
    }
}

/// However a run ends, by an abort of its worker included, its tasks end with it.
struct RunGuard(Arc<Run>);

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.0.token.cancel();
        drop(self.0.tasks.close());
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
