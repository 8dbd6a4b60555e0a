mod failure;
mod group;
mod groups;

pub(crate) use failure::Failure;
pub(crate) use group::Group;
pub(crate) use groups::Groups;
