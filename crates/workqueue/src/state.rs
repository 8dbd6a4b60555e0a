use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;

use crate::delayed::Delayed;
use crate::entry::{Entry, Moment, Pending, Running, Slab, Slot};
use crate::ready::Ready;
use crate::waiters::Waiters;

/// Above so many places an empty queue gives its memory back.
const KEEP: usize = 1024;

/// Whether keys come in and go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// Nothing comes in; what is ready still goes out.
    Draining,
    Closed,
}

/// What the lock guards.
#[derive(Debug)]
pub(crate) struct State<K> {
    pub(crate) phase: Phase,
    slab: Slab<K>,
    /// From a key's hash to its slot. Never iterated: its order can't be seen.
    index: HashTable<Slot>,
    ready: Ready,
    delayed: Delayed,
    running: Vec<Slot>,
    /// How many keys have failures to remember.
    failing: usize,
    pub(crate) waiters: Waiters,
    /// Time as seen under the lock never goes back.
    clock: Moment,
}

/// What happened under the lock that is to be done or told after it.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// So many keys became ready, for the observer.
    pub(crate) added: usize,
    /// A key was put off, for the observer.
    pub(crate) put_off: bool,
    /// A key became the next that is due: the timer must know.
    pub(crate) rearm: bool,
}

/// A key that a worker has taken.
#[derive(Debug)]
pub(crate) struct Taken<K> {
    pub(crate) slot: Slot,
    pub(crate) key: Arc<K>,
    pub(crate) priority: i32,
    pub(crate) waited: Duration,
}

/// What a queue holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// How many keys are ready, by priority. Priorities without keys are left out.
    pub depth: Vec<(i32, usize)>,
    /// How many keys wait for their time.
    pub waiting: usize,
    /// How many keys workers have.
    pub running: usize,
    /// How long they have had them, in sum.
    pub unfinished: Duration,
    /// How long the longest of them has been taken.
    pub longest_running: Duration,
}

impl<K: Eq> State<K> {
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            phase: Phase::Open,
            slab: Slab::new(),
            index: HashTable::new(),
            ready: Ready::new(patience),
            delayed: Delayed::default(),
            running: Vec::new(),
            failing: 0,
            waiters: Waiters::default(),
            clock: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn next_due(&self) -> Option<Moment> {
        self.delayed.next()
    }

    /// The latest time that the state was changed at.
    pub(crate) fn last_seen(&self) -> Moment {
        self.clock
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.ready.len() == 0 && self.running.is_empty()
    }

