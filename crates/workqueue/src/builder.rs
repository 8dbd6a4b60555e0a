use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;

use crate::limiter::{ItemBackoff, RateLimiter};
use crate::observer::Observer;
use crate::queue::Queue;
use crate::shared::Shared;
use crate::timer;

/// How a queue is made; see [`Queue::builder`].
#[derive(Clone, Debug)]
pub struct QueueBuilder<K> {
    keys: PhantomData<fn() -> K>,
    ambient: Ambient,
    limiter: Arc<dyn RateLimiter<K>>,
    observer: Option<Arc<dyn Observer>>,
    patience: Duration,
}

impl<K: Eq + Hash + Send + Sync + 'static> QueueBuilder<K> {
    pub(crate) fn new(ambient: &Ambient) -> Self {
        Self {
            keys: PhantomData,
            ambient: ambient.clone(),
            limiter: Arc::new(ItemBackoff::default()),
            observer: None,
            patience: Duration::from_secs(10),
        }
    }

    /// How long keys wait that are added rate-limited; by default [`ItemBackoff`]: each by itself 5 ms after its first
    /// failure, doubling up to 1000 s.
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<K>) -> Self {
        self.limiter = Arc::new(limiter);
        self
    }

    /// Who learns what happens; by default nobody.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// How long a key of low priority may be ready before every fourth take goes to the oldest key whatever its
    /// priority; by default 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The queue. It starts a task that wakes workers when a waiting key is due.
    ///
    /// # Panics
    /// When called outside a tokio runtime.
    pub fn build(self) -> Queue<K> {
        let shared = Arc::new(Shared::new(self.patience, self.limiter, self.observer));
        let timer = self.ambient.spawn("workqueue timer", timer::run(shared.clone()));
        Queue::of(shared, timer)
    }
}
