//! A work queue for keys: deduplicating, delaying, backing off per key, with priorities and ageing.
//!
//! - A key is queued once, however often it is added. While a worker has it, adds are remembered and the key comes
//!   back when the worker is done: at most one worker has a key at a time, and no trigger is lost.
//! - A key holds at most one pending trigger. The earliest ready time wins; an add without delay makes a waiting key
//!   ready at once, and it is then delivered once.
//! - What is taken is a guard: the key is done when the guard is dropped, be it by a panic or by cancellation.
//! - Keys of equal priority come in the order in which they became ready. A higher priority goes first, but from a
//!   key that has been ready for longer than the patience (10 s by default) one in four takes goes to the oldest.
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
//! item.requeue_with_backoff(); // in 5 ms, the next time in 10 ms
//! item.done();
//!
//! assert_eq!(*queue.get().await.expect("the queue is open"), "a");
//! assert_eq!(*queue.get().await.expect("the queue is open"), "b");
//! # }
//! ```

mod delayed;
mod entry;
mod item;
mod limiter;
mod observer;
mod queue;
mod ready;
mod state;
mod timer;
mod waiters;

pub use item::Item;
pub use limiter::ItemBackoff;
pub use observer::Observer;
pub use queue::{Add, Get, Queue, QueueBuilder, WeakQueue};
pub use state::Snapshot;
