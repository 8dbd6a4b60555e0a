use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// Each key is tried again quickly a number of times, and slowly from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemFastSlow {
    fast: Duration,
    slow: Duration,
    fast_attempts: u32,
}

impl ItemFastSlow {
    /// A key waits for `fast` after each of its first `fast_attempts` failures and for `slow` after later ones.
    pub fn new(fast: Duration, slow: Duration, fast_attempts: u32) -> Self {
        Self { fast, slow, fast_attempts }
    }
}

impl<K> RateLimiter<K> for ItemFastSlow {
    fn delay(&self, _: &K, failures: u32, _: Instant) -> Duration {
        if failures < self.fast_attempts { self.fast } else { self.slow }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::ItemFastSlow;
    use crate::RateLimiter;

    #[test]
    fn the_first_attempts_are_fast() {
        let limiter = ItemFastSlow::new(Duration::from_millis(5), Duration::from_secs(10), 3);
        let delays = [0, 1, 2, 3, u32::MAX].map(|failures| limiter.delay(&"a", failures, Instant::now()).as_millis());
        assert_eq!(delays, [5, 5, 5, 10_000, 10_000]);
    }
}
