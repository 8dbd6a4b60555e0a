use std::error::Error as StdError;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;

/// A check that takes longer than this has failed, unless it says otherwise.
const TIMEOUT: Duration = Duration::from_secs(2);

type Checking = Pin<Box<dyn Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send>>;

/// Whether one aspect of the program is well: an async function that gives an error where it isn't.
///
/// It is asked at each probe, together with the others of its endpoint. Its error is logged but not shown to who probes.
/// A check that panics or takes longer than its time-out has failed; the future of one that is late is dropped.
#[derive(Clone)]
pub struct Check {
    ask: Arc<dyn Fn() -> Checking + Send + Sync>,
    timeout: Duration,
    pub(crate) blocking: bool,
}

impl Check {
    /// A check that has 2 s, and whose failure fails its endpoint.
    pub fn new<F, E>(check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let ask = move || -> Checking {
            let checking = check();
            Box::pin(async move { checking.await.map_err(Into::into) })
        };
        Self { ask: Arc::new(ask), timeout: TIMEOUT, blocking: true }
    }

    /// The same check with another time-out.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same check, which is asked and reported, but whose failure does not fail its endpoint: for what a restart or
    /// less traffic would not mend. Asked for by its own path, it tells how it went.
    #[must_use]
    pub fn non_blocking(mut self) -> Self {
        self.blocking = false;
        self
    }

    /// Asks within its time-out, or within `timeout` if there is one.
    pub(crate) async fn ask(&self, timeout: Option<Duration>) -> Result<(), String> {
        let timeout = timeout.unwrap_or(self.timeout);
        // The check's own function may panic as well as its future.
        let asking = AssertUnwindSafe(async { (self.ask)().await }).catch_unwind();
        match tokio::time::timeout(timeout, asking).await {
            Ok(Ok(result)) => result.map_err(|error| error.to_string()),
            Ok(Err(_)) => Err("it panicked".to_owned()),
            Err(_) => Err(format!("no answer within {timeout:?}")),
        }
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("timeout", &self.timeout)
            .field("blocking", &self.blocking)
            .finish_non_exhaustive()
    }
}
