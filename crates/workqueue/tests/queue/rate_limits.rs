//! Keys that are added rate-limited.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, ItemBackoff, ItemFastSlow, MaxOf, Queue, RateLimiter, TokenBucket};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use crate::{Keys, ms, queue};

/// Takes `key` and adds it rate-limited, so many times, and gives how long each time took, in milliseconds.
async fn retry(queue: &Keys, key: &'static str, times: usize) -> Vec<u128> {
    let mut delays = Vec::new();
    for _ in 0..times {
        queue.add_rate_limited(key);
        let start = Instant::now();
        queue.get().await.expect("it is open").done();
        delays.push(start.elapsed().as_millis());
    }
    delays
}

#[tokio::test(start_paused = true)]
async fn b11_back_off_doubles_and_forget_resets_it() {
    let queue = queue();
    let mut delays = Vec::new();
    queue.add("z");
    let mut item = queue.get().await.expect("it is open");
    for failures in 0..8 {
        assert_eq!(item.num_requeues(), failures);
        item.requeue_rate_limited();
        let before = Instant::now();
        item.done();
        item = queue.get().await.expect("it is open");
        delays.push(before.elapsed().as_millis());
    }
    assert_eq!(delays, [5, 10, 20, 40, 80, 160, 320, 640]);
    assert_eq!((item.num_requeues(), queue.num_requeues(&"z")), (8, 8));
    item.forget();
    assert_eq!(queue.num_requeues(&"z"), 0);
    item.requeue_rate_limited();
    item.done();
    assert!(timeout(ms(4), queue.get()).await.is_err());
    assert!(timeout(ms(2), queue.get()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn each_limiter_gives_its_delays() {
    async fn check(limiter: impl RateLimiter<&'static str>, expected: &[u128]) {
        let queue: Keys = Queue::builder(&Ambient::seeded(0)).rate_limiter(limiter).build();
        assert_eq!(retry(&queue, "a", expected.len()).await, expected, "{queue:?}");
    }
    check(ItemBackoff::default(), &[5, 10, 20]).await;
    check(ItemBackoff::new(ms(3), ms(10)), &[3, 6, 10, 10]).await;
    check(ItemFastSlow::new(ms(1), ms(70), 2), &[1, 1, 70, 70]).await;
    check(TokenBucket::per_second(10.0, 2), &[0, 0, 100, 100]).await;
    check(MaxOf::new().and(ItemBackoff::default()).and(TokenBucket::per_second(20.0, 2)), &[5, 10, 35, 50, 80]).await;
}

#[tokio::test(start_paused = true)]
async fn queues_may_share_a_bucket() {
    let bucket = Arc::new(TokenBucket::per_second(10.0, 1));
    let [one, two] = [(); 2].map(|()| -> Keys {
        let shared: Arc<dyn RateLimiter<&'static str>> = bucket.clone();
        Queue::builder(&Ambient::seeded(0)).rate_limiter(shared).build()
    });
    assert_eq!(retry(&one, "a", 1).await, [0]);
    assert_eq!(retry(&two, "a", 1).await, [100]);
}

#[derive(Debug, Default)]
struct Remembering(Mutex<BTreeMap<&'static str, u32>>);

impl RateLimiter<&'static str> for Remembering {
    fn delay(&self, key: &&'static str, _: u32, _: Instant) -> Duration {
        let mut keys = self.0.lock();
        let times = keys.entry(key).or_default();
        *times += 1;
        ms(u64::from(*times))
    }

    fn forget(&self, key: &&'static str) {
        self.0.lock().remove(key);
    }
}

#[tokio::test(start_paused = true)]
async fn a_limiter_of_ones_own_learns_what_is_forgotten() {
    let limiter = Arc::new(Remembering::default());
    let queue: Keys = Queue::builder(&Ambient::seeded(0)).rate_limiter(limiter.clone()).build();
    assert_eq!(retry(&queue, "a", 3).await, [1, 2, 3]);
    assert_eq!(retry(&queue, "b", 1).await, [1]);
    queue.forget(&"a");
    assert_eq!(limiter.0.lock().keys().copied().collect::<Vec<_>>(), ["b"]);
    assert_eq!(retry(&queue, "a", 1).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_longer_delay_may_be_asked_for_than_the_limiter_gives() {
    let queue = queue();
    let start = Instant::now();
    queue.add_with("a", Add::rate_limited().at_least_after(ms(100)));
    queue.get().await.expect("it is open").forget();
    assert_eq!(start.elapsed(), ms(100));
    queue.add_with("a", Add::rate_limited().at_least_after(ms(1)));
    queue.get().await.expect("it is open").done();
    assert_eq!(start.elapsed(), ms(105));
}

#[tokio::test(start_paused = true)]
async fn an_empty_queue_remembers_nothing_but_failures() {
    let queue: Queue<u32> = Queue::new(&Ambient::seeded(0));
    for key in 0..5000 {
        queue.add(key);
    }
    while let Some(item) = queue.try_get() {
        if *item == 7 {
            item.requeue_rate_limited();
        }
    }
    assert_eq!(queue.num_requeues(&7), 1);
    assert_eq!(queue.get().await.map(|item| *item), Some(7));
    queue.forget(&7);
    assert_eq!(queue.num_requeues(&7), 0);
    queue.add(7);
    assert_eq!(queue.try_get().map(|item| *item), Some(7));
}
