mod exponential;
mod fast_slow;
mod max_of;
mod token_bucket;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub use exponential::ItemBackoff;
pub use fast_slow::ItemFastSlow;
pub use max_of::MaxOf;
pub use token_bucket::TokenBucket;

/// Says how long a key waits when it is added rate-limited.
///
/// The queue counts each key's failures, so a limiter needs no memory of keys. It is called under the queue's lock: it
/// must be quick and must not use the queue.
pub trait RateLimiter<K>: Debug + Send + Sync + 'static {
    /// How long `key` waits from `now` on. `failures` is how often it was added rate-limited since it was last
    /// forgotten, without this time.
    fn delay(&self, key: &K, failures: u32, now: Instant) -> Duration;

    /// The failures of `key`, of which there were some, are forgotten. Only a limiter that remembers keys itself has
    /// something to do here.
    fn forget(&self, key: &K) {
        let _ = key;
    }
}

/// Several queues may share a limiter, for example one [`TokenBucket`].
impl<K, L: RateLimiter<K> + ?Sized> RateLimiter<K> for Arc<L> {
    fn delay(&self, key: &K, failures: u32, now: Instant) -> Duration {
        (**self).delay(key, failures, now)
    }

    fn forget(&self, key: &K) {
        (**self).forget(key);
    }
}
