//! A work queue for keys: deduplicating, delaying, backing off per key, with priorities and ageing.
//!
//! - A key is queued once, however often it is added. While a worker has it, adds are remembered and the key comes
//!   back when the worker is done: at most one worker has a key at a time, and no trigger is lost.
//! - A key holds at most one pending trigger. The earliest ready time wins; an add without delay makes a waiting key
//!   ready at once, and it is then delivered once.
//! - What is taken is a guard: the key is done when the guard is dropped, be it by a panic or by cancellation.
//! - Keys of equal priority come in the order in which they became ready; a higher priority goes first. While a key is
//!   queued its priority only rises; raised, it comes after those that had the higher priority before it.
//! - No key starves: every fourth take goes to the key that has been ready longest, whatever its priority, if that is
//!   longer than the patience (10 s by default). So a key that has been ready for longer than that, and that `n` keys
//!   became ready before, is taken within the next `4 (n + 1)` takes.
//! - How long a key waits that is added rate-limited says a [`RateLimiter`]: by default each key backs off by itself.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! use std::time::Duration;
//! use controller_runtime_ambient::Ambient;
//! use controller_runtime_workqueue::Queue;
//!
//! let queue = Queue::new(&Ambient::system());
//! queue.add("a");
//! queue.add("a");
//! queue.add_after("b", Duration::from_secs(1));
//! assert_eq!(queue.len(), 1);
//!
//! let item = queue.get().await.expect("the queue is open");
//! assert_eq!(*item, "a");
//! item.requeue_rate_limited(); // in 5 ms, the next time in 10 ms
//! item.done();
//!
//! assert_eq!(*queue.get().await.expect("the queue is open"), "a");
//! assert_eq!(*queue.get().await.expect("the queue is open"), "b");
//! # }
//! ```

mod add;
mod builder;
mod delayed;
mod entry;
mod get;
#[cfg(test)]
mod interleavings;
mod item;
mod limiter;
mod lock;
mod observer;
mod queue;
mod ready;
mod shared;
mod state;
mod timer;
mod waiters;

pub use add::{Add, LOW_PRIORITY};
pub use builder::QueueBuilder;
pub use get::Get;
pub use item::Item;
pub use limiter::{ItemBackoff, ItemFastSlow, MaxOf, RateLimiter, TokenBucket};
pub use observer::Observer;
pub use queue::{Queue, WeakQueue};
pub use state::Snapshot;
