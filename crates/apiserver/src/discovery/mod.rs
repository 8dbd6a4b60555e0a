//! What clients ask first: which groups, versions and resources there are.
//!
//! Both forms are made from the registry on each request, so that custom resources show up with their definitions:
//! the lists of each group version, and the aggregated list of everything (KEP-3352).

mod aggregated;
mod group_version;
mod listed;

pub(crate) use self::aggregated::aggregated;
pub(crate) use self::group_version::precedence;
pub(crate) use self::listed::{api_versions, group, groups, resources};

#[cfg(test)]
mod tests;
