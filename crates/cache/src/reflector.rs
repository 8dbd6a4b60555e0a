mod list;
mod sketch;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_client::{Backoff, ClientError, ErrorClass};
use controller_runtime_scheme::Object;
use tokio::time::{Instant, sleep};

use crate::informer::{Scope, Shared};

/// The longest delay while the server does not serve the kind: a CRD that is installed is seen soon.
const NOT_SERVED_BACKOFF: Duration = Duration::from_secs(10);

/// A watch that ended sooner, without an event, counts as failed.
const SHORTEST_WATCH: Duration = Duration::from_secs(1);

/// How many watches in a row the server may refuse before everything is listed again.
const REFUSED_WATCHES: u32 = 3;

/// Keeps one scope of an informer up to date: lists, then watches from the list's version, resumes the watch where it
/// ended, and lists again when the server no longer has the version, or does not let it watch from there.
pub(crate) struct Reflector<K: Object> {
    pub(crate) shared: Arc<Shared<K>>,
    pub(crate) ambient: Ambient,
    /// Which of the informer's scopes.
    pub(crate) scope: usize,
}

impl<K: Object> Reflector<K> {
    /// Runs until cancelled.
    pub(crate) async fn run(self, cancel: CancellationToken) {
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            () = self.reflect() => {}
        }
    }

    async fn reflect(&self) {
        let Some(scope) = self.shared.scopes.get(self.scope) else { return };
        let options = &self.shared.options;
        let mut backoff = Backoff::new(&self.ambient, options.min_backoff, options.max_backoff);
        let mut version = None;
        let mut refused = 0;
        loop {
            let result = match &mut version {
                None => self.list(scope).await.map(|listed| version = Some(listed)),
                Some(version) => self.watch_from(scope, version, &mut backoff).await,
            };
            let Err(error) = result else {
                refused = 0;
                continue;
            };
            refused += u32::from(error.status().is_some());
            if starts_over(&error) || refused >= REFUSED_WATCHES {
                (version, refused) = (None, 0);
            }
            self.pause(scope, &error, &mut backoff).await;
        }
    }

    /// Watches until the watch ends. An error is worth a pause.
    async fn watch_from(&self, scope: &Scope, version: &mut String, backoff: &mut Backoff) -> Result<(), ClientError> {
        let began = Instant::now();
        let mut events = 0;
        let result = self.watch(scope, version, &mut events).await;
        if events > 0 {
            backoff.reset();
        }
        if result.is_ok() && events == 0 && began.elapsed() < SHORTEST_WATCH {
            sleep(backoff.next_delay()).await;
        }
        result
    }

    async fn pause(&self, scope: &Scope, error: &ClientError, backoff: &mut Backoff) {
        scope.failed(error);
        let mut delay = backoff.next_delay();
        if error.is_kind_not_served() {
            delay = delay.min(NOT_SERVED_BACKOFF);
        }
        if error.is_expired() {
            tracing::info!(kind = %self.shared.api.kind(), %error, "the watch's version is too old; listing again");
        } else {
            tracing::warn!(kind = %self.shared.api.kind(), %error, ?delay, "cannot follow objects; trying again");
        }
        sleep(delay).await;
    }
}

/// Whether a watch that failed so would fail again from the same version.
fn starts_over(error: &ClientError) -> bool {
    // A server that was restored from a backup has not come to our version yet, and may never come to it.
    let too_large = error.status().is_some_and(|status| {
        status
            .details
            .as_ref()
            .is_some_and(|details| details.causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge"))
    });
    let hopeless = matches!(
        error.class(),
        ErrorClass::Expired | ErrorClass::KindNotServed | ErrorClass::Invalid | ErrorClass::Terminal
    );
    too_large || hopeless
}
