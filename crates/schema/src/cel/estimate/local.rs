use std::collections::BTreeMap;

use super::range::Estimate;

/// Whether entries belong to a list or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    List,
    Map,
}

/// The sizes of the keys and values of a list or a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntrySize {
    pub(super) container: Container,
    pub(super) key: Estimate,
    pub(super) value: Estimate,
}

impl EntrySize {
    pub(super) fn union(self, other: Self) -> Self {
        Self { container: self.container, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// A variable that a comprehension declares.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) path: Vec<String>,
    pub(super) size: Option<Estimate>,
    pub(super) entries: Option<EntrySize>,
}

/// The variables of the comprehensions around an expression; inner ones hide outer ones of the same name.
#[derive(Debug, Default)]
pub(super) struct Locals(BTreeMap<String, Vec<Local>>);

impl Locals {
    pub(super) fn push(&mut self, name: &str, local: Local) {
        self.0.entry(name.to_owned()).or_default().push(local);
    }

    pub(super) fn pop(&mut self, name: &str) {
        if let Some(stack) = self.0.get_mut(name) {
            stack.pop();
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Local> {
        self.0.get(name)?.last()
    }
}
