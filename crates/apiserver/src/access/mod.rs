//! Who may use the server.

mod identity;
pub(crate) mod reviews;

pub(crate) use identity::AUTHENTICATED;
pub use identity::Identity;
