mod failure;
mod group;
mod groups;
mod still_running;

pub(crate) use failure::Failure;
pub(crate) use group::Group;
pub(crate) use groups::Groups;
pub use still_running::{ShutdownReport, StillRunning};
