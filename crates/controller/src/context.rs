use std::ops::Deref;
use std::sync::Arc;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::DelegatingClient;
use controller_runtime_scheme::ObjectKey;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::run_tasks::RunTasks;

/// What a reconcile works with. It is the controller's client as well: `cx.get`, `cx.apply` and the others are those of
/// [`DelegatingClient`], which reads from the cache, never older than this program's own writes, and writes to the
/// server. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Context {
    run: Arc<Run>,
}

/// One run of a reconciler.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) client: DelegatingClient,
    pub(crate) ambient: Ambient,
    pub(crate) key: ObjectKey,
    pub(crate) reconcile_id: String,
    pub(crate) attempt: u32,
    pub(crate) priority: i32,
    pub(crate) deadline: Option<Instant>,
    pub(crate) token: CancellationToken,
    pub(crate) span: Span,
    pub(crate) tasks: RunTasks,
}

impl Context {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// The client, for code that wants one.
    pub fn client(&self) -> &DelegatingClient {
        &self.run.client
    }

    /// Clock, randomness and ids.
    pub fn ambient(&self) -> &Ambient {
        &self.run.ambient
    }

    /// The key of the object that is being reconciled.
    pub fn key(&self) -> &ObjectKey {
        &self.run.key
    }

    /// Tells this reconcile from all others, in logs and traces.
    pub fn reconcile_id(&self) -> &str {
        &self.run.reconcile_id
    }

    /// Which attempt this is: 1, and one more for each failure and each [`Action::requeue`](crate::Action::requeue) of
    /// the object since it last was done.
    pub fn attempt(&self) -> u32 {
        self.run.attempt
    }

    /// The priority with which the object was queued.
    pub fn priority(&self) -> i32 {
        self.run.priority
    }

    /// When this reconcile is dropped if it hasn't ended; see
    /// [`Controller::reconcile_timeout`](crate::Controller::reconcile_timeout).
    pub fn deadline(&self) -> Option<Instant> {
        self.run.deadline
    }

    /// The span in which the reconcile runs, for work that is done elsewhere on its behalf.
    pub fn span(&self) -> &Span {
        &self.run.span
    }

    /// Waits until the controller stops: a reconcile that takes long should end then. Cancel safe.
    pub async fn cancelled(&self) {
        self.run.token.cancelled().await;
    }

    /// Whether the controller is stopping, or this reconcile has ended.
    pub fn is_cancelled(&self) -> bool {
        self.run.token.is_cancelled()
    }

    /// What is cancelled when the controller stops or this reconcile ends.
    pub fn token(&self) -> &CancellationToken {
        &self.run.token
    }

    /// Runs a task beside the reconcile, in its span. It ends with the reconcile, however that ends: what of it still
    /// runs then is dropped, before anybody reconciles the object again. A panic of it is logged.
    ///
    /// `name` shows in logs. After the reconcile has ended nothing is started any more.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.run.tasks.spawn(&self.run.ambient, name, task.instrument(self.run.span.clone()));
    }
}

impl Deref for Context {
    type Target = DelegatingClient;

    fn deref(&self) -> &DelegatingClient {
        &self.run.client
    }
}
