use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_cache::CacheError;
use controller_runtime_scheme::{Object, ObjectKey};
/// The priority of objects that nothing has happened to: those of the initial list, and of resyncs. Live events go
/// first.
pub use controller_runtime_workqueue::LOW_PRIORITY;
use controller_runtime_workqueue::{Add, Queue};

use super::Source;
use crate::event::Event;
use crate::handler::Handler;
use crate::predicate::Predicate;

/// Leads events of one kind into a controller's queue, through predicates and a handler.
pub(crate) struct KindFeed<W, S, H> {
    pub(crate) source: S,
    pub(crate) predicates: Vec<Arc<dyn Predicate<W>>>,
    pub(crate) handler: H,
}

/// A [`KindFeed`] whatever its kind.
pub(crate) trait Feed: Send {
    /// Feeds the queue from now on.
    fn start(self: Box<Self>, queue: Queue<ObjectKey>) -> Box<dyn Fed>;
}

/// A feed that was started; it ends when this is dropped.
pub(crate) trait Fed: Send + Sync {
    /// Waits until the initial list has been fed.
    fn synced(&self, within: Duration) -> Pin<Box<dyn Future<Output = Result<(), CacheError>> + Send + '_>>;
}

struct Subscribed<W, S: Source<W>> {
    source: S,
    _subscription: S::Subscription,
}

impl<W: Object, S: Source<W>> Fed for Subscribed<W, S> {
    fn synced(&self, within: Duration) -> Pin<Box<dyn Future<Output = Result<(), CacheError>> + Send + '_>> {
        Box::pin(self.source.wait_for_sync(within))
    }
}

impl<W: Object, S: Source<W>, H: Handler<W>> Feed for KindFeed<W, S, H> {
    fn start(self: Box<Self>, queue: Queue<ObjectKey>) -> Box<dyn Fed> {
        let Self { source, predicates, handler } = *self;
        let subscription = source.subscribe(move |event| {
            if predicates.iter().all(|predicate| predicate.test(&event)) {
                let add = Add::now().priority(priority(&event));
                for key in handler.keys(&event) {
                    queue.add_with(key, add);
                }
            }
        });
        Box::new(Subscribed::<W, S> { source, _subscription: subscription })
    }
}

fn priority<W: Object>(event: &Event<W>) -> i32 {
    match event {
        Event::Created { initial: true, .. } => LOW_PRIORITY,
        Event::Updated { old, new } if old.meta().resource_version == new.meta().resource_version => LOW_PRIORITY,
        _ => 0,
    }
}
