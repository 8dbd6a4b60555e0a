//! Where events come from, and how they lead to keys in a controller's queue.

mod feed;
mod informer;

use std::time::Duration;

use controller_runtime_cache::CacheError;

use crate::event::Event;

pub use feed::LOW_PRIORITY;
pub(crate) use feed::{Fed, Feed, KindFeed};
pub(crate) use informer::InformerSource;

/// Gives the events of one kind, each once and in order.
pub(crate) trait Source<W>: Send + Sync + 'static {
    /// Ends the events when it is dropped.
    type Subscription: Send + Sync + 'static;

    /// Tells `listener` of all objects that are there, and then of what happens. An event is told after reads can see
    /// it.
    fn subscribe(&self, listener: impl Fn(Event<W>) + Send + Sync + 'static) -> Self::Subscription;

    /// Waits until listeners have been told of all objects of the initial list.
    fn wait_for_sync(&self, within: Duration) -> impl Future<Output = Result<(), CacheError>> + Send;
}
