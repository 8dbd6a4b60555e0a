use std::error::Error as StdError;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskError};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::{Queue, RateLimiter};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use crate::metrics::{QueueObserver, observe};
use crate::reconciler::Reconciler;
use crate::source::{Feed, Started};
use crate::worker::Worker;

/// How long a source that has not synced in time may take to say why, which tells more than that it hasn't.
const REASON: Duration = Duration::from_millis(100);

/// A controller ended badly. The host that runs it knows its name, so the text doesn't tell it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// A source failed. The source of a kind does when the cache did not have all its objects in time: the server
    /// doesn't serve the kind, access is denied, or it is slow.
    #[error("{error}")]
    Source {
        /// The controller.
        controller: String,
        /// The source: a kind, or what it calls itself.
        name: String,
        /// Why; of a kind, a [`CacheError`](controller_runtime_cache::CacheError).
        #[source]
        error: Box<dyn StdError + Send + Sync>,
    },
    /// A source has not synced in time.
    #[error("timed out waiting for source {name} to sync after {after:?}")]
    SyncTimeout {
        /// The controller.
        controller: String,
        /// The source.
        name: String,
        /// The controller's cache sync time-out.
        after: Duration,
    },
    /// A reconcile panicked and the controller isn't to recover, or a source did.
    #[error("{source}")]
    Task {
        /// The controller.
        controller: String,
        /// The panic.
        source: TaskError,
    },
}

/// What feeds a controller's queue. It starts once: at the latest when the controller runs.
#[derive(Clone)]
pub(crate) struct Intake {
    inner: Arc<IntakeInner>,
}

struct IntakeInner {
    name: String,
    ambient: Ambient,
    metrics: Registry,
    rate_limiter: Arc<dyn RateLimiter<ObjectKey>>,
    sync_timeout: Duration,
    state: Mutex<State>,
}

enum State {
    Closed(Vec<Feed>),
    Open(Open),
    /// The controller has what was open.
    Taken,
}

/// The queue and what feeds it now.
struct Open {
    queue: Queue<ObjectKey>,
    sources: Vec<Started>,
    since: Instant,
}

/// A controller that is ready to run.
pub(crate) struct Running<K, R> {
    pub(crate) intake: Intake,
    pub(crate) max_concurrent: usize,
    pub(crate) worker: Worker<K, R>,
}

impl Intake {
    pub(crate) fn new(
        name: &str,
        ambient: &Ambient,
        metrics: &Registry,
        rate_limiter: Arc<dyn RateLimiter<ObjectKey>>,
        sync_timeout: Duration,
        feeds: Vec<Feed>,
    ) -> Self {
        let inner = IntakeInner {
            name: name.to_owned(),
            ambient: ambient.clone(),
            metrics: metrics.clone(),
            rate_limiter,
            sync_timeout,
            state: Mutex::new(State::Closed(feeds)),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Starts what feeds the queue, before there are workers.
    pub(crate) fn warm_up(&self) {
        let mut state = self.inner.state.lock();
        if let State::Closed(feeds) = &mut *state {
            let feeds = std::mem::take(feeds);
            *state = State::Open(self.inner.start(feeds));
        }
    }

    fn open(&self) -> Open {
        let state = std::mem::replace(&mut *self.inner.state.lock(), State::Taken);
        match state {
            State::Open(open) => open,
            State::Closed(feeds) => self.inner.start(feeds),
            State::Taken => self.inner.start(Vec::new()),
        }
    }
}

impl IntakeInner {
    fn start(&self, feeds: Vec<Feed>) -> Open {
        let metrics = self.metrics.workqueue(&self.name, &self.name);
        let observer = Arc::new(QueueObserver(metrics.clone()));
        let queue = Queue::builder(&self.ambient).rate_limiter(self.rate_limiter.clone()).observer(observer).build();
        observe(&metrics, &queue);
        let started = feeds.into_iter().map(|feed| feed.start(&self.ambient, &queue, self.sync_timeout));
        let sources = started.collect();
        Open { queue, sources, since: Instant::now() }
    }
}

impl<K: Send + Sync + 'static, R: Reconciler<K>> Running<K, R> {
    /// Runs on what the sources lead to the queue until the token is cancelled or something breaks.
    pub(crate) async fn run(self, token: CancellationToken) -> Result<(), ControllerError> {
        let Open { queue, sources, since } = self.intake.open();
        let (controller, sync_timeout) = (self.intake.inner.name.clone(), self.intake.inner.sync_timeout);
        let synced: Vec<_> = sources.iter().map(|source| (source.name.clone(), source.synced.clone())).collect();
        let mut failed = pin!(fail(&controller, sources));
        let sync = async {
            for (name, synced) in synced {
                let left = sync_timeout.saturating_sub(since.elapsed());
                if timeout(left, synced.cancelled()).await.is_err() {
                    tokio::time::sleep(REASON).await;
                    let controller = controller.clone();
                    return Err(ControllerError::SyncTimeout { controller, name, after: sync_timeout });
                }
            }
            Ok(())
        };
        let synced = tokio::select! {
            biased;
            // A stop while it waits is no error.
            () = token.cancelled() => None,
            error = &mut failed => Some(Err(error)),
            synced = sync => Some(synced),
        };
        let result = match synced {
            None => Ok(()),
            Some(Ok(())) => self.work(&queue, &token, failed).await,
            Some(Err(error)) => Err(error),
        };
        queue.shutdown();
        result
    }

    /// Lets workers work until the controller is to stop, or a source fails, or a worker panics, and waits for their end.
    async fn work(
        self,
        queue: &Queue<ObjectKey>,
        token: &CancellationToken,
        mut failed: Pin<&mut impl Future<Output = ControllerError>>,
    ) -> Result<(), ControllerError> {
        let (name, ambient) = (self.intake.inner.name.clone(), self.intake.inner.ambient.clone());
        tracing::info!(controller = name, workers = self.max_concurrent, "starting workers");
        let stop = token.child_token();
        let worker = Arc::new(self.worker);
        let workers = (0..self.max_concurrent).map(|_| {
            let (worker, queue, stop) = (worker.clone(), queue.clone(), stop.clone());
            ambient.spawn("worker", async move { worker.run(queue, stop).await })
        });
        // Workers end when they are told to, which lets the reconciles that run end, or by a panic.
        let mut workers: FuturesUnordered<_> = workers.collect();
        let mut first = None;
        loop {
            let error = tokio::select! {
                biased;
                error = &mut failed, if first.is_none() => error,
                ended = workers.next() => match ended {
                    Some(Ok(())) => continue,
                    Some(Err(source)) => ControllerError::Task { controller: name.clone(), source },
                    None => break,
                },
            };
            stop.cancel();
            first.get_or_insert(error);
        }
        tracing::info!(controller = name, "stopped");
        first.map_or(Ok(()), Err)
    }
}

/// Waits until a source fails. Those that end without an error are done.
async fn fail(controller: &str, sources: Vec<Started>) -> ControllerError {
    let ends = sources.into_iter().map(|source| async move { (source.name, source.task.await) });
    let mut ends: FuturesUnordered<_> = ends.collect();
    while let Some((name, ended)) = ends.next().await {
        let controller = controller.to_owned();
        match ended {
            Ok(Ok(())) => tracing::debug!(controller, name, "a source has ended"),
            Ok(Err(error)) => return ControllerError::Source { controller, name, error },
            Err(source) => return ControllerError::Task { controller, source },
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
