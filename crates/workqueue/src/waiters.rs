use std::collections::VecDeque;
use std::task::Waker;

use crate::entry::Moment;

/// A waiter that was woken and hasn't come for this long, in nanoseconds, doesn't hold up others.
const PATIENCE: Moment = 1_000_000;

/// The workers that wait for a key, in the order in which they came.
///
/// One is woken at a time: it wakes the next when it leaves keys behind. A burst of adds then costs one wake-up where
/// workers are quick, and no more than one per key where they aren't.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    list: VecDeque<(u64, Waker)>,
    last: u64,
    /// Who was woken and hasn't come yet, and when.
    waking: Option<(u64, Moment)>,
}

impl Waiters {
    /// Registers a waiter, or keeps the place of one that is registered, and gives its id.
    pub(crate) fn register(&mut self, id: Option<u64>, waker: &Waker) -> u64 {
        if let Some((id, known)) = self.list.iter_mut().find(|(known, _)| Some(*known) == id) {
            known.clone_from(waker);
            return *id;
        }
        self.last += 1;
        self.list.push_back((self.last, waker.clone()));
        self.last
    }

    /// A waiter has come for a key, or goes away.
    pub(crate) fn arrived(&mut self, id: u64) {
        if self.waking.is_some_and(|(waking, _)| waking == id) {
            self.waking = None;
        } else {
            self.list.retain(|(known, _)| *known != id);
        }
    }

    /// Takes the one who has waited longest, to be woken for a key that is ready, unless one is on the way.
    pub(crate) fn next(&mut self, now: Moment) -> Option<Waker> {
        if self.waking.is_some_and(|(_, since)| now.saturating_sub(since) <= PATIENCE) {
            return None;
        }
        let (id, waker) = self.list.pop_front()?;
        self.waking = Some((id, now));
        Some(waker)
    }

    /// Takes all, to be woken.
    pub(crate) fn all(&mut self) -> Vec<Waker> {
        self.waking = None;
        self.list.drain(..).map(|(_, waker)| waker).collect()
    }
}
