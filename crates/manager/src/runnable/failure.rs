use std::sync::Arc;

use controller_runtime_ambient::CancellationToken;
use parking_lot::Mutex;

use crate::error::ManagerError;

/// Where runnables report that they failed. The first failure stops the manager; later ones are logged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    first: Arc<Mutex<Option<ManagerError>>>,
    happened: CancellationToken,
}

impl Failure {
    pub(crate) fn report(&self, error: ManagerError) {
        tracing::error!(%error, "a part of the manager failed");
        self.first.lock().get_or_insert(error);
        self.happened.cancel();
    }

    /// Waits for the first failure. Cancel safe.
    pub(crate) async fn happened(&self) {
        self.happened.cancelled().await;
    }

    /// The first failure, once.
    pub(crate) fn take(&self) -> Option<ManagerError> {
        self.first.lock().take()
    }
}
