//! Random schedules of everything that a queue does, compared with a model that is too simple to be wrong.

use std::collections::BTreeMap;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, Item, ItemBackoff, ItemFastSlow, MaxOf, Queue, RateLimiter, TokenBucket};
use proptest::prelude::*;
use tokio::time::Instant;

const KEYS: u8 = 4;

#[derive(Clone, Debug)]
enum Step {
    Add { key: u8, after: u64, priority: i32 },
    RateLimited { key: u8, at_least: u64, priority: i32 },
    Forget { key: u8 },
    Take,
    Done { which: usize },
    Requeue { which: usize, after: u64 },
    RequeueRateLimited { which: usize },
    ForgetItem { which: usize },
    Pass { millis: u64 },
    Drain,
    Shutdown,
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS;
    let delay = || prop_oneof![Just(0), 1..50_u64];
    let priority = || -1..2_i32;
    let which = any::<usize>;
    prop_oneof![
        40 => (key(), delay(), priority()).prop_map(|(key, after, priority)| Step::Add { key, after, priority }),
        10 => (key(), delay(), priority())
            .prop_map(|(key, at_least, priority)| Step::RateLimited { key, at_least, priority }),
        10 => key().prop_map(|key| Step::Forget { key }),
        40 => Just(Step::Take),
        30 => which().prop_map(|which| Step::Done { which }),
        10 => (which(), delay()).prop_map(|(which, after)| Step::Requeue { which, after }),
        10 => which().prop_map(|which| Step::RequeueRateLimited { which }),
        5 => which().prop_map(|which| Step::ForgetItem { which }),
        20 => (1..30_u64).prop_map(|millis| Step::Pass { millis }),
        1 => Just(Step::Drain),
        1 => Just(Step::Shutdown),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Backoff,
    FastSlow,
    Bucket,
    Max,
}

impl Limit {
    fn limiter(self) -> Arc<dyn RateLimiter<u8>> {
        match self {
            Self::Backoff => Arc::new(ItemBackoff::default()),
            Self::FastSlow => Arc::new(ItemFastSlow::new(ms(2), ms(30), 2)),
            Self::Bucket => Arc::new(TokenBucket::per_second(100.0, 2)),
            Self::Max => Arc::new(MaxOf::new().and(ItemBackoff::default()).and(TokenBucket::per_second(100.0, 2))),
        }
    }

