use std::time::Duration;

use backoff::backoff::Backoff as _;
use tokio::time::Instant;

use super::RateLimiter;

/// Each key backs off by itself: its delay doubles with each failure, from an initial one up to a maximum.
///
/// By default from 5 ms to 1000 s, as in client-go; it is the limiter of a queue that isn't given another. The delays are computed once, by the `backoff` crate, without its own randomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemBackoff {
    delays: Box<[Duration]>,
    max: Duration,
}

impl ItemBackoff {
    /// 5 ms, as in client-go.
    pub const DEFAULT_INITIAL: Duration = Duration::from_millis(5);
    /// 1000 s, as in client-go.
    pub const DEFAULT_MAX: Duration = Duration::from_secs(1000);

    /// Delays that start with `initial`, at least a microsecond, and double up to `max`, at least `initial`.
    pub fn new(initial: Duration, max: Duration) -> Self {
        let initial = initial.max(Duration::from_micros(1));
        let max = max.max(initial);
        let mut policy = backoff::ExponentialBackoffBuilder::new()
            .with_initial_interval(initial)
            .with_max_interval(max)
            .with_multiplier(2.0)
            .with_randomization_factor(0.0)
            .with_max_elapsed_time(None)
            .build();
        let mut delays = Vec::new();
        while policy.current_interval < max {
            // What `next_backoff` gives may be off by a nanosecond even without randomization; the interval isn't.
            delays.push(policy.current_interval);
            policy.next_backoff();
        }
        Self { delays: delays.into_boxed_slice(), max }
    }

    /// How long a key waits that has failed `failures` times before this one.
    pub fn delay(&self, failures: u32) -> Duration {
        usize::try_from(failures).ok().and_then(|failures| self.delays.get(failures)).copied().unwrap_or(self.max)
    }
}

impl<K> RateLimiter<K> for ItemBackoff {
    fn delay(&self, _: &K, failures: u32, _: Instant) -> Duration {
        Self::delay(self, failures)
    }
}

impl Default for ItemBackoff {
    fn default() -> Self {
        Self::new(Self::DEFAULT_INITIAL, Self::DEFAULT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ItemBackoff;

    #[test]
    fn delays_double_up_to_the_maximum() {
        let backoff = ItemBackoff::default();
        let check = |failures, millis| assert_eq!(backoff.delay(failures), Duration::from_millis(millis), "{failures}");
        check(0, 5);
        check(1, 10);
        check(2, 20);
        check(7, 640);
        check(17, 655_360);
        check(18, 1_000_000);
        check(u32::MAX, 1_000_000);
    }

    #[test]
    fn odd_bounds_give_sane_delays() {
        let second = Duration::from_secs(1);
        assert_eq!(ItemBackoff::new(second, Duration::ZERO).delay(0), second);
        assert_eq!(ItemBackoff::new(second, second).delay(9), second);
        assert_eq!(ItemBackoff::new(Duration::ZERO, second).delay(0), Duration::from_micros(1));
        assert_eq!(ItemBackoff::new(Duration::ZERO, second).delay(u32::MAX), second);
    }
}
