use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, DelegatingClient};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;

use crate::runnable::Runnable;

/// What a controller needs from whoever runs it. A manager is one.
pub trait Host {
    /// Clock, randomness, ids and tasks.
    fn ambient(&self) -> &Ambient;

    /// Reads from the cache, consistent with its own writes; writes to the server.
    fn client(&self) -> &DelegatingClient;

    /// What the controllers of the host watch, shared between them.
    fn cache(&self) -> &Cache;

    /// Where metrics are kept.
    fn metrics(&self) -> &Registry;

    /// Which Rust type is which kind.
    fn scheme(&self) -> &Scheme;

    /// How many objects of a kind may be reconciled at a time by a controller that doesn't say so itself. By default the
    /// host has no opinion, and it is 1.
    fn concurrency_of(&self, _group: &str, _kind: &str) -> Option<usize> {
        None
    }

    /// Adds something to run. Before the host's start it is kept until then, afterwards it starts at once. Gives an
    /// error when the name is taken, or the host is stopping.
    fn add(&self, runnable: Runnable) -> Result<(), AddError>;
}

/// A host does not take a runnable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// Another runnable of the host has the name.
    #[error("there is a runnable named {name:?} already")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The host is stopping or has stopped.
    #[error("cannot add {name:?}: the host is stopping")]
    Stopping {
        /// The runnable's name.
        name: String,
    },
}
