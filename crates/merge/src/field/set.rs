//! Sets of field paths.

use std::collections::{BTreeMap, BTreeSet};

use super::{FieldPath, PathElement};

/// A set of field paths, kept as a tree.
///
/// A path in the set says nothing about the paths below it: `.spec` can be a member without `.spec.replicas`, and the
/// other way round. The empty path is never a member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    members: BTreeSet<PathElement>,
    children: BTreeMap<PathElement, FieldSet>,
}

impl FieldSet {
    /// A set without members.
    pub fn new() -> FieldSet {
        FieldSet::default()
    }

    /// Adds a path; the empty path is ignored.
    pub fn insert(&mut self, path: &FieldPath) {
        let Some((last, parents)) = path.elements().split_last() else { return };
        let mut node = self;
        for element in parents {
            node = node.children.entry(element.clone()).or_default();
        }
        node.members.insert(last.clone());
    }

    /// Whether exactly this path is a member.
    pub fn has(&self, path: &FieldPath) -> bool {
        let Some((last, parents)) = path.elements().split_last() else { return false };
        let mut node = self;
        for element in parents {
            match node.children.get(element) {
                Some(child) => node = child,
                None => return false,
            }
        }
        node.members.contains(last)
    }

    /// Whether the set has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(FieldSet::is_empty)
    }

    /// How many paths are members.
    pub fn len(&self) -> usize {
        self.members.len() + self.children.values().map(FieldSet::len).sum::<usize>()
    }

    /// The paths that are in either set.
    #[must_use]
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut union = self.clone();
        union.extend_with(other);
        union
    }

    fn extend_with(&mut self, other: &FieldSet) {
        self.members.extend(other.members.iter().cloned());
        for (element, child) in &other.children {
            self.children.entry(element.clone()).or_default().extend_with(child);
        }
    }

    /// The paths that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let members = self.members.intersection(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(element, child)| {
            let common = child.intersection(other.children.get(element)?);
            (!common.is_empty()).then(|| (element.clone(), common))
        });
        FieldSet { members, children: children.collect() }
    }

    /// The paths of this set that aren't in the other.
    #[must_use]
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(element, child)| {
            let rest = match other.children.get(element) {
                Some(other) => child.difference(other),
                None => child.clone(),
            };
            (!rest.is_empty()).then(|| (element.clone(), rest))
        });
        FieldSet { members, children: children.collect() }
    }

    /// The paths of this set that are neither in the other nor below one that is.
    #[must_use]
    pub fn recursive_difference(&self, other: &FieldSet) -> FieldSet {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(element, child)| {
            if other.members.contains(element) {
                return None;
            }
            let rest = match other.children.get(element) {
                Some(other) => child.recursive_difference(other),
                None => child.clone(),
            };
            (!rest.is_empty()).then(|| (element.clone(), rest))
        });
        FieldSet { members, children: children.collect() }
    }

    /// All paths; those of one map or list before those below it.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut paths = Vec::new();
        self.collect_paths(&mut FieldPath::root(), &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &mut FieldPath, paths: &mut Vec<FieldPath>) {
        paths.extend(self.members.iter().map(|element| prefix.clone().child(element.clone())));
        for (element, child) in &self.children {
            prefix.push(element.clone());
            child.collect_paths(prefix, paths);
            prefix.pop();
        }
    }

    pub(crate) fn members(&self) -> &BTreeSet<PathElement> {
        &self.members
    }

    pub(crate) fn children(&self) -> &BTreeMap<PathElement, FieldSet> {
        &self.children
    }

    pub(crate) fn from_parts(members: BTreeSet<PathElement>, children: BTreeMap<PathElement, FieldSet>) -> FieldSet {
        FieldSet { members, children }
    }

    pub(crate) fn insert_member(&mut self, element: PathElement) {
        self.members.insert(element);
    }

    /// Adds everything of `child` below `element`.
    pub(crate) fn insert_below(&mut self, element: PathElement, child: FieldSet) {
        match self.children.entry(element) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(child);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => entry.get_mut().extend_with(&child),
        }
    }
}

impl FromIterator<FieldPath> for FieldSet {
    fn from_iter<I: IntoIterator<Item = FieldPath>>(paths: I) -> FieldSet {
        let mut set = FieldSet::new();
        for path in paths {
            set.insert(&path);
        }
        set
    }
}
