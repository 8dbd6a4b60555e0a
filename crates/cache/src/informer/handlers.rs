use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::event::ObjectEvent;

/// The handlers of an informer, in the order in which they came.
pub(crate) struct Handlers<K> {
    entries: Vec<Entry<K>>,
}

/// Somebody who is told of events.
pub(crate) type Handler<K> = Box<dyn Fn(&ObjectEvent<K>) + Send + Sync>;

struct Entry<K> {
    active: Arc<AtomicBool>,
    handle: Handler<K>,
}

/// A handler's place at an informer. Dropping it removes the handler.
#[derive(Debug)]
#[must_use = "dropping a registration removes the handler"]
pub struct HandlerRegistration {
    active: Arc<AtomicBool>,
}

impl Drop for HandlerRegistration {
    fn drop(&mut self) {
        self.active.store(false, Ordering::Release);
    }
}

impl<K> Handlers<K> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds a handler and tells it first of `present`.
    pub(crate) fn add(
        &mut self,
        present: impl IntoIterator<Item = ObjectEvent<K>>,
        handle: Handler<K>,
    ) -> HandlerRegistration {
        let active = Arc::new(AtomicBool::new(true));
        let entry = Entry { active: active.clone(), handle };
        for event in present {
            entry.tell(&event);
        }
        self.entries.push(entry);
        HandlerRegistration { active }
    }

    pub(crate) fn tell(&mut self, events: &[ObjectEvent<K>]) {
        if events.is_empty() {
            return;
        }
        self.entries.retain(|entry| entry.active.load(Ordering::Acquire));
        for event in events {
            for entry in &self.entries {
                entry.tell(event);
            }
        }
    }
}

impl<K> Entry<K> {
    /// One handler's panic must not end the watch that others rely on.
    fn tell(&self, event: &ObjectEvent<K>) {
        if !self.active.load(Ordering::Acquire) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| (self.handle)(event))).is_err() {
            tracing::error!(kind = std::any::type_name::<K>(), "an event handler panicked; it missed the event");
        }
    }
}

impl<K> fmt::Debug for Handlers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("count", &self.entries.len()).finish()
    }
}
