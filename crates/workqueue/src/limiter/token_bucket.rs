use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::RateLimiter;

/// All keys together come at no more than a rate, but for a burst: each takes a token, and tokens come back evenly. A key
/// that finds none waits for the next one that is not promised to another.
///
/// By default 10 tokens a second and a burst of 100, as in client-go.
#[derive(Debug)]
pub struct TokenBucket {
    interval: Duration,
    burst: u32,
    full: Mutex<Option<Full>>,
}

/// When a bucket that was used will be full again.
#[derive(Clone, Copy, Debug)]
struct Full {
    first_use: Instant,
    after: Duration,
}

impl TokenBucket {
    /// The default rate, in tokens per second.
    pub const DEFAULT_PER_SECOND: f64 = 10.0;
    /// The default burst.
    pub const DEFAULT_BURST: u32 = 100;

    /// A full bucket of `burst` tokens, at least one, to which `rate` come back each second. With an infinite rate
    /// nothing ever waits; with one that isn't positive no token comes back.
    pub fn per_second(rate: f64, burst: u32) -> Self {
        let burst = burst.max(1);
        // So that filling the bucket takes a time that can be told.
        let longest = Duration::MAX / 2 / burst;
        let interval = Duration::try_from_secs_f64(1.0 / rate).unwrap_or(longest).min(longest);
        Self { interval, burst, full: Mutex::new(None) }
    }
}

impl Default for TokenBucket {
    fn default() -> Self {
        Self::per_second(Self::DEFAULT_PER_SECOND, Self::DEFAULT_BURST)
    }
}

impl<K> RateLimiter<K> for TokenBucket {
    fn delay(&self, _: &K, _: u32, now: Instant) -> Duration {
        let mut full = self.full.lock();
        let full = full.get_or_insert(Full { first_use: now, after: Duration::ZERO });
        let now = now.saturating_duration_since(full.first_use);
        // What is missing, as the time until it is back.
        let missing = full.after.saturating_sub(now);
        full.after = now.saturating_add(missing).saturating_add(self.interval);
        missing.saturating_sub(self.interval * (self.burst - 1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::TokenBucket;
    use crate::RateLimiter;

    #[test]
    fn a_burst_passes_and_the_rest_comes_at_the_rate() {
        let (bucket, start) = (TokenBucket::default(), Instant::now());
        let delay = |after: u64| bucket.delay(&"a", 0, start + Duration::from_millis(after)).as_millis();
        assert!((0..100).all(|_| delay(0) == 0));
        assert_eq!([delay(0), delay(0), delay(50)], [100, 200, 250]);
        assert_eq!(delay(400), 0, "its token has come");
        assert_eq!(delay(400), 100);
        assert!((0..100).all(|_| delay(60_000) == 0), "it is full again");
        assert_eq!(delay(60_000), 100);
    }

    #[test]
    fn odd_rates_neither_panic_nor_overflow() {
        let now = Instant::now();
        let second = |rate: f64| {
            let bucket = TokenBucket::per_second(rate, 0);
            let _ = bucket.delay(&"a", 0, now);
            bucket.delay(&"a", 0, now)
        };
        assert_eq!(second(f64::INFINITY), Duration::ZERO);
        for rate in [0.0, -1.0, f64::NAN, f64::MIN_POSITIVE] {
            assert!(second(rate) > Duration::from_hours(24 * 365), "{rate}");
        }
    }
}
