use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskError};
use controller_runtime_cache::CacheError;
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::{Object, ObjectKey};
use controller_runtime_workqueue::{ItemBackoff, Queue};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::metrics::{QueueObserver, observe};
use crate::reconciler::Reconciler;
use crate::source::{Fed, Feed};
use crate::store::Store;
use crate::worker::Worker;

/// A controller that is ready to run.
pub(crate) struct Running<R, S> {
    pub(crate) name: String,
    pub(crate) ambient: Ambient,
    pub(crate) metrics: Registry,
    pub(crate) backoff: ItemBackoff,
    pub(crate) max_concurrent: usize,
    pub(crate) sync_timeout: Duration,
    pub(crate) worker: Worker<R, S>,
}

/// A controller ended badly. The host that runs it knows its name, so the text doesn't tell it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// The cache did not have all objects of a watched kind in time: the server doesn't serve the kind, access is
    /// denied, or it is slow.
    #[error("{source}")]
    CacheSync {
        /// The controller.
        controller: String,
        /// Which kind, and why.
        source: CacheError,
    },
    /// A reconcile panicked, and the controller isn't to recover.
    #[error("{source}")]
    Task {
        /// The controller.
        controller: String,
        /// The panic.
        source: TaskError,
    },
}

impl<R, S> Running<R, S> {
    /// Runs on what `feeds` lead to the queue until the token is cancelled or something breaks.
    pub(crate) async fn run<K>(self, feeds: Vec<Box<dyn Feed>>, token: CancellationToken) -> Result<(), ControllerError>
    where
        K: Object,
        R: Reconciler<K>,
        S: Store<K>,
    {
        let metrics = self.metrics.workqueue(&self.name, &self.name);
        let observer = Arc::new(QueueObserver(metrics.clone()));
        let queue = Queue::builder(&self.ambient).rate_limiter(self.backoff.clone()).observer(observer).build();
        observe(&metrics, &queue);
        let feeds: Vec<_> = feeds.into_iter().map(|feed| feed.start(queue.clone())).collect();
        let result = tokio::select! {
            biased;
            // A stop while it waits is no error.
            () = token.cancelled() => Ok(()),
            synced = self.sync(&feeds) => match synced {
                Ok(()) => self.work::<K>(&queue, &token).await,
                Err(source) => Err(ControllerError::CacheSync { controller: self.name, source }),
            },
        };
        queue.shutdown();
        result
    }

    /// Waits until all feeds have fed their initial lists.
    async fn sync(&self, feeds: &[Box<dyn Fed>]) -> Result<(), CacheError> {
        let started = Instant::now();
        for feed in feeds {
            feed.synced(self.sync_timeout.saturating_sub(started.elapsed())).await?;
        }
        Ok(())
    }

    /// Lets workers work until the controller is to stop, or one panics, and waits for their end.
    async fn work<K>(self, queue: &Queue<ObjectKey>, token: &CancellationToken) -> Result<(), ControllerError>
    where
        K: Object,
        R: Reconciler<K>,
        S: Store<K>,
    {
        tracing::info!(controller = self.name, workers = self.max_concurrent, "starting workers");
        let stop = token.child_token();
        let worker = Arc::new(self.worker);
        let workers = (0..self.max_concurrent).map(|_| {
            let (worker, queue, stop) = (worker.clone(), queue.clone(), stop.clone());
            self.ambient.spawn("worker", async move { worker.run::<K>(queue, stop).await })
        });
        // Workers end when they are told to, which lets the reconciles that run end, or by a panic.
        let mut workers: FuturesUnordered<_> = workers.collect();
        let mut result = Ok(());
        while let Some(ended) = workers.next().await {
            if let Err(source) = ended {
                stop.cancel();
                result = result.and(Err(ControllerError::Task { controller: self.name.clone(), source }));
            }
        }
        tracing::info!(controller = self.name, "stopped");
        result
    }
}

#[cfg(test)]
mod tests;
