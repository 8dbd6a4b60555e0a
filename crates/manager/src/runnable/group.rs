use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_controller::{Runnable, Stage};
use futures::FutureExt as _;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use crate::error::ManagerError;
use crate::runnable::{Failure, StillRunning};

/// An aborted task ends at its next await. One that has none within this time blocks its thread, and waiting for it
/// would take as long as that does.
const ABORT_WITHIN: Duration = Duration::from_secs(1);

/// The runnables of one stage: they start together and stop together.
#[derive(Debug)]
pub(crate) struct Group {
    stage: Stage,
    ambient: Ambient,
    token: CancellationToken,
    failure: Failure,
    members: Mutex<Members>,
}

#[derive(Debug)]
enum Members {
    Waiting(Vec<Runnable>),
    Started(Vec<Member>),
    Stopped,
}

#[derive(Debug)]
struct Member {
    name: String,
    task: Task<()>,
}

impl Group {
    pub(crate) fn new(stage: Stage, ambient: &Ambient, failure: &Failure) -> Self {
        Self {
            stage,
            ambient: ambient.clone(),
            token: CancellationToken::new(),
            failure: failure.clone(),
            members: Mutex::new(Members::Waiting(Vec::new())),
        }
    }

    /// Starts a runnable if the group has started, else keeps it until then. After the stop it is dropped.
    pub(crate) fn add(&self, runnable: Runnable) {
        match &mut *self.members.lock() {
            Members::Waiting(waiting) => waiting.push(runnable),
            Members::Started(running) => {
                running.retain(|member| !member.task.is_finished());
                running.push(self.spawn(runnable));
            }
            Members::Stopped => {}
        }
    }

    /// Starts all that was added so far, in that order.
    pub(crate) fn start(&self) {
        let mut members = self.members.lock();
        if let Members::Waiting(waiting) = &mut *members {
            let waiting = std::mem::take(waiting);
            *members = Members::Started(waiting.into_iter().map(|runnable| self.spawn(runnable)).collect());
        }
    }

    /// Its error or panic is reported as the manager's failure.
    fn spawn(&self, runnable: Runnable) -> Member {
        let (token, failure, name) = (self.token.clone(), self.failure.clone(), runnable.name().to_owned());
        tracing::debug!(name, stage = ?self.stage, "starting");
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
        Member { name, task }
    }

    /// Tells all to stop. Those that have not started never will.
    pub(crate) fn tell_to_stop(&self) {
        self.token.cancel();
        let mut members = self.members.lock();
        if let Members::Waiting(waiting) = &mut *members {
            let never_started = std::mem::take(waiting);
            *members = Members::Stopped;
            drop(members);
            drop(never_started);
        }
    }

    /// Waits for all until `deadline`, or without end when there is none, then aborts those that still run and waits
    /// for their end, too. Gives those that had to be aborted.
    pub(crate) async fn ended(&self, deadline: Option<Instant>) -> Vec<StillRunning> {
        let mut late = Vec::new();
        for mut member in self.take() {
            let ended = match deadline {
                Some(deadline) => timeout_at(deadline, &mut member.task).await.is_ok(),
                None => (&mut member.task).await.map_or(true, |()| true),
            };
            if !ended {
                tracing::error!(name = member.name, "still running at the end of the graceful time-out: aborting");
                member.task.abort();
                late.push(member);
            }
        }
        let mut still_running = Vec::new();
        for mut member in late {
            let ended = timeout(ABORT_WITHIN, &mut member.task).await.is_ok();
            if !ended {
                tracing::error!(name = member.name, "blocks its thread: going on without waiting for its end");
            }
            still_running.push(StillRunning { name: member.name, stage: self.stage, ended });
        }
        still_running
    }

    /// Aborts all.
    pub(crate) fn abort(&self) {
        self.token.cancel();
        // Dropping a task aborts it; its end may take locks, so not under ours.
        let running = self.take();
        drop(running);
    }

    fn take(&self) -> Vec<Member> {
        match std::mem::replace(&mut *self.members.lock(), Members::Stopped) {
            Members::Started(running) => running,
            Members::Waiting(_) | Members::Stopped => Vec::new(),
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
