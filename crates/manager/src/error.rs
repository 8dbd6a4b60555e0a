use std::error::Error as StdError;

use controller_runtime_client::ClientError;

use crate::runnable::ShutdownReport;

/// A manager could not be built, or ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// The client could not be built.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A server's socket could not be bound, for example because the port is in use.
    #[error("cannot serve {what} at {address}: {source}")]
    Bind {
        /// What was to be served.
        what: String,
        /// Where.
        address: String,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// Signals cannot be received.
    #[error("cannot receive signals: {0}")]
    Signals(std::io::Error),
    /// It was started before.
    #[error("the manager was started before")]
    AlreadyStarted,
    /// A runnable failed, and the manager stopped.
    #[error("{name} failed: {source}")]
    Runnable {
        /// Its name.
        name: String,
        /// Its error.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Some runnables did not end within the graceful time-out and were aborted.
    #[error("not everything ended within the graceful time-out: {report}")]
    GracefulTimeout {
        /// What they are.
        report: ShutdownReport,
    },
}
