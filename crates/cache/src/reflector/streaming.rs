use std::time::Duration;

use controller_runtime_client::{ClientError, ErrorClass, WatchEventType};
use controller_runtime_scheme::Object;
use futures::StreamExt;
use tokio::time::{Instant, timeout};

use crate::informer::Scope;
use crate::reflector::decode::sketch;
use crate::reflector::list::Collected;
use crate::reflector::list_watch::WatchItems;
use crate::reflector::{Position, Reflector};

/// After how much silence a streaming list counts as not supported: servers that don't know it never end it.
const SILENCE: Duration = Duration::from_secs(10);

/// How everything is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Initial {
    /// As the start of a watch (KEP-3157).
    Streamed,
    /// In pages this time, because the stream broke off.
    PagedOnce,
    /// In pages, because that is configured, or the server refused to stream.
    Paged,
}

/// How a streaming list ended.
enum Streamed<K> {
    /// All came, up to this version, and the watch goes on.
    Complete(String, WatchItems<K>),
    /// It ended before the bookmark that says that all came.
    BrokenOff,
    /// The server doesn't do it.
    Unsupported(String),
}

impl<K: Object> Reflector<K> {
    /// Reads everything and hands it over in one step.
    pub(super) async fn fill(&self, scope: &Scope, position: &mut Position<K>) -> Result<(), ClientError> {
        position.open = None;
        if position.how != Initial::Streamed {
            position.version = Some(self.list(scope).await?);
            if position.how == Initial::PagedOnce {
                position.how = Initial::Streamed;
            }
            return Ok(());
        }
        let kind = self.shared.api.kind();
        match self.streaming_list(scope).await? {
            Streamed::Complete(version, items) => {
                (position.version, position.open) = (Some(version), Some(items));
            }
            Streamed::BrokenOff => {
                tracing::debug!(%kind, "a streaming list broke off; reading pages");
                position.how = Initial::PagedOnce;
            }
            Streamed::Unsupported(reason) => {
                tracing::debug!(%kind, reason, "the server does not stream lists; reading pages from now on");
                position.how = Initial::Paged;
            }
        }
        Ok(())
    }

    async fn streaming_list(&self, scope: &Scope) -> Result<Streamed<K>, ClientError> {
        let began = Instant::now();
        let mut options = self.watch_options(scope);
        options.send_initial_events = true;
        options.bookmarks = true;
        self.shared.metrics.watch();
        let mut items = match self.shared.source.watch(&options).await {
            Ok(items) => items,
            Err(error) => return unsupported(error),
        };
        let mut collected = Collected::new();
        loop {
            let Ok(item) = timeout(SILENCE.min(self.shared.options.idle_timeout), items.next()).await else {
                return Ok(Streamed::Unsupported("it is silent".to_owned()));
            };
            let item = match item {
                Some(Ok(item)) => item,
                Some(Err(error)) => return unsupported(error),
                None => return Ok(Streamed::BrokenOff),
            };
            if item.event != WatchEventType::Bookmark {
                collected.apply(item.event, self.decode(scope, &item.object));
                continue;
            }
            let bookmark = sketch(&item.object);
            if bookmark.ends_initial_events {
                self.shared.replace(scope, collected.finish(bookmark.version.clone(), began));
                return Ok(Streamed::Complete(bookmark.version, items));
            }
        }
    }
}

/// Whether the error says that this kind of request is not understood. A list in pages shows whether it is another
/// fault of the request that is meant.
fn unsupported<K>(error: ClientError) -> Result<Streamed<K>, ClientError> {
    match error.class() {
        ErrorClass::Invalid | ErrorClass::Terminal => Ok(Streamed::Unsupported(error.to_string())),
        _ => Err(error),
    }
}
