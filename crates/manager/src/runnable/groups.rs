use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_controller::{Runnable, Stage};
use tokio::time::Instant;

use crate::runnable::{Failure, Group, StillRunning};

/// What the cache and the servers have at least: they are told to stop only after the others have ended, whose slowness
/// is not theirs.
const OWN_PARTS: Duration = Duration::from_secs(2);

/// A manager's runnables, by stage.
#[derive(Debug)]
pub(crate) struct Groups {
    pub(crate) servers: Group,
    pub(crate) caches: Group,
    pub(crate) others: Group,
    pub(crate) warm_up: Group,
    pub(crate) leaders: Group,
    pub(crate) failure: Failure,
}

impl Groups {
    pub(crate) fn new(ambient: &Ambient) -> Self {
        let failure = Failure::default();
        let group = |stage| Group::new(stage, ambient, &failure);
        Self {
            servers: group(Stage::Servers),
            caches: group(Stage::Caches),
            others: group(Stage::Others),
            warm_up: group(Stage::WarmUp),
            leaders: group(Stage::Leaders),
            failure: failure.clone(),
        }
    }

    /// Adds a runnable to the group of its stage.
    pub(crate) fn add(&self, runnable: Runnable) {
        let group = match runnable.stage() {
            Stage::Servers => &self.servers,
            Stage::Caches => &self.caches,
            Stage::Others => &self.others,
            Stage::WarmUp => &self.warm_up,
            _ => &self.leaders,
        };
        group.add(runnable);
    }

    /// Stops first what does the program's work, then the caches that it reads from, then the servers, all within
    /// `timeout`; without one, however long that takes. Gives what had to be aborted.
    pub(crate) async fn stop(&self, timeout: Option<Duration>) -> Vec<StillRunning> {
        // A time-out that no clock reaches is none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let working = [&self.others, &self.warm_up, &self.leaders];
        for group in working {
            group.tell_to_stop();
        }
        let mut late = Vec::new();
        for group in working {
            late.extend(group.ended(deadline).await);
        }
        let own = if timeout.is_some_and(|timeout| timeout.is_zero()) { Duration::ZERO } else { OWN_PARTS };
        for group in [&self.caches, &self.servers] {
            group.tell_to_stop();
            let chance = Instant::now() + own;
            late.extend(group.ended(deadline.map(|deadline| deadline.max(chance))).await);
        }
        late
    }

    /// Aborts everything.
    pub(crate) fn abort(&self) {
        for group in [&self.others, &self.warm_up, &self.leaders, &self.caches, &self.servers] {
            group.abort();
        }
    }
}
