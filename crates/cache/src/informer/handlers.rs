use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::CacheError;
use crate::event::ObjectEvent;
use crate::informer::progress::Progress;

/// The handlers of an informer, in the order in which they came.
pub(crate) struct Handlers<K> {
    slots: Vec<Arc<Slot<K>>>,
}

/// Somebody who is told of events.
pub(crate) type Handler<K> = dyn Fn(&ObjectEvent<K>) + Send + Sync;

/// A handler's place; empty once its registration is dropped.
struct Slot<K> {
    handler: Mutex<Option<Arc<Handler<K>>>>,
}

/// A [`Slot`] of any type.
trait Vacate: Send + Sync {
    fn vacate(&self);
}

impl<K> Vacate for Slot<K> {
    fn vacate(&self) {
        let handler = self.handler.lock().take();
        // What the handler holds may take this lock again when it is dropped.
        drop(handler);
    }
}

/// A handler's place at an informer. Dropping it removes the handler, and drops it at once; if it is running at that
/// moment, when it returns.
#[must_use = "dropping a registration removes the handler"]
pub struct HandlerRegistration {
    slot: Arc<dyn Vacate>,
    progress: Arc<Progress>,
}

impl HandlerRegistration {
    /// Whether the handler has returned from being told of every object of the first list.
    pub fn has_synced(&self) -> bool {
        self.progress.has_synced()
    }

    /// Waits until [`HandlerRegistration::has_synced`], at most `within`. What the server forbids isn't waited for.
    /// Cancel safe.
    pub async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        self.progress.wait_for_sync(within).await
    }
}

impl Drop for HandlerRegistration {
    fn drop(&mut self) {
        self.slot.vacate();
    }
}

impl fmt::Debug for HandlerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerRegistration").field("synced", &self.has_synced()).finish_non_exhaustive()
    }
}

impl<K: Send + Sync + 'static> Handlers<K> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new() }
    }

    /// Adds a handler and tells it first of `present`.
    pub(crate) fn add(
        &mut self,
        present: impl IntoIterator<Item = ObjectEvent<K>>,
        handler: Arc<Handler<K>>,
        progress: &Arc<Progress>,
    ) -> HandlerRegistration {
        self.slots.retain(|slot| slot.handler.lock().is_some());
        let slot = Arc::new(Slot { handler: Mutex::new(Some(handler)) });
        for event in present {
            slot.tell(&event);
        }
        self.slots.push(slot.clone());
        HandlerRegistration { slot, progress: progress.clone() }
    }

    pub(crate) fn tell(&mut self, events: &[ObjectEvent<K>]) {
        if events.is_empty() {
            return;
        }
        for event in events {
            for slot in &self.slots {
                slot.tell(event);
            }
        }
        self.slots.retain(|slot| slot.handler.lock().is_some());
    }
}

impl<K> Slot<K> {
    /// One handler's panic must not end the watch that others rely on.
    fn tell(&self, event: &ObjectEvent<K>) {
        // A handler may drop its own registration.
        let Some(handler) = self.handler.lock().clone() else { return };
        if catch_unwind(AssertUnwindSafe(|| handler(event))).is_err() {
            tracing::error!(kind = std::any::type_name::<K>(), "an event handler panicked; it missed the event");
        }
    }
}

impl<K> fmt::Debug for Handlers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("count", &self.slots.len()).finish()
    }
}
