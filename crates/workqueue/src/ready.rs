use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::entry::{Entry, Moment, Slab, Slot};

/// Of so many takes one goes to the oldest key, if that has been ready for longer than the patience.
const AGED_TAKE: u32 = 4;

/// Nodes that a lane may hold without a look at how many of them are stale.
const KEEP: usize = 1024;

/// The keys that are ready, by priority and then in the order in which they came to it.
///
/// The highest priority goes first. So that none starves, every fourth take goes to the key that has been ready longest,
/// whatever its priority, if that is longer than the patience.
#[derive(Debug)]
pub(crate) struct Ready {
    /// All lanes but that of priority 0 have current nodes.
    lanes: BTreeMap<i32, Lane>,
    /// Keys whose priority rose while they were ready: they stand behind younger ones in their lanes.
    raised: BTreeSet<(u64, Slot)>,
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
        Self { lanes: BTreeMap::new(), raised: BTreeSet::new(), len: 0, patience, takes: 0, turns: 0 }
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
        self.lanes.entry(priority).or_default().push(Node { turn: self.turns, slot, ticket });
        self.len += 1;
        self.turns
    }

    /// Moves a slot, whose ticket was renewed, behind the others of a higher priority. It keeps its age.
    pub(crate) fn raise<K>(&mut self, (from, to): (i32, i32), turn: u64, slot: Slot, ticket: u32, slab: &Slab<K>) {
        self.leave(from, slab);
        self.lanes.entry(to).or_default().push(Node { turn, slot, ticket });
        self.raised.insert((turn, slot));
    }

    /// Takes the key whose turn it is.
    pub(crate) fn pop<K>(&mut self, now: Moment, slab: &mut Slab<K>) -> Option<Slot> {
        if self.len == 0 {
            return None;
        }
        self.takes = (self.takes + 1) % AGED_TAKE;
        let slot = match self.takes {
            0 => self.pop_oldest(now, slab),
            _ => None,
        };
        let slot = slot.or_else(|| self.pop_highest(slab))?;
        self.len -= 1;
        Some(slot)
    }

    fn pop_highest<K>(&mut self, slab: &Slab<K>) -> Option<Slot> {
        let (priority, lane) = self.lanes.iter_mut().rev().find(|(_, lane)| lane.len > 0)?;
        lane.skip_stale(slab);
        let node = lane.nodes.pop_front()?;
        if !self.raised.is_empty() {
            self.raised.remove(&(node.turn, node.slot));
        }
        let priority = *priority;
        self.leave(priority, slab);
        Some(node.slot)
    }

    /// Takes the key that has been ready longest, if that is longer than the patience.
    fn pop_oldest<K>(&mut self, now: Moment, slab: &mut Slab<K>) -> Option<Slot> {
        if self.lanes.len() == 1 && self.raised.is_empty() {
            // It is the next one anyway.
            return None;
        }
        let mut oldest = self.raised.first().copied();
        for lane in self.lanes.values_mut() {
            lane.skip_stale(slab);
            let front = lane.nodes.front().map(|front| (front.turn, front.slot));
            oldest = oldest.into_iter().chain(front).min();
        }
        let (turn, slot) = oldest?;
        let entry = slab.get(slot)?;
        let (since, priority) = (Entry::ready_since(entry)?, entry.priority);
        if now.saturating_sub(since) <= self.patience {
            return None;
        }
        self.raised.remove(&(turn, slot));
        // Its node stays and is skipped when its turn comes.
        slab.renew(slot);
        self.leave(priority, slab);
        Some(slot)
    }

    /// One current node less in a lane.
    fn leave<K>(&mut self, priority: i32, slab: &Slab<K>) {
        let Some(lane) = self.lanes.get_mut(&priority) else { return };
        lane.len -= 1;
        if lane.len > 0 {
            lane.compact(slab);
        } else if priority == 0 {
            // The usual lane stays, without the memory that a burst took.
            lane.nodes.clear();
            lane.nodes.shrink_to(KEEP);
        } else {
            self.lanes.remove(&priority);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.lanes.clear();
        self.raised.clear();
        self.len = 0;
    }
}

impl Lane {
    fn push(&mut self, node: Node) {
        self.nodes.push_back(node);
        self.len += 1;
    }

    fn skip_stale<K>(&mut self, slab: &Slab<K>) {
        while self.nodes.front().is_some_and(|node| !slab.is_current(node.slot, node.ticket)) {
            self.nodes.pop_front();
        }
    }

    /// Drops stale nodes once they are the most, so that a lane whose front stays for long doesn't grow.
    fn compact<K>(&mut self, slab: &Slab<K>) {
        if self.nodes.len() > KEEP && self.nodes.len() > 2 * self.len {
            self.nodes.retain(|node| slab.is_current(node.slot, node.ticket));
            self.nodes.shrink_to((2 * self.len).max(KEEP));
        }
    }
}
