use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// A spawned task and its owner's handle: await it for the result, drop it to abort the task.
#[derive(Debug)]
#[must_use = "dropping a task aborts it"]
pub struct Task<T> {
    name: &'static str,
    handle: JoinHandle<T>,
}

/// A task ended without a result.
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskError {
    /// It panicked; the text is the panic's message.
    Panicked {
        /// The task's name.
        task: &'static str,
        /// The panic's message.
        message: String,
    },
    /// It was aborted, or its runtime shut down.
    Aborted {
        /// The task's name.
        task: &'static str,
    },
}

impl std::fmt::Display for TaskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Panicked { task, message } => write!(f, "task {task} panicked: {message}"),
            Self::Aborted { task } => write!(f, "task {task} was aborted"),
        }
    }
}

impl std::error::Error for TaskError {}

impl<T: Send + 'static> Task<T> {
    pub(crate) fn spawn<F>(name: &'static str, future: F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let span = tracing::debug_span!("task", name);
        // The one seam through which this project spawns.
        #[allow(clippy::disallowed_methods, reason = "this is the seam that the lint sends everybody to")]
        let handle = tokio::spawn(future.instrument(span));
        Self { name, handle }
    }

    /// Waits for the result. Cancel safe in the sense that dropping the future aborts the task.
    pub async fn join(self) -> Result<T, TaskError> {
        self.await
    }

    /// Asks the task to stop at its next await.
    pub fn abort(&self) {
        self.handle.abort();
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let name = self.name;
        Pin::new(&mut self.handle).poll(cx).map_err(|error| match error.try_into_panic() {
            Ok(payload) => TaskError::Panicked { task: name, message: panic_message(payload.as_ref()) },
            Err(_) => TaskError::Aborted { task: name },
        })
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// Tasks with one owner: cancelled together, awaited together, aborted when the group is dropped.
#[derive(Clone, Debug)]
pub struct TaskGroup {
    ambient: crate::Ambient,
    cancel: CancellationToken,
    tasks: Arc<Mutex<Vec<Task<()>>>>,
}

impl TaskGroup {
    /// An empty group whose token is a child of `parent`.
    pub fn new(ambient: &crate::Ambient, parent: &CancellationToken) -> Self {
        Self { ambient: ambient.clone(), cancel: parent.child_token(), tasks: Arc::default() }
    }

    /// The token that tells the group's tasks to stop.
    pub fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Spawns a task into the group. Tasks that have ended are forgotten here, so a group that lives long does not
    /// grow.
    pub fn spawn<F>(&self, name: &'static str, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let task = self.ambient.spawn(name, future);
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Cancels the token and waits until every task has ended. A task's panic is logged. When the future is dropped,
    /// the tasks it was still waiting for are aborted.
    pub async fn shutdown(&self) {
        self.cancel.cancel();
        loop {
            let batch = std::mem::take(&mut *self.tasks.lock());
            if batch.is_empty() {
                return;
            }
            for task in batch {
                if let Err(error) = task.await {
                    tracing::error!(%error, "a task ended badly");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::{TaskError, TaskGroup};
    use crate::Ambient;

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_message() {
        let task = Ambient::seeded(0).spawn("boom", async { panic!("bad {}", 1) });
        let error: Result<(), TaskError> = task.join().await;
        assert_eq!(error.expect_err("it panicked").to_string(), "task boom panicked: bad 1");
    }

    #[tokio::test]
    async fn dropping_a_task_aborts_it() {
        let held = std::sync::Arc::new(());
        let inside = held.clone();
        let task = Ambient::seeded(0).spawn("held", async move {
            std::future::pending::<()>().await;
            drop(inside);
        });
        tokio::task::yield_now().await;
        drop(task);
        tokio::task::yield_now().await;
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
    }

    #[tokio::test]
    async fn a_group_waits_for_all() {
        let group = TaskGroup::new(&Ambient::seeded(0), &CancellationToken::new());
        let done = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for _ in 0..3 {
            let (token, done) = (group.token().clone(), done.clone());
            group.spawn("member", async move {
                token.cancelled().await;
                done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            });
        }
        group.shutdown().await;
        assert_eq!(done.load(std::sync::atomic::Ordering::SeqCst), 3);
    }
}