    /// Whether no key will come any more: nothing comes in, nothing is ready, and nothing comes back from a worker.
    pub(crate) fn has_ended(&self) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::Draining => self.is_idle(),
            Phase::Closed => true,
        }
    }

    fn find(&self, hash: u64, key: &K) -> Option<Slot> {
        self.index.find(hash, |slot| self.slab.get(*slot).is_some_and(|entry| *entry.key == *key)).copied()
    }

    fn find_or_insert(&mut self, hash: u64, key: K) -> Slot {
        let slab = &self.slab;
        let same = |slot: &Slot| slab.get(*slot).is_some_and(|entry| *entry.key == key);
        let hash_of = |slot: &Slot| slab.get(*slot).map_or(0, |entry| entry.hash);
        match self.index.entry(hash, same, hash_of) {
            TableEntry::Occupied(known) => *known.get(),
            TableEntry::Vacant(vacant) => {
                let (pending, running) = (Pending::None, None);
                let key = Arc::new(key);
                let slot = self.slab.insert(Entry { key, hash, pending, running, failures: 0, priority: 0 });
                vacant.insert(slot);
                slot
            }
        }
    }

    /// Moves what is due to the ready list.
    pub(crate) fn promote(&mut self, now: Moment, effects: &mut Effects) -> Moment {
        self.clock = self.clock.max(now);
        let now = self.clock;
        while let Some((at, slot)) = self.delayed.pop_due(now) {
            self.make_ready(slot, at, effects);
        }
        now
    }

    /// Gives an entry that has nothing in the ready or delayed lists a ready trigger.
    fn make_ready(&mut self, slot: Slot, since: Moment, effects: &mut Effects) {
        effects.added += 1;
        let ticket = self.slab.renew(slot);
        let Some(entry) = self.slab.get_mut(slot) else { return };
        let turn = if entry.running.is_none() { self.ready.push(entry.priority, slot, ticket) } else { 0 };
        entry.pending = Pending::Ready { since, turn };
    }

    /// The slot of a key, to be triggered; `None` when nothing comes in any more.
    pub(crate) fn admit(&mut self, hash: u64, key: K) -> Option<Slot> {
        (self.phase == Phase::Open).then(|| self.find_or_insert(hash, key))
    }

    /// Lets a known key be delivered at `at`, unless it is going to be earlier anyway or nothing comes in any more.
    pub(crate) fn trigger(&mut self, slot: Slot, now: Moment, at: Moment, priority: i32, effects: &mut Effects) {
        let now = self.promote(now, effects);
        if self.phase != Phase::Open {
            return;
        }
        let Some(entry) = self.slab.get_mut(slot) else { return };
        let before = (entry.pending, entry.priority);
        entry.priority = if entry.pending == Pending::None { priority } else { priority.max(entry.priority) };
        let raised = entry.priority;
        match before.0 {
            Pending::Ready { turn, .. } => {
                if raised > before.1 && entry.running.is_none() {
                    let ticket = self.slab.renew(slot);
                    self.ready.raise((before.1, raised), turn, slot, ticket, &self.slab);
                }
                return;
            }
            Pending::Delayed { at: known, .. } if known <= at => return,
            Pending::Delayed { at: known, order } => self.delayed.remove(known, order, slot),
            Pending::None => {}
        }
        if at <= now {
            self.make_ready(slot, now, effects);
            return;
        }
        effects.rearm |= self.delayed.next().is_none_or(|next| at < next);
        let order = self.delayed.insert(at, slot);
        if let Some(entry) = self.slab.get_mut(slot) {
            entry.pending = Pending::Delayed { at, order };
        }
    }

    /// Takes the next ready key, if there is one.
    pub(crate) fn take(&mut self, now: Moment, effects: &mut Effects) -> Option<Taken<K>> {
        let now = self.promote(now, effects);
        let slot = self.ready.pop(now, &mut self.slab)?;
        let position = self.running.len();
        let entry = self.slab.get_mut(slot)?;
        let since = entry.ready_since()?;
        entry.pending = Pending::None;
        entry.running = Some(Running { since: now, position });
        self.running.push(slot);
        let waited = Duration::from_nanos(now - since);
        Some(Taken { slot, key: entry.key.clone(), priority: entry.priority, waited })
    }

    /// A worker is done with a key. Gives how long it had it.
    pub(crate) fn done(&mut self, slot: Slot, now: Moment, effects: &mut Effects) -> Duration {
        let now = self.promote(now, effects);
        let Some(entry) = self.slab.get_mut(slot) else { return Duration::ZERO };
        let Some(running) = entry.running.take() else { return Duration::ZERO };
        let (pending, priority, hash, failures) = (entry.pending, entry.priority, entry.hash, entry.failures);
        self.running.swap_remove(running.position);
        if let Some(moved) = self.running.get(running.position).copied()
            && let Some(moved) = self.slab.get_mut(moved).and_then(|entry| entry.running.as_mut())
        {
            moved.position = running.position;
        }
        match pending {
            Pending::Ready { since, .. } if self.phase != Phase::Closed => {
                // Its turn comes after what is ready already.
                let ticket = self.slab.renew(slot);
                let turn = self.ready.push(priority, slot, ticket);
                if let Some(entry) = self.slab.get_mut(slot) {
                    entry.pending = Pending::Ready { since, turn };
                }
            }
            Pending::None if failures == 0 => self.release(slot, hash),
            Pending::None | Pending::Delayed { .. } | Pending::Ready { .. } => {}
        }
        Duration::from_nanos(now - running.since)
    }

    /// Forgets a key that has nothing to be remembered.
    fn release(&mut self, slot: Slot, hash: u64) {
        if let Ok(found) = self.index.find_entry(hash, |known| *known == slot) {
            found.remove();
        }
        self.slab.remove(slot);
        self.shrink();
    }

    fn shrink(&mut self) {
        if self.slab.len() == 0 && self.slab.capacity() > KEEP {
            self.slab = Slab::new();
            self.index = HashTable::new();
            self.ready.clear();
        }
    }

    /// Forgets a key's failures. Gives the key if it had any.
    pub(crate) fn forget(&mut self, slot: Slot) -> Option<Arc<K>> {
        let entry = self.slab.get_mut(slot)?;
        if std::mem::take(&mut entry.failures) == 0 {
            return None;
        }
        let (key, hash) = (entry.key.clone(), entry.hash);
        let known = entry.running.is_some() || entry.pending != Pending::None;
        self.failing -= 1;
        if !known {
            self.release(slot, hash);
        }
        Some(key)
    }

    pub(crate) fn forget_key(&mut self, hash: u64, key: &K) -> Option<Arc<K>> {
        self.find(hash, key).and_then(|slot| self.forget(slot))
    }

    /// How many keys have failures to remember.
    pub(crate) fn failing(&self) -> usize {
        self.failing
    }

    pub(crate) fn failures(&self, hash: u64, key: &K) -> u32 {
        self.find(hash, key).map_or(0, |slot| self.failures_at(slot))
    }

    pub(crate) fn failures_at(&self, slot: Slot) -> u32 {
        self.slab.get(slot).map_or(0, |entry| entry.failures)
    }

    /// Counts a failure of a key and gives the key and how many it had before.
    pub(crate) fn fail(&mut self, slot: Slot) -> Option<(&K, u32)> {
        let entry = self.slab.get_mut(slot)?;
        let before = entry.failures;
        entry.failures = before.saturating_add(1);
        self.failing += usize::from(before == 0);
        Some((&entry.key, before))
    }

    /// Stops adds and drops what waits; on closing also what is ready. Gives all who wait for a key or for the end.
    pub(crate) fn enter(&mut self, phase: Phase) -> Vec<Waker> {
        if self.phase != Phase::Closed {
            self.phase = phase;
        }
        self.delayed.clear();
        if self.phase == Phase::Closed {
            self.ready.clear();
        }
        self.waiters.all()
    }

    pub(crate) fn snapshot(&mut self, now: Moment, effects: &mut Effects) -> Snapshot {
        let now = self.promote(now, effects);
        let taken = |slot: &Slot| {
            let since = self.slab.get(*slot).and_then(|entry| entry.running).map_or(now, |running| running.since);
            Duration::from_nanos(now - since)
        };
        Snapshot {
            depth: self.ready.depth(),
            waiting: self.delayed.len(),
            running: self.running.len(),
            unfinished: self.running.iter().map(taken).sum(),
            longest_running: self.running.iter().map(taken).max().unwrap_or_default(),
        }
    }
}
