use std::time::Duration;

use controller_runtime_ambient::Ambient;
use tokio::time::Instant;

use crate::runnable::{Failure, Group};

/// What the cache and the servers have at least.
const OWN_PARTS: Duration = Duration::from_secs(1);

/// A manager's groups, in the order of their start. Dropping them aborts what still runs.
#[derive(Debug)]
pub(crate) struct Groups {
    pub(crate) servers: Group,
    pub(crate) caches: Group,
    pub(crate) others: Group,
    pub(crate) failure: Failure,
}

impl Groups {
    pub(crate) fn new(ambient: &Ambient) -> Self {
        let failure = Failure::default();
        let group = || Group::new(ambient, &failure);
        Self { servers: group(), caches: group(), others: group(), failure: failure.clone() }
    }

    /// Stops the groups in the reverse order, within `timeout` for all. Gives the names of the runnables that had to be
    /// aborted.
    pub(crate) async fn stop(&self, timeout: Duration) -> Vec<String> {
        // A time-out that no clock reaches is none.
        let deadline = Instant::now().checked_add(timeout);
        let mut late = Vec::new();
        for (group, own) in [(&self.others, false), (&self.caches, true), (&self.servers, true)] {
            // Our own parts are told to stop only now, and are quick: others' slowness is not theirs.
            let chance = Instant::now() + OWN_PARTS;
            let deadline =
                deadline.map(|deadline| if own && !timeout.is_zero() { deadline.max(chance) } else { deadline });
            late.extend(group.stop(deadline).await);
        }
        late
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for group in [&self.others, &self.caches, &self.servers] {
            group.abort();
        }
    }
}
