//! Random schedules, compared with a model that is too simple to be wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, Item, ItemBackoff, Queue};
use proptest::prelude::*;

const KEYS: u8 = 4;

#[derive(Clone, Debug)]
enum Step {
    Add { key: u8, after: u64, priority: i32 },
    Backoff { key: u8 },
    Forget { key: u8 },
    Take,
    Done { which: usize },
    Requeue { which: usize, after: u64 },
    Pass { millis: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS;
    let delay = prop_oneof![Just(0), 1..50_u64];
    prop_oneof![
        4 => (key.clone(), delay.clone(), -1..2_i32).prop_map(|(key, after, priority)| Step::Add { key, after, priority }),
        1 => key.clone().prop_map(|key| Step::Backoff { key }),
        1 => key.prop_map(|key| Step::Forget { key }),
        4 => Just(Step::Take),
        3 => any::<usize>().prop_map(|which| Step::Done { which }),
        1 => (any::<usize>(), delay).prop_map(|(which, after)| Step::Requeue { which, after }),
        2 => (1..30_u64).prop_map(|millis| Step::Pass { millis }),
    ]
}

/// What is to be known of one key.
#[derive(Debug, Default)]
struct Key {
    /// When it is due and how urgent it is, if it is triggered.
    pending: Option<(u64, i32)>,
    running: bool,
    failures: u32,
    /// Its place among the ready keys: the moment, and what came first at that moment.
    place: Option<(u64, u64)>,
    /// Its place among keys that are due at the same moment.
    order: u64,
}

#[derive(Debug, Default)]
struct Model {
    keys: BTreeMap<u8, Key>,
    now: u64,
    order: u64,
}

impl Model {
    fn trigger(&mut self, key: u8, at: u64, priority: i32) {
        let (now, order) = (self.now, &mut self.order);
        let key = self.keys.entry(key).or_default();
        *order += 1;
        let (due, priority) = match key.pending {
            Some((due, known)) => (due.min(at), known.max(priority)),
            None => (at, priority),
        };
        if key.pending.is_none_or(|(known, _)| due < known && known > now) {
            key.order = *order;
        }
        key.pending = Some((due, priority));
        self.settle();
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
            key.place = Some((at, self.order));
        }
    }

    fn pass(&mut self, millis: u64) {
        self.now += millis;
        self.settle();
    }

    fn take(&mut self) -> Option<u8> {
        let ready = self.keys.iter().filter_map(|(name, key)| Some((key.pending?.1, key.place?, *name)));
        let (_, _, name) = ready.min_by_key(|(priority, place, _)| (-priority, *place))?;
        let key = self.keys.get_mut(&name)?;
        (key.pending, key.place, key.running) = (None, None, true);
        Some(name)
    }

    fn done(&mut self, name: u8) {
        let now = self.now;
        if let Some(key) = self.keys.get_mut(&name) {
            key.running = false;
            if let Some((at, _)) = key.pending.filter(|(at, _)| *at <= now) {
                // It comes after what is ready already.
                self.order += 1;
                key.place = Some((now.max(at), self.order));
            }
        }
    }

    fn depth(&self) -> usize {
        self.keys.values().filter(|key| key.place.is_some()).count()
    }
}

async fn run(steps: Vec<Step>) {
    // So patient that ageing, which has its own test, stays out.
    let queue: Queue<u8> = Queue::builder(&Ambient::seeded(0)).patience(Duration::from_hours(1)).build();
    let (mut model, backoff) = (Model::default(), ItemBackoff::default());
    let mut items: Vec<Item<u8>> = Vec::new();
    let millis = |millis| Duration::from_millis(millis);
    for step in steps {
        match step {
            Step::Add { key, after, priority } => {
                queue.add_with(key, Add::after(millis(after)).priority(priority));
                model.trigger(key, model.now + after, priority);
            }
            Step::Backoff { key } => {
                let failures = &mut model.keys.entry(key).or_default().failures;
                *failures += 1;
                let delay = u64::try_from(backoff.delay(*failures - 1).as_millis()).expect("it is short");
                queue.add_with_backoff(key);
                model.trigger(key, model.now + delay, 0);
            }
            Step::Forget { key } => {
                queue.forget(&key);
                model.keys.entry(key).or_default().failures = 0;
            }
            Step::Take => {
                let item = queue.try_get();
                assert_eq!(item.as_ref().map(|item| **item), model.take());
                items.extend(item);
            }
            Step::Done { which } if !items.is_empty() => {
                let item = items.swap_remove(which % items.len());
                model.done(*item);
                item.done();
            }
            Step::Requeue { which, after } if !items.is_empty() => {
                if let Some(item) = items.get(which % items.len()) {
                    item.requeue_after(millis(after));
                    model.trigger(**item, model.now + after, item.priority());
                }
            }
            Step::Done { .. } | Step::Requeue { .. } => {}
            Step::Pass { millis: time } => {
                tokio::time::advance(millis(time)).await;
                model.pass(time);
            }
        }
        assert_eq!(queue.len(), model.depth());
        let snapshot = queue.snapshot();
        assert_eq!(snapshot.running, items.len());
        assert_eq!(snapshot.depth.iter().map(|(_, len)| len).sum::<usize>(), model.depth());
        for key in 0..KEYS {
            assert_eq!(queue.num_requeues(&key), model.keys.get(&key).map_or(0, |key| key.failures));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_does_what_the_model_does(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(run(steps));
    }
}
