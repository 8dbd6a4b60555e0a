use std::collections::BTreeSet;

use crate::entry::{Moment, Slot};

/// The keys that wait for their time, earliest first; of equal times the one that was put here first.
#[derive(Debug, Default)]
pub(crate) struct Delayed {
    nodes: BTreeSet<(Moment, u64, Slot)>,
    order: u64,
}

impl Delayed {
    /// Adds a slot that isn't here and gives its order among equal moments.
    pub(crate) fn insert(&mut self, at: Moment, slot: Slot) -> u64 {
        self.order += 1;
        self.nodes.insert((at, self.order, slot));
        self.order
    }

    pub(crate) fn remove(&mut self, at: Moment, order: u64, slot: Slot) {
        self.nodes.remove(&(at, order, slot));
    }

    /// When the next key is due.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.nodes.first().map(|(at, _, _)| *at)
    }

    /// Takes a key that is due.
    pub(crate) fn pop_due(&mut self, now: Moment) -> Option<(Moment, Slot)> {
        let (at, order, slot) = *self.nodes.first()?;
        if at > now {
            return None;
        }
        self.nodes.remove(&(at, order, slot));
        Some((at, slot))
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
    }
}
