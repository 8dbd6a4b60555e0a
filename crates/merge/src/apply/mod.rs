//! Server-side apply (KEP-555), and who owns what after any other write.

mod conflict;
mod error;
mod last_applied;
mod options;
mod prune;
mod server_side;
mod structured;
mod update;

pub use conflict::{Conflict, Conflicts};
pub use error::ApplyError;
pub use options::{Apply, Update};
pub use server_side::apply;
pub use update::track_update;
