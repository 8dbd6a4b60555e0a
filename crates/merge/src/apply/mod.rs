//! Server-side apply (KEP-555), and who owns what after any other write.

mod conflict;
mod error;
mod kind;
mod last_applied;
mod options;
mod prune;
mod server_side;
mod structured;
mod update;
mod versions;

pub use conflict::{Conflict, Conflicts};
pub use error::ApplyError;
pub use options::{Apply, Update};
pub use server_side::apply;
pub use update::track_update;
pub use versions::{ConversionError, NoOtherVersions, Versioned, Versions};
