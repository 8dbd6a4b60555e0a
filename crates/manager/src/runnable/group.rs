use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_controller::Runnable;
use futures::FutureExt as _;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::error::ManagerError;
use crate::runnable::Failure;

/// A runnable's name and its task.
type Named = (String, Task<()>);

/// Runnables that start and stop together. A stop of the group waits for all of them.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    ambient: Ambient,
    token: CancellationToken,
    failure: Failure,
    running: Arc<Mutex<Vec<Named>>>,
}

impl Group {
    pub(crate) fn new(ambient: &Ambient, failure: &Failure) -> Self {
        Self {
            ambient: ambient.clone(),
            token: CancellationToken::new(),
            failure: failure.clone(),
            running: Arc::default(),
        }
    }

    /// Starts a runnable. Its error or panic is reported as the manager's failure.
    pub(crate) fn start(&self, runnable: Runnable) {
        let (token, failure, name) = (self.token.clone(), self.failure.clone(), runnable.name().to_owned());
        tracing::debug!(name, "starting");
        let task = self.ambient.spawn("runnable", {
            let name = name.clone();
            async move {
                let source = match AssertUnwindSafe(runnable.run(token)).catch_unwind().await {
                    Ok(Ok(())) => return tracing::debug!(name, "ended"),
                    Ok(Err(source)) => source,
                    Err(panic) => format!("panic: {}", message(panic.as_ref())).into(),
                };
                failure.report(ManagerError::Runnable { name, source });
            }
        });
        let mut running = self.running.lock();
        running.retain(|(_, task)| !task.is_finished());
        running.push((name, task));
    }

    /// Tells all to stop and waits for them until `deadline`, or without end when there is none. Gives the names of
    /// those that had to be aborted.
    pub(crate) async fn stop(&self, deadline: Option<Instant>) -> Vec<String> {
        self.token.cancel();
        let mut late = Vec::new();
        loop {
            let batch = std::mem::take(&mut *self.running.lock());
            if batch.is_empty() {
                return late;
            }
            for (name, mut task) in batch {
                let ended = match deadline {
                    Some(deadline) => timeout_at(deadline, &mut task).await.is_ok(),
                    None => task.join().map(|_| true).await,
                };
                if !ended {
                    tracing::error!(name, "still running at the end of the graceful time-out: aborting");
                    late.push(name);
                }
            }
        }
    }

    /// Aborts all.
    pub(crate) fn abort(&self) {
        self.token.cancel();
        // Dropping a task aborts it; its end may take locks, so not under ours.
        let running = std::mem::take(&mut *self.running.lock());
        drop(running);
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
