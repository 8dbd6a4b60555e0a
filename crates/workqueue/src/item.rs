use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::add::Add;
use crate::entry::Slot;
use crate::shared::Handle;
use crate::state::Taken;

/// A key that a worker has taken. Nobody else gets the key until this is dropped; then it is done, however that came
/// about, and the key comes back if it was added meanwhile.
#[must_use = "dropping an item means that the work on it is done"]
pub struct Item<K: Eq + 'static> {
    shared: Arc<Handle<K>>,
    key: Arc<K>,
    slot: Slot,
    priority: i32,
    waited: Duration,
}

impl<K: Eq + 'static> Item<K> {
    pub(crate) fn new(shared: Arc<Handle<K>>, taken: Taken<K>) -> Self {
        Self { shared, key: taken.key, slot: taken.slot, priority: taken.priority, waited: taken.waited }
    }

    /// The key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The priority with which the key was queued.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// How long the key was ready before it was taken.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Forgets the key's failures. A trigger that it waits for stays.
    pub fn forget(&self) {
        self.shared.forget(self.slot);
    }

    /// How often the key was added rate-limited since it was last forgotten.
    pub fn num_requeues(&self) -> u32 {
        self.shared.failures(self.slot)
    }

    /// Lets the key come again after the delay that the rate limiter gives, with the same priority, and counts a failure
    /// of it.
    pub fn requeue_rate_limited(&self) {
        self.requeue(Add::rate_limited().priority(self.priority));
    }

    /// Lets the key come again after `delay`, with the same priority.
    pub fn requeue_after(&self, delay: Duration) {
        self.requeue(Add::after(delay).priority(self.priority));
    }

    /// Lets the key come again as `how` says, though not before this item is dropped.
    pub fn requeue(&self, how: Add) {
        self.shared.update(|state, now, effects| self.shared.trigger(state, self.slot, now, how, effects));
    }

    /// The work on the key is done; the same as dropping the item.
    pub fn done(self) {}
}

impl<K: Eq + 'static> Deref for Item<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.key
    }
}

impl<K: Eq + 'static> Drop for Item<K> {
    fn drop(&mut self) {
        self.shared.done(self.slot);
    }
}

impl<K: Eq + fmt::Debug + 'static> fmt::Debug for Item<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("key", &self.key).field("priority", &self.priority).finish_non_exhaustive()
    }
}
