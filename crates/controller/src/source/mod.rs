//! Where a controller's events come from.
//!
//! Kinds of the cluster need none of this: [`Watch`](crate::Watch) has them. A [`channel`] brings events from the
//! program itself, and a [`Source`] of one's own from anywhere else.
//!
//! ```
//! use std::error::Error;
//! use std::sync::Arc;
//! use std::time::Duration;
//! use controller_runtime_controller::Event;
//! use controller_runtime_controller::source::{Events, Source};
//! use controller_runtime_scheme::ObjectKey;
//!
//! /// Every object of a fixed list is due again each hour.
//! struct Hourly(Vec<ObjectKey>);
//!
//! impl Source<ObjectKey> for Hourly {
//!     async fn run(self, events: Events<ObjectKey>) -> Result<(), Box<dyn Error + Send + Sync>> {
//!         events.synced();
//!         loop {
//!             for key in &self.0 {
//!                 events.emit(&Event::Generic { object: Arc::new(key.clone()) });
//!             }
//!             tokio::time::sleep(Duration::from_hours(1)).await;
//!         }
//!     }
//! }
//! ```

mod backlog;
mod channel;
mod events;
mod feed;
mod informer;

use std::error::Error as StdError;

pub use channel::{ChannelClosed, ChannelSender, ChannelSource, TrySendError, channel, channel_with_buffer};
/// The priority of objects that nothing has happened to: those of the initial list, and of updates without a new version.
/// Live events go first.
pub use controller_runtime_workqueue::LOW_PRIORITY;
pub use events::Events;
pub(crate) use events::Sink;
pub(crate) use feed::{Ending, Feed, Inlet, Started};
pub(crate) use informer::InformerSource;

/// Gives a controller events.
pub trait Source<W>: Send + 'static {
    /// What it is called in errors and logs. By default its Rust type.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }

    /// Emits events as long as the controller runs, and says once, with [`Events::synced`], that all that was there at
    /// the start has been emitted: the controller's workers wait for that, at most its cache sync time-out.
    ///
    /// It runs in a task of its own. When the controller ends, the future is dropped. Ending earlier without an error
    /// counts as synced, and means that no more events come; an error or a panic ends the controller.
    fn run(self, events: Events<W>) -> impl Future<Output = Result<(), Box<dyn StdError + Send + Sync>>> + Send;
}
