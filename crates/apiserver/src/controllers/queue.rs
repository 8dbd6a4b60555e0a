use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// Work of one controller: each piece at most once, failed pieces again after a delay that grows.
#[derive(Debug)]
pub(super) struct Queue<T> {
    ready: VecDeque<T>,
    is_ready: BTreeSet<T>,
    delayed: BTreeMap<(Instant, u64), T>,
    failures: BTreeMap<T, u32>,
    sequence: u64,
}

/// The delay after the first failure; it doubles with each further one.
const FIRST_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_secs(30);

impl<T: Clone + Ord> Queue<T> {
    pub(super) fn new() -> Self {
        Self {
            ready: VecDeque::new(),
            is_ready: BTreeSet::new(),
            delayed: BTreeMap::new(),
            failures: BTreeMap::new(),
            sequence: 0,
        }
    }

    /// Adds work that is to be done now, unless it is waiting already.
    pub(super) fn add(&mut self, work: T) {
        if self.is_ready.insert(work.clone()) {
            self.ready.push_back(work);
        }
    }

    /// Adds work that is to be done then.
    pub(super) fn add_at(&mut self, due: Instant, work: T) {
        self.sequence += 1;
        self.delayed.insert((due, self.sequence), work);
    }

    /// The next piece of work.
    pub(super) fn pop(&mut self) -> Option<T> {
        let work = self.ready.pop_front()?;
        self.is_ready.remove(&work);
        Some(work)
    }

    /// Puts failed work back, for later.
    pub(super) fn retry(&mut self, work: T) {
        let failures = self.failures.entry(work.clone()).or_default();
        let delay = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(*failures)).min(MAX_DELAY);
        *failures = failures.saturating_add(1);
        self.add_at(Instant::now() + delay, work);
    }

    /// Forgets that work failed before, because it succeeded now or does not matter any more.
    pub(super) fn forget(&mut self, work: &T) {
        self.failures.remove(work);
    }

    /// Whether there is work to do now.
    pub(super) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// When the next failed piece is to be done again.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((due, _), _)| *due)
    }

    /// Makes ready what is due.
    pub(super) fn release(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry().filter(|entry| entry.key().0 <= now) {
            let work = entry.remove();
            self.add(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Queue;

    #[test]
    fn work_waits_once() {
        let mut queue = Queue::new();
        for work in ["a", "b", "a"] {
            queue.add(work);
        }
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some("a"), Some("b"), None));
        queue.add("a");
        assert!(queue.is_ready());
    }

    #[tokio::test(start_paused = true)]
    async fn failed_work_comes_back_later_and_later() {
        let mut queue = Queue::new();
        let mut delays = Vec::new();
        for _ in 0..15 {
            queue.retry("a");
            let due = queue.next_due().expect("it waits");
            delays.push(due - Instant::now());
            queue.release(due);
            assert_eq!(queue.pop(), Some("a"));
        }
        assert_eq!(delays[..4], [5, 10, 20, 40].map(Duration::from_millis));
        assert_eq!(delays[14], Duration::from_secs(30));
        queue.forget(&"a");
        queue.retry("a");
        assert_eq!(queue.next_due(), Some(Instant::now() + Duration::from_millis(5)));
    }
}
