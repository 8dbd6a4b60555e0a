use std::ops::Deref;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::DelegatingClient;
use controller_runtime_scheme::ObjectKey;

/// What a reconcile works with. It is the controller's client as well: `cx.get`, `cx.apply` and the others are those of
/// [`DelegatingClient`], which reads from the cache, never older than this program's own writes, and writes to the
/// server.
#[derive(Clone, Debug)]
pub struct Context {
    client: DelegatingClient,
    ambient: Ambient,
    key: ObjectKey,
    reconcile_id: String,
    token: CancellationToken,
}

impl Context {
    pub(crate) fn new(
        client: DelegatingClient,
        ambient: Ambient,
        key: ObjectKey,
        reconcile_id: String,
        token: CancellationToken,
    ) -> Self {
        Self { client, ambient, key, reconcile_id, token }
    }

    /// The client, for code that wants one.
    pub fn client(&self) -> &DelegatingClient {
        &self.client
    }

    /// Clock, randomness and ids.
    pub fn ambient(&self) -> &Ambient {
        &self.ambient
    }

    /// The key of the object that is being reconciled.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Tells this reconcile from all others, in logs and traces.
    pub fn reconcile_id(&self) -> &str {
        &self.reconcile_id
    }

    /// Waits until the controller stops: a reconcile that takes long should end then. Cancel safe.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Whether the controller is stopping.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }
}

impl Deref for Context {
    type Target = DelegatingClient;

    fn deref(&self) -> &DelegatingClient {
        &self.client
    }
}
