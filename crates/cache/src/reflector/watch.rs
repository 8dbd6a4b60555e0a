use controller_runtime_client::{ClientError, WatchEventType};
use controller_runtime_scheme::Object;
use futures::StreamExt;
use tokio::time::timeout;

use crate::informer::Scope;
use crate::reflector::Reflector;
use crate::reflector::decode::{Decoded, sketch};
use crate::reflector::list_watch::{WatchItem, WatchItems};

impl<K: Object> Reflector<K> {
    /// Follows changes after `version`, which goes along, until the watch ends: the server closed it, it was silent
    /// for too long, or it failed. Goes on with a watch that is open already. Counts the events.
    pub(super) async fn watch(
        &self,
        scope: &Scope,
        version: &mut String,
        open: Option<WatchItems<K>>,
        events: &mut u64,
    ) -> Result<(), ClientError> {
        let mut items = if let Some(items) = open {
            items
        } else {
            let mut options = self.watch_options(scope);
            options.resource_version = Some(version.clone());
            self.shared.metrics.watch();
            self.shared.source.watch(&options).await?
        };
        loop {
            let Ok(item) = timeout(self.shared.options.idle_timeout, items.next()).await else {
                tracing::debug!(kind = %self.shared.api.kind(), "a watch is silent; opening another");
                return Ok(());
            };
            let Some(item) = item.transpose()? else { return Ok(()) };
            *events += 1;
            self.take(scope, &item, version);
        }
    }

    fn take(&self, scope: &Scope, item: &WatchItem<K>, version: &mut String) {
        if item.event == WatchEventType::Bookmark {
            step(version, &sketch(&item.object).version);
            self.shared.advance(scope, version);
            return;
        }
        let gone = item.event == WatchEventType::Deleted;
        match self.decode(scope, &item.object) {
            Decoded::Object(_, object) => {
                step(version, object.meta().resource_version.as_deref().unwrap_or_default());
                if gone {
                    self.shared.remove(scope, object, version);
                } else {
                    self.shared.put(scope, &object, version);
                }
            }
            Decoded::Unfit(sketch) => {
                step(version, &sketch.version);
                match sketch.key {
                    None => self.shared.advance(scope, version),
                    Some(key) if !gone => self.shared.put_undecodable(scope, key, version),
                    Some(key) => match self.shared.store.get(&key) {
                        Some(last) => self.shared.remove(scope, last, version),
                        None => self.shared.remove_undecodable(scope, &key, version),
                    },
                }
            }
        }
    }
}

/// An event without a version leaves the old one.
fn step(version: &mut String, next: &str) {
    if !next.is_empty() {
        next.clone_into(version);
    }
}
