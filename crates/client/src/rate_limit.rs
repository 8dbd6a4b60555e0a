use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// A bound on how many requests are sent: a bucket that holds `burst` requests and gains `per_second` each second.
///
/// Both parts are mandatory, which the compiler checks.
///
/// ```
/// # use controller_runtime_client::RateLimit;
/// let limit = RateLimit::builder().per_second(20).burst(30).build();
/// assert_eq!((limit.per_second(), limit.burst()), (20, 30));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, bon::Builder)]
pub struct RateLimit {
    /// Requests per second in the long run. At least 1.
    per_second: u32,
    /// Requests that may be sent at once after a pause. At least 1.
    burst: u32,
}

impl RateLimit {
    /// Requests per second in the long run.
    pub fn per_second(&self) -> u32 {
        self.per_second.max(1)
    }

    /// Requests that may be sent at once after a pause.
    pub fn burst(&self) -> u32 {
        self.burst.max(1)
    }
}

/// The bucket, as the time at which it would be full again (generic cell rate algorithm).
#[derive(Debug)]
pub(crate) struct RateLimiter {
    interval: Duration,
    /// How far the bucket's debt may reach into the future before a request has to wait.
    tolerance: Duration,
    epoch: Instant,
    full_at: Mutex<Duration>,
}

impl RateLimiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        let interval = Duration::from_secs(1) / limit.per_second();
        let tolerance = interval.saturating_mul(limit.burst() - 1);
        Self { interval, tolerance, epoch: Instant::now(), full_at: Mutex::new(Duration::ZERO) }
    }

    /// Waits until a request may be sent, in the order of the calls. A wait that is given up takes nothing from the
    /// bucket.
    pub(crate) async fn acquire(&self) {
        let wait = self.take();
        if wait.is_zero() {
            return;
        }
        let reserved = Reserved { limiter: self };
        sleep(wait).await;
        std::mem::forget(reserved);
    }

    fn take(&self) -> Duration {
        let now = self.epoch.elapsed();
        let mut full_at = self.full_at.lock();
        let before = (*full_at).max(now);
        *full_at = before.saturating_add(self.interval);
        before.saturating_sub(self.tolerance).saturating_sub(now)
    }
}

/// What a waiting request took; given back when it is dropped.
struct Reserved<'a> {
    limiter: &'a RateLimiter,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut full_at = self.limiter.full_at.lock();
        *full_at = full_at.saturating_sub(self.limiter.interval);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::{RateLimit, RateLimiter};

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_the_rate_holds() {
        let limiter = RateLimiter::new(RateLimit::builder().per_second(10).burst(3).build());
        let start = Instant::now();
        let mut times = Vec::new();
        for _ in 0..6 {
            limiter.acquire().await;
            times.push(start.elapsed().as_millis());
        }
        // The paused clock advances in whole milliseconds, and to the next one.
        assert_eq!(times, [0, 0, 0, 101, 201, 301].map(|time| if time > 0 { time - 1 } else { 0 }));
        tokio::time::sleep(Duration::from_secs(10)).await;
        let start = Instant::now();
        for _ in 0..3 {
            limiter.acquire().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO, "a pause fills the bucket, and not beyond");
        limiter.acquire().await;
        assert!(start.elapsed() >= Duration::from_millis(100));
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_takes_nothing() {
        let limiter = RateLimiter::new(RateLimit::builder().per_second(1).burst(1).build());
        limiter.acquire().await;
        for _ in 0..100 {
            assert!(timeout(Duration::from_millis(1), limiter.acquire()).await.is_err());
        }
        let start = Instant::now();
        limiter.acquire().await;
        assert!(start.elapsed() <= Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn zero_counts_as_one() {
        let limiter = RateLimiter::new(RateLimit::builder().per_second(0).burst(0).build());
        let start = Instant::now();
        limiter.acquire().await;
        limiter.acquire().await;
        assert_eq!(start.elapsed(), Duration::from_secs(1));
    }
}
