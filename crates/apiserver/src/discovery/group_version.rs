use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::catalogue;
use crate::registry::Registry;
use crate::resource::Resource;

/// A group with its versions, the preferred one first.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) versions: Vec<GroupVersion>,
}

/// A version of a group with its resources.
#[derive(Debug)]
pub(super) struct GroupVersion {
    pub(super) version: String,
    pub(super) resources: Vec<Arc<Resource>>,
}

/// All groups in the order in which clients see them: the built-in ones as the reference orders them, then those of
/// custom resources by name.
pub(super) fn groups(registry: &Registry) -> Vec<Group> {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<Arc<Resource>>>> = BTreeMap::new();
    for resource in registry.all() {
        let versions = found.entry(resource.group.clone()).or_default();
        versions.entry(resource.version.clone()).or_default().push(resource);
    }
    let mut groups: Vec<Group> = found
        .into_iter()
        .map(|(name, versions)| {
            let versions = versions.into_iter().map(|(version, resources)| GroupVersion { version, resources });
            let mut versions: Vec<GroupVersion> = versions.collect();
            versions.sort_by_key(|version| Reverse(precedence(&version.version)));
            Group { name, versions }
        })
        .collect();
    groups.sort_by_key(|group| place(&group.name));
    groups
}

/// Where a built-in group stands; custom ones come last.
fn place(group: &str) -> usize {
    catalogue().group_versions.iter().position(|known| known.group == group).unwrap_or(usize::MAX)
}

/// How much clients should prefer a version: stable before beta before alpha, later before earlier, and what isn't named
/// like a Kubernetes version after all that is.
pub(crate) fn precedence(version: &str) -> (u8, u32, u32) {
    let read = || {
        let rest = version.strip_prefix('v')?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (major, stage) = rest.split_at_checked(end)?;
        let major = major.parse().ok()?;
        if stage.is_empty() {
            return Some((3, major, 0));
        }
        let (rank, minor) = match stage.strip_prefix("beta") {
            Some(minor) => (2, minor),
            None => (1, stage.strip_prefix("alpha")?),
        };
        Some((rank, major, minor.parse().ok()?))
    };
    read().unwrap_or_default()
}