    /// The delay after `failures`, when the bucket has been asked at `asked` before, in milliseconds.
    fn delay(self, failures: u32, now: u64, asked: &[u64]) -> u64 {
        let backoff = 5_u64.saturating_mul(2_u64.saturating_pow(failures)).min(1_000_000);
        // A token each 10 ms, two at most: the bucket in whole milliseconds.
        let mut full = 0;
        for at in asked {
            full = full.max(*at) + 10;
        }
        let bucket = (full.max(now)).saturating_sub(10).saturating_sub(now);
        match self {
            Self::Backoff => backoff,
            Self::FastSlow => {
                if failures < 2 {
                    2
                } else {
                    30
                }
            }
            Self::Bucket => bucket,
            Self::Max => backoff.max(bucket),
        }
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What is to be known of one key.
#[derive(Debug, Default)]
struct Key {
    /// When it is due and how urgent it is, if it is triggered.
    pending: Option<(u64, i32)>,
    running: bool,
    failures: u32,
    /// Its place in the lane of its priority: what came first there.
    place: Option<u64>,
    /// Its age among all that is ready: what became ready first, and when.
    age: (u64, u64),
    /// Its place among keys that are due at the same moment.
    order: u64,
}

#[derive(Debug)]
struct Model {
    keys: BTreeMap<u8, Key>,
    now: u64,
    order: u64,
    takes: u64,
    patience: u64,
    limit: Limit,
    asked: Vec<u64>,
    open: bool,
    closed: bool,
}

impl Model {
    fn new(limit: Limit, patience: u64) -> Self {
        let (keys, asked) = (BTreeMap::new(), Vec::new());
        Self { keys, now: 0, order: 0, takes: 0, patience, limit, asked, open: true, closed: false }
    }

    fn trigger(&mut self, key: u8, at: u64, priority: i32) {
        if !self.open {
            return;
        }
        let (now, order) = (self.now, &mut self.order);
        let key = self.keys.entry(key).or_default();
        *order += 1;
        let (due, raised) = match key.pending {
            Some((due, known)) => (due.min(at), known.max(priority)),
            None => (at, priority),
        };
        if key.pending.is_none_or(|(known, _)| due < known && known > now) {
            key.order = *order;
        }
        if key.place.is_some() && key.pending.is_some_and(|(_, known)| raised > known) {
            key.place = Some(*order);
        }
        key.pending = Some((due, raised));
        self.settle();
    }

    fn rate_limited(&mut self, name: u8, at_least: u64, priority: i32) {
        if self.open {
            let key = self.keys.entry(name).or_default();
            let delay = self.limit.delay(key.failures, self.now, &self.asked).max(at_least);
            key.failures += 1;
            self.asked.push(self.now);
            self.trigger(name, self.now + delay, priority);
        }
    }

    /// Gives due keys that nobody has their places.
    fn settle(&mut self) {
        let mut due: Vec<_> = self
            .keys
            .values_mut()
            .filter(|key| !key.running && key.place.is_none())
            .filter_map(|key| key.pending.filter(|(at, _)| *at <= self.now).map(|(at, _)| (at, key)))
            .collect();
        due.sort_by_key(|(at, key)| (*at, key.order));
        for (at, key) in due {
            self.order += 1;
            (key.place, key.age) = (Some(self.order), (self.order, at));
        }
    }

    fn pass(&mut self, millis: u64) {
        self.now += millis;
        self.settle();
    }

    fn take(&mut self) -> Option<u8> {
        let ready = || self.keys.iter().filter(|(_, key)| key.place.is_some());
        let (highest, _) =
            ready().min_by_key(|(_, key)| (-key.pending.map_or(0, |(_, priority)| priority), key.place))?;
        let (oldest, key) = ready().min_by_key(|(_, key)| key.age)?;
        self.takes += 1;
        let aged = self.takes.is_multiple_of(4) && self.now - key.age.1 > self.patience;
        let name = if aged { *oldest } else { *highest };
        let key = self.keys.get_mut(&name)?;
        (key.pending, key.place, key.running) = (None, None, true);
        Some(name)
    }

    fn done(&mut self, name: u8) {
        let (now, closed) = (self.now, self.closed);
        if let Some(key) = self.keys.get_mut(&name) {
            key.running = false;
            if let Some((at, _)) = key.pending.filter(|(at, _)| *at <= now && !closed) {
                // It comes after what is ready already.
                self.order += 1;
                (key.place, key.age) = (Some(self.order), (self.order, at));
            }
        }
    }

    fn end(&mut self, closed: bool) {
        (self.open, self.closed) = (false, self.closed || closed);
        for key in self.keys.values_mut() {
            if closed || key.pending.is_some_and(|(at, _)| at > self.now) {
                (key.pending, key.place) = (None, None);
            }
        }
    }

    fn depth(&self) -> BTreeMap<i32, usize> {
        let mut depth = BTreeMap::new();
        for (_, priority) in self.keys.values().filter(|key| key.place.is_some()).filter_map(|key| key.pending) {
            *depth.entry(priority).or_default() += 1;
        }
        depth
    }

    fn waiting(&self) -> usize {
        self.keys.values().filter(|key| key.pending.is_some_and(|(at, _)| at > self.now)).count()
    }
}

/// A queue and its model, which take the same steps.
struct Pair {
    queue: Queue<u8>,
    model: Model,
    items: Vec<Item<u8>>,
}

impl Pair {
    fn apply_to_item(&mut self, which: usize, step: &Step) {
        if self.items.is_empty() {
            return;
        }
        let which = which % self.items.len();
        let (key, priority) = (*self.items[which], self.items[which].priority());
        match step {
            Step::Done { .. } => {
                self.model.done(key);
                self.items.swap_remove(which).done();
            }
            Step::Requeue { after, .. } => {
                self.items[which].requeue_after(ms(*after));
                self.model.trigger(key, self.model.now + after, priority);
            }
            Step::RequeueRateLimited { .. } => {
                self.items[which].requeue_rate_limited();
                self.model.rate_limited(key, 0, priority);
            }
            _ => {
                self.items[which].forget();
                self.model.keys.entry(key).or_default().failures = 0;
            }
        }
    }

    async fn apply(&mut self, step: Step) {
        match step {
            Step::Add { key, after, priority } => {
                self.queue.add_with(key, Add::after(ms(after)).priority(priority));
                self.model.trigger(key, self.model.now + after, priority);
            }
            Step::RateLimited { key, at_least, priority } => {
                self.queue.add_with(key, Add::rate_limited().at_least_after(ms(at_least)).priority(priority));
                self.model.rate_limited(key, at_least, priority);
            }
            Step::Forget { key } => {
                self.queue.forget(&key);
                self.model.keys.entry(key).or_default().failures = 0;
            }
            Step::Take => {
                let item = self.queue.try_get();
                assert_eq!(item.as_ref().map(|item| **item), self.model.take());
                self.items.extend(item);
            }
            Step::Pass { millis } => {
                tokio::time::advance(ms(millis)).await;
                self.model.pass(millis);
            }
            Step::Drain => {
                let idle = self.queue_is_idle();
                let mut drain = pin!(self.queue.drain());
                let drained = poll_fn(|cx| Poll::Ready(drain.as_mut().poll(cx).is_ready())).await;
                self.model.end(false);
                assert_eq!(drained, idle);
            }
            Step::Shutdown => {
                self.queue.shutdown();
                self.model.end(true);
            }
            Step::Done { which }
            | Step::Requeue { which, .. }
            | Step::RequeueRateLimited { which }
            | Step::ForgetItem { which } => self.apply_to_item(which, &step),
        }
    }

    fn queue_is_idle(&self) -> bool {
        self.model.depth().is_empty() && self.items.is_empty()
    }

    fn compare(&self) {
        assert_eq!(self.queue.len(), self.model.depth().values().sum::<usize>());
        assert_eq!(self.queue.is_shutting_down(), !self.model.open);
        let snapshot = self.queue.snapshot();
        assert_eq!(snapshot.running, self.items.len());
        assert_eq!(snapshot.depth.into_iter().collect::<BTreeMap<_, _>>(), self.model.depth());
        assert_eq!(snapshot.waiting, self.model.waiting());
        for key in 0..KEYS {
            assert_eq!(self.queue.num_requeues(&key), self.model.keys.get(&key).map_or(0, |key| key.failures));
        }
    }
}

async fn run(steps: Vec<Step>, limit: Limit, patience: u64) {
    let queue = Queue::builder(&Ambient::seeded(0)).rate_limiter(limit.limiter()).patience(ms(patience)).build();
    let mut pair = Pair { queue, model: Model::new(limit, patience), items: Vec::new() };
    let start = Instant::now();
    for step in steps {
        pair.apply(step).await;
        assert_eq!(start.elapsed(), ms(pair.model.now), "only `Pass` lets time pass");
        pair.compare();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_does_what_the_model_does(
        steps in proptest::collection::vec(step(), 1..80),
        limit in prop_oneof![Just(Limit::Backoff), Just(Limit::FastSlow), Just(Limit::Bucket), Just(Limit::Max)],
        patience in prop_oneof![Just(20), Just(3_600_000)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(run(steps, limit, patience));
    }
}
