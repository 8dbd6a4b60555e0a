use std::time::Duration;

/// The priority of keys that nothing urgent is about, such as those of an initial list or of a resync.
pub const LOW_PRIORITY: i32 = -100;

/// How a key is added: see [`Queue::add_with`](crate::Queue::add_with).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Add {
    pub(crate) after: Duration,
    pub(crate) rate_limited: bool,
    pub(crate) priority: i32,
}

impl Add {
    /// At once, with priority 0.
    pub fn now() -> Self {
        Self::default()
    }

    /// After `delay`.
    pub fn after(delay: Duration) -> Self {
        Self { after: delay, ..Self::default() }
    }

    /// After the delay that the queue's rate limiter gives, and count a failure of the key.
    pub fn rate_limited() -> Self {
        Self { rate_limited: true, ..Self::default() }
    }

    /// Not before `delay`, even where the rate limiter gives less.
    #[must_use]
    pub fn at_least_after(mut self, delay: Duration) -> Self {
        self.after = self.after.max(delay);
        self
    }

    /// Higher goes first; the default is 0. While a key is queued its priority only rises.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }
}
