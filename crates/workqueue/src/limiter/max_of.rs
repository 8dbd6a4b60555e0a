use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// Several limiters at once: a key waits as long as the one that lets it wait longest. Every one of them is asked each
/// time. Without limiters, no key waits.
///
/// The maximum of [`ItemBackoff`](crate::ItemBackoff) and [`TokenBucket`](crate::TokenBucket) is client-go's default.
///
/// ```
/// use controller_runtime_workqueue::{ItemBackoff, MaxOf, TokenBucket};
///
/// let limiter: MaxOf<String> = MaxOf::new().and(ItemBackoff::default()).and(TokenBucket::default());
/// ```
pub struct MaxOf<K> {
    limiters: Vec<Box<dyn RateLimiter<K>>>,
}

impl<K> MaxOf<K> {
    /// No limiter yet.
    pub fn new() -> Self {
        Self { limiters: Vec::new() }
    }

    /// With one more limiter.
    #[must_use]
    pub fn and(mut self, limiter: impl RateLimiter<K>) -> Self {
        self.limiters.push(Box::new(limiter));
        self
    }
}

impl<K> Default for MaxOf<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for MaxOf<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MaxOf").field(&self.limiters).finish()
    }
}

impl<K: 'static> RateLimiter<K> for MaxOf<K> {
    fn delay(&self, key: &K, failures: u32, now: Instant) -> Duration {
        self.limiters.iter().map(|limiter| limiter.delay(key, failures, now)).max().unwrap_or_default()
    }

    fn forget(&self, key: &K) {
        self.limiters.iter().for_each(|limiter| limiter.forget(key));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::MaxOf;
    use crate::{ItemBackoff, RateLimiter, TokenBucket};

    #[test]
    fn the_longest_delay_counts_and_all_are_asked() {
        let now = Instant::now();
        let limiter = MaxOf::new().and(ItemBackoff::default()).and(TokenBucket::per_second(100.0, 2));
        let delays = [0, 0, 0, 0, 4].map(|failures| limiter.delay(&"a", failures, now).as_millis());
        assert_eq!(delays, [5, 5, 10, 20, 80], "the bucket gives 0, 0, 10, 20, 30");
        assert_eq!(MaxOf::new().delay(&"a", 9, now), Duration::ZERO);
    }
}
