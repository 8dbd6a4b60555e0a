use std::sync::Arc;

use controller_runtime_client::{ClientError, WatchEventType, WatchFrame, WatchOptions};
use controller_runtime_scheme::Object;
use tokio::time::timeout;

use crate::informer::Scope;
use crate::reflector::Reflector;
use crate::reflector::sketch::Sketch;

impl<K: Object> Reflector<K> {
    /// Follows changes after `version`, which goes along, until the watch ends: the server closed it, it was silent
    /// for too long, or it failed. Counts the events.
    pub(super) async fn watch(&self, scope: &Scope, version: &mut String, events: &mut u64) -> Result<(), ClientError> {
        let cache = &self.shared.options;
        let mut options = WatchOptions::default();
        options.namespace.clone_from(&scope.plan.namespace);
        options.labels = scope.plan.selection.labels.clone();
        options.fields = scope.plan.field_selector();
        options.resource_version = Some(version.clone());
        options.timeout = Some(cache.watch_timeout.mul_f64(1.0 + self.ambient.random_fraction()));
        options.bookmarks = cache.bookmarks;
        let mut stream = self.shared.api.watch(&options).await?;
        loop {
            let Ok(frame) = timeout(cache.idle_timeout, stream.next()).await else {
                tracing::debug!(kind = %self.shared.api.kind(), "a watch is silent; opening another");
                return Ok(());
            };
            let Some(frame) = frame? else { return Ok(()) };
            *events += 1;
            self.take(scope, &frame, version);
        }
    }

    fn take(&self, scope: &Scope, frame: &WatchFrame, version: &mut String) {
        if frame.event == WatchEventType::Bookmark {
            step(version, Sketch::of(&frame.object).version());
            self.shared.advance(scope, version);
            return;
        }
        match self.shared.decode(scope, &frame.object) {
            Ok(object) => {
                step(version, object.meta().resource_version.as_deref().unwrap_or_default());
                if frame.event == WatchEventType::Deleted {
                    self.shared.remove(scope, Arc::new(object), version);
                } else {
                    self.shared.put(scope, &Arc::new(object), version);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "an object is skipped, because it does not fit its type");
                let sketch = Sketch::of(&frame.object);
                step(version, sketch.version());
                let key = sketch.into_key();
                if frame.event != WatchEventType::Deleted {
                    self.shared.put_undecodable(scope, key, version);
                } else if let Some(last) = self.shared.store.get(&key) {
                    self.shared.remove(scope, last, version);
                } else {
                    self.shared.remove_undecodable(scope, &key, version);
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
