use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::Queue;

/// How a source's run ends.
pub(crate) type Ending = Pin<Box<dyn Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send>>;

/// A source, with the predicates and the handler that lead from its events to keys, whatever its type.
pub(crate) struct Feed {
    pub(crate) name: String,
    pub(crate) run: Box<dyn FnOnce(Inlet) -> Ending + Send>,
}

/// What a feed leads into.
pub(crate) struct Inlet {
    pub(crate) queue: Queue<ObjectKey>,
    pub(crate) synced: CancellationToken,
    pub(crate) sync_timeout: Duration,
}

/// A feed that was started; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) name: String,
    pub(crate) synced: CancellationToken,
    pub(crate) task: Task<Result<(), Box<dyn StdError + Send + Sync>>>,
}

impl Feed {
    /// Feeds the queue from now on.
    pub(crate) fn start(self, ambient: &Ambient, queue: &Queue<ObjectKey>, sync_timeout: Duration) -> Started {
        let synced = CancellationToken::new();
        let inlet = Inlet { queue: queue.clone(), synced: synced.clone(), sync_timeout };
        let (running, ended) = ((self.run)(inlet), synced.clone());
        let task = ambient.spawn("source", async move {
            running.await?;
            ended.cancel();
            Ok(())
        });
        Started { name: self.name, synced, task }
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("name", &self.name).finish_non_exhaustive()
    }
}
