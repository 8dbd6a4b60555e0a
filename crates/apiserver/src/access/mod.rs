//! Who may use the server.

mod identity;

pub(crate) use identity::AUTHENTICATED;
pub use identity::Identity;
