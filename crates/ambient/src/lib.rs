//! Clock, randomness, ids and task spawning as one value that is passed down.
//!
//! A program makes one [`Ambient`] and hands clones of it to every layer. Tests make a seeded one: its wall clock
//! follows tokio's (pausable) clock and its random values come from the seed, so that a run on one thread can be
//! repeated exactly.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use controller_runtime_ambient::Ambient;
//!
//! let ambient = Ambient::seeded(7);
//! let answer = ambient.spawn("answer", async { 42 });
//! assert_eq!(answer.join().await.unwrap(), 42);
//! assert_eq!(Ambient::seeded(7).uuid(), Ambient::seeded(7).uuid());
//! # }
//! ```

mod ambient;
mod clock;
mod random;
mod task;

pub use ambient::Ambient;
pub use task::{Task, TaskError, TaskGroup};
pub use tokio_util::sync::CancellationToken;
