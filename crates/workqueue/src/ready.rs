use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::entry::{Entry, Moment, Slab, Slot};

/// Of so many takes one goes to the oldest key, once it has been ready for longer than the patience.
const AGED_TAKE: u32 = 4;

/// The keys that are ready, by priority and then in the order in which they became so.
///
/// The highest priority goes first. So that none starves, every fourth take goes to the key that has been ready longest,
/// whatever its priority, if that is longer than the patience.
#[derive(Debug)]
pub(crate) struct Ready {
    lanes: BTreeMap<i32, Lane>,
    len: usize,
    patience: Moment,
    takes: u32,
    turns: u64,
}

#[derive(Debug, Default)]
struct Lane {
    nodes: VecDeque<Node>,
    /// How many of the nodes are current.
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The order in which keys became ready, over all priorities.
    turn: u64,
    slot: Slot,
    ticket: u32,
}

impl Ready {
    pub(crate) fn new(patience: Duration) -> Self {
        let patience = Moment::try_from(patience.as_nanos()).unwrap_or(Moment::MAX);
        Self { lanes: BTreeMap::new(), len: 0, patience, takes: 0, turns: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn depth(&self) -> Vec<(i32, usize)> {
        self.lanes.iter().map(|(priority, lane)| (*priority, lane.len)).filter(|(_, len)| *len > 0).collect()
    }

    /// Appends a slot that has no current node and gives its turn.
    pub(crate) fn push(&mut self, priority: i32, slot: Slot, ticket: u32) -> u64 {
        self.turns += 1;
        let lane = self.lanes.entry(priority).or_default();
        lane.nodes.push_back(Node { turn: self.turns, slot, ticket });
        lane.len += 1;
        self.len += 1;
        self.turns
    }

    /// Moves a slot, whose ticket was renewed, to a higher priority, where its turn gives it its place.
    pub(crate) fn raise(&mut self, from: i32, to: i32, turn: u64, slot: Slot, ticket: u32) {
        if let Some(lane) = self.lanes.get_mut(&from) {
            // Its node stays and is skipped when its turn comes.
            lane.len -= 1;
        }
        let lane = self.lanes.entry(to).or_default();
        let place = lane.nodes.partition_point(|node| node.turn < turn);
        lane.nodes.insert(place, Node { turn, slot, ticket });
        lane.len += 1;
    }

    /// Takes the key whose turn it is.
    pub(crate) fn pop<K>(&mut self, now: Moment, slab: &Slab<K>) -> Option<Slot> {
        let priority = self.next_priority(now, slab)?;
        let lane = self.lanes.get_mut(&priority)?;
        let node = lane.nodes.pop_front()?;
        lane.len -= 1;
        self.len -= 1;
        if lane.nodes.is_empty() {
            if priority == 0 {
                // The usual lane stays, without the memory that a burst took.
                lane.nodes.shrink_to(1024);
            } else {
                self.lanes.remove(&priority);
            }
        }
        Some(node.slot)
    }

    /// The priority whose first key is next. That lane's first node is current.
    fn next_priority<K>(&mut self, now: Moment, slab: &Slab<K>) -> Option<i32> {
        if self.lanes.len() == 1 {
            // The hot path: no priorities in use.
            let (priority, lane) = self.lanes.iter_mut().next()?;
            lane.skip_stale(slab);
            return (lane.len > 0).then_some(*priority);
        }
        self.lanes.retain(|priority, lane| {
            lane.skip_stale(slab);
            lane.len > 0 || *priority == 0
        });
        let (highest, _) = self.lanes.iter().rev().find(|(_, lane)| lane.len > 0)?;
        let fronts = self.lanes.iter().filter_map(|(priority, lane)| Some((lane.nodes.front()?, *priority)));
        let (front, oldest) = fronts.min_by_key(|(front, _)| front.turn)?;
        let since = slab.get(front.slot).and_then(Entry::ready_since).unwrap_or(now);
        if oldest == *highest || now.saturating_sub(since) <= self.patience {
            self.takes = 0;
            return Some(*highest);
        }
        self.takes += 1;
        if self.takes < AGED_TAKE {
            return Some(*highest);
        }
        self.takes = 0;
        Some(oldest)
    }

    pub(crate) fn clear(&mut self) {
        self.lanes.clear();
        self.len = 0;
    }
}

impl Lane {
    fn skip_stale<K>(&mut self, slab: &Slab<K>) {
        while self.nodes.front().is_some_and(|node| !slab.is_current(node.slot, node.ticket)) {
            self.nodes.pop_front();
        }
    }
}
