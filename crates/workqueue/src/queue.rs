use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Weak};
use std::time::Duration;

use controller_runtime_ambient::{Ambient, Task};

use crate::add::Add;
use crate::builder::QueueBuilder;
use crate::get::Get;
use crate::item::Item;
use crate::shared::{Handle, Shared};
use crate::state::{Phase, Snapshot};

/// A queue of keys; see the [crate's documentation](crate) for its rules. Cloning is cheap; clones are the same queue.
///
/// When the last clone is dropped, keys that wait for their time are not delivered any more.
pub struct Queue<K> {
    shared: Arc<Handle<K>>,
    // Its owners are the clones of the queue, not the items that workers hold.
    timer: Arc<Task<()>>,
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.another(), timer: self.timer.clone() }
    }
}

/// A queue that may be gone: it keeps neither the queue nor its timer alive.
pub struct WeakQueue<K> {
    shared: Weak<Shared<K>>,
}

impl<K: Eq + Hash + Send + Sync + 'static> Queue<K> {
    /// A queue with the defaults.
    ///
    /// # Panics
    /// When called outside a tokio runtime.
    pub fn new(ambient: &Ambient) -> Self {
        Self::builder(ambient).build()
    }

    /// A queue that isn't the default one.
    pub fn builder(ambient: &Ambient) -> QueueBuilder<K> {
        QueueBuilder::new(ambient)
    }

    pub(crate) fn of(shared: Arc<Shared<K>>, timer: Task<()>) -> Self {
        Self { shared: Handle::new(shared), timer: Arc::new(timer) }
    }

    /// Makes a key ready, at once. Nothing happens when it is ready already or the queue is shut down.
    pub fn add(&self, key: K) {
        self.add_with(key, Add::now());
    }

    /// Makes a key ready after `delay`, unless it is going to be earlier anyway.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.add_with(key, Add::after(delay));
    }

    /// Makes a key ready after the delay that the rate limiter gives, and counts a failure of it.
    pub fn add_rate_limited(&self, key: K) {
        self.add_with(key, Add::rate_limited());
    }

    /// Makes a key ready as `how` says.
    pub fn add_with(&self, key: K, how: Add) {
        self.shared.add(key, how);
    }

    /// Forgets a key's failures. A trigger that it waits for stays.
    pub fn forget(&self, key: &K) {
        self.shared.forget_key(key);
    }

    /// How often a key was added rate-limited since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.shared.failures_of(key)
    }

    /// Takes the next key; waits until one is ready. `None` when the queue is shut down, or drained and empty.
    ///
    /// Cancel safe: a key is taken only when the future gives it.
    pub fn get(&self) -> Get<'_, K> {
        Get::new(&self.shared)
    }

    /// Takes the next key if one is ready.
    pub fn try_get(&self) -> Option<Item<K>> {
        let taken = self.shared.take(None).0;
        taken.map(|taken| Item::new(self.shared.clone(), taken))
    }

    /// How many keys are ready. Keys that wait for their time or that workers have don't count.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether no key is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is in the queue, for metrics.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot()
    }

    /// The queue, for those who look at it as long as it is there.
    pub fn downgrade(&self) -> WeakQueue<K> {
        WeakQueue { shared: self.shared.downgrade() }
    }

    /// Closes the queue: keys that are ready or waiting are dropped, [`Queue::get`] gives `None`, adds do nothing.
    pub fn shutdown(&self) {
        self.shared.enter(Phase::Closed);
    }

    /// Shuts the queue down with drain: stops adds and drops what waits for its time, lets workers take what is ready,
    /// and waits until they are done with all they took. After [`Queue::shutdown`] it waits for what they have.
    ///
    /// It waits as long as workers take; a [`tokio::time::timeout`] bounds it. Dropping the future leaves the queue
    /// draining.
    pub async fn drain(&self) {
        self.shared.enter(Phase::Draining);
        self.shared.wait_idle().await;
    }

    /// Whether the queue was shut down, with or without drain: adds do nothing any more.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.is_shutting_down()
    }
}

impl<K: Eq + 'static> WeakQueue<K> {
    /// What is in the queue; `None` when it is gone.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.shared.upgrade().map(|shared| shared.snapshot())
    }
}

impl<K> Clone for WeakQueue<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K> fmt::Debug for WeakQueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakQueue").finish_non_exhaustive()
    }
}

impl<K> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("limiter", &self.shared.limiter).finish_non_exhaustive()
    }
}
