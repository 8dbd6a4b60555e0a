mod decode;
mod list;
mod list_watch;
mod resync;
mod sketch;
mod spread;
mod streaming;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_client::{Backoff, ClientError, ErrorClass, ListOptions, WatchOptions};
use controller_runtime_scheme::Object;
use tokio::time::{Instant, sleep};

use crate::informer::{Scope, Shared};
use streaming::Initial;

pub(crate) use list_watch::{AnyListWatch, ListWatches};
pub use list_watch::{ListPage, ListWatch, ListWatchFns, Payload, WatchItem, WatchItems};

/// The longest delay while the server does not serve the kind: a CRD that is installed is seen soon.
const NOT_SERVED_BACKOFF: Duration = Duration::from_secs(10);

/// A watch that ended sooner, without an event, counts as failed.
const SHORTEST_WATCH: Duration = Duration::from_secs(1);

/// How many watches in a row the server may refuse before everything is listed again.
const REFUSED_WATCHES: u32 = 3;

/// Keeps one scope of an informer up to date: reads everything, then watches from there, resumes the watch where it
/// ended, and reads everything again when the server no longer has the version, or does not let it watch from there.
pub(crate) struct Reflector<K: Object> {
    pub(crate) shared: Arc<Shared<K>>,
    pub(crate) ambient: Ambient,
    /// Which of the informer's scopes.
    pub(crate) scope: usize,
}

/// How far a reflector is.
struct Position<K> {
    /// What the store shows; none before everything was read.
    version: Option<String>,
    /// The watch that goes on after a streaming list.
    open: Option<WatchItems<K>>,
    /// Whether the next streaming list may be tried.
    how: Initial,
    /// How many watches in a row the server has refused.
    refused: u32,
}

impl<K: Object> Reflector<K> {
    /// Runs until cancelled.
    pub(crate) async fn run(self, cancel: CancellationToken) {
        let Some(scope) = self.shared.progress.scopes().get(self.scope) else { return };
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            () = self.reflect(scope) => {}
            () = self.resync(scope) => {}
        }
    }

    async fn reflect(&self, scope: &Scope) {
        let options = &self.shared.options;
        let mut backoff = Backoff::new(&self.ambient, options.min_backoff, options.max_backoff);
        let how = if options.streaming_lists { Initial::Streamed } else { Initial::Paged };
        let mut position = Position { version: None, open: None, how, refused: 0 };
        loop {
            let result = match &position.version {
                None => self.fill(scope, &mut position).await,
                Some(_) => self.watch_on(scope, &mut position, &mut backoff).await,
            };
            let Err(error) = result else {
                position.refused = 0;
                continue;
            };
            position.refused += u32::from(error.status().is_some());
            if starts_over(&error) || position.refused >= REFUSED_WATCHES {
                (position.version, position.refused) = (None, 0);
            }
            self.pause(scope, &error, &mut backoff).await;
        }
    }

    /// Watches until the watch ends. An error is worth a pause.
    async fn watch_on(
        &self,
        scope: &Scope,
        position: &mut Position<K>,
        backoff: &mut Backoff,
    ) -> Result<(), ClientError> {
        let began = Instant::now();
        let version = position.version.get_or_insert_default();
        let mut events = 0;
        let result = self.watch(scope, version, position.open.take(), &mut events).await;
        if events > 0 {
            backoff.reset();
        }
        if result.is_ok() && events == 0 && began.elapsed() < SHORTEST_WATCH {
            sleep(backoff.next_delay()).await;
        }
        result
    }

    async fn pause(&self, scope: &Scope, error: &ClientError, backoff: &mut Backoff) {
        self.shared.progress.failed(scope, error);
        let mut delay = backoff.next_delay();
        if error.is_kind_not_served() {
            delay = delay.min(NOT_SERVED_BACKOFF);
        }
        if let ErrorClass::Transient { retry_after: Some(asked) } = error.class() {
            // A server can't make us wait longer than its failures could.
            delay = delay.max(asked.min(self.shared.options.max_backoff));
        }
        if error.is_expired() {
            tracing::info!(kind = %self.shared.api.kind(), %error, "the version is too old for the server; listing again");
        } else {
            tracing::warn!(kind = %self.shared.api.kind(), %error, ?delay, "cannot follow objects; trying again");
        }
        sleep(delay).await;
    }

    fn list_options(&self, scope: &Scope) -> ListOptions {
        let mut options = ListOptions::all();
        options.namespace.clone_from(&scope.plan.namespace);
        options.labels = scope.plan.selection.labels.clone();
        options.fields = scope.plan.field_selector();
        options.limit = Some(self.shared.options.page_size);
        options
    }

    fn watch_options(&self, scope: &Scope) -> WatchOptions {
        let mut options = WatchOptions::default();
        options.namespace.clone_from(&scope.plan.namespace);
        options.labels = scope.plan.selection.labels.clone();
        options.fields = scope.plan.field_selector();
        options.timeout = Some(spread::watch_timeout(&self.ambient, self.shared.options.watch_timeout));
        options.bookmarks = self.shared.options.bookmarks;
        options
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
