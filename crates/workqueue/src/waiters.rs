use std::collections::VecDeque;
use std::task::Waker;

/// The workers that wait for a key, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    list: VecDeque<(u64, Waker)>,
    last: u64,
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

    /// Removes a waiter; `false` when it was woken before.
    pub(crate) fn remove(&mut self, id: u64) -> bool {
        let before = self.list.len();
        self.list.retain(|(known, _)| *known != id);
        self.list.len() < before
    }

    /// Takes the one who has waited longest, to be woken.
    pub(crate) fn pop(&mut self) -> Option<Waker> {
        self.list.pop_front().map(|(_, waker)| waker)
    }

    /// Takes up to `n`, to be woken.
    pub(crate) fn pop_up_to(&mut self, n: usize) -> Vec<Waker> {
        let n = n.min(self.list.len());
        self.list.drain(..n).map(|(_, waker)| waker).collect()
    }
}
