use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Event;

/// How much of the past a store remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistoryLimits {
    /// Events over all collections.
    pub(crate) events: usize,
    /// Bytes that the remembered objects take as JSON, about.
    pub(crate) bytes: usize,
}

/// The newest events, for watches that resume and snapshots of the past.
#[derive(Debug)]
pub(super) struct History {
    limits: HistoryLimits,
    /// Revisions before this one were given up on request, as etcd's compaction does.
    compacted: u64,
    /// The newest forgotten event, of all collections and of each.
    lost: u64,
    lost_of: BTreeMap<Arc<str>, u64>,
    bytes: usize,
    order: VecDeque<Arc<Event>>,
    collections: BTreeMap<Arc<str>, VecDeque<Arc<Event>>>,
}

impl History {
    pub(super) fn new(limits: HistoryLimits) -> Self {
        Self {
            limits,
            compacted: 0,
            lost: 0,
            lost_of: BTreeMap::new(),
            bytes: 0,
            order: VecDeque::new(),
            collections: BTreeMap::new(),
        }
    }

    /// The newest event that is forgotten: who has not seen it misses something.
    pub(super) fn lost(&self, collection: Option<&str>) -> u64 {
        collection.map_or(self.lost, |name| self.lost_of.get(name).copied().unwrap_or_default())
    }

    /// The oldest revision whose state can be rebuilt and from which a watch can start.
    pub(super) fn oldest(&self, collection: Option<&str>) -> u64 {
        self.lost(collection).max(self.compacted)
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        self.bytes = self.bytes.saturating_add(weight(&event));
        self.collections.entry(Arc::clone(&event.object.collection)).or_default().push_back(Arc::clone(&event));
        self.order.push_back(event);
        while self.order.len() > self.limits.events.max(1) || (self.bytes > self.limits.bytes && self.order.len() > 1) {
            self.forget_oldest();
        }
    }

    /// Forgets everything up to and including `revision`.
    pub(super) fn compact(&mut self, revision: u64) {
        while self.order.front().is_some_and(|oldest| oldest.revision() <= revision) {
            self.forget_oldest();
        }
        self.compacted = self.compacted.max(revision);
    }

    /// Events of one collection after `revision`, oldest first.
    pub(super) fn of_collection(
        &self,
        collection: &str,
        revision: u64,
    ) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        after(self.collections.get(collection), revision)
    }

    /// Events of all collections after `revision`, oldest first.
    pub(super) fn of_all(&self, revision: u64) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        after(Some(&self.order), revision)
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        self.lost = oldest.revision();
        self.lost_of.insert(Arc::clone(&oldest.object.collection), oldest.revision());
        self.bytes = self.bytes.saturating_sub(weight(&oldest));
        if let Some(events) = self.collections.get_mut(&oldest.object.collection) {
            events.pop_front();
            if events.is_empty() {
                self.collections.remove(&oldest.object.collection);
            }
        }
    }
}

fn after(events: Option<&VecDeque<Arc<Event>>>, revision: u64) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
    events.into_iter().flat_map(move |events| {
        let start = events.partition_point(|event| event.revision() <= revision);
        events.range(start..)
    })
}

fn weight(event: &Event) -> usize {
    event.object.size
}
