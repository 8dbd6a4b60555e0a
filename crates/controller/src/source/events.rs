use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::{LOW_PRIORITY, Queue};

use crate::event::Event;
use crate::handler::{Handler, Triggers};
use crate::predicate::Predicate;

/// Where a [`Source`](super::Source) puts its events: they pass the predicates and the handler, and what that leads to is
/// queued before [`Events::emit`] is back. Cloning is cheap.
pub struct Events<W> {
    sink: Arc<Sink<W>>,
}

pub(crate) struct Sink<W> {
    pub(crate) predicates: Vec<Arc<dyn Predicate<W>>>,
    pub(crate) handler: Box<dyn Handler<W>>,
    pub(crate) queue: Queue<ObjectKey>,
    pub(crate) synced: CancellationToken,
    pub(crate) sync_timeout: Duration,
    /// Whether the handler is not to run where events come from, because it may be slow.
    pub(crate) isolated: bool,
}

impl<W: 'static> Events<W> {
    pub(crate) fn new(sink: Sink<W>) -> Self {
        Self { sink: Arc::new(sink) }
    }

    /// Gives an event to the controller, with low priority if it is of the initial list, else with priority 0.
    pub fn emit(&self, event: &Event<W>) {
        let initial = matches!(event, Event::Created { initial: true, .. });
        self.emit_with_priority(event, if initial { LOW_PRIORITY } else { 0 });
    }

    /// Gives an event to the controller.
    pub fn emit_with_priority(&self, event: &Event<W>, priority: i32) {
        if self.passes(event) {
            self.handle(event, priority);
        }
    }

    /// All that was there at the start has been emitted.
    pub fn synced(&self) {
        self.sink.synced.cancel();
    }

    /// How long the source may take to sync before the controller gives up.
    pub fn sync_timeout(&self) -> Duration {
        self.sink.sync_timeout
    }

    pub(super) fn is_isolated(&self) -> bool {
        self.sink.isolated
    }

    /// Whether all predicates pass the event. One that panics does: a reconcile too many does no harm.
    pub(super) fn passes(&self, event: &Event<W>) -> bool {
        let passes = || self.sink.predicates.iter().all(|predicate| predicate.test(event));
        catch_unwind(AssertUnwindSafe(passes)).unwrap_or_else(|_| {
            tracing::error!(of = std::any::type_name::<W>(), "a predicate panicked; the event is passed");
            true
        })
    }

    /// Queues what the event leads to.
    pub(super) fn handle(&self, event: &Event<W>, priority: i32) {
        let handled = catch_unwind(AssertUnwindSafe(|| {
            let mut triggers = Triggers::default();
            self.sink.handler.handle(event, &mut triggers);
            triggers
        }));
        let Ok(triggers) = handled else {
            tracing::error!(of = std::any::type_name::<W>(), "a handler panicked; the event leads nowhere");
            return;
        };
        triggers.queue(&self.sink.queue, priority);
    }
}

impl<W> Clone for Events<W> {
    fn clone(&self) -> Self {
        Self { sink: self.sink.clone() }
    }
}

impl<W> fmt::Debug for Events<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("synced", &self.sink.synced.is_cancelled()).finish_non_exhaustive()
    }
}
