//! No key starves.

use std::collections::BTreeSet;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, LOW_PRIORITY, Queue};
use proptest::prelude::*;
use tokio::time::advance;

use crate::{Keys, ms, take};

#[tokio::test(start_paused = true)]
async fn an_old_key_is_not_starved() {
    let queue: Keys = Queue::builder(&Ambient::seeded(0)).patience(ms(100)).build();
    queue.add_with("old", Add::now().priority(LOW_PRIORITY));
    let mut taken = Vec::new();
    let mut rounds = async |rounds: usize| {
        for _ in 0..rounds {
            queue.add("live");
            taken.push(*take(&queue));
        }
    };
    rounds(8).await;
    advance(ms(101)).await;
    rounds(5).await;
    let (young, aged) = taken.split_at(8);
    assert_eq!(young, ["live"; 8]);
    assert_eq!(aged, ["live", "live", "live", "old", "live"]);
}

#[tokio::test(start_paused = true)]
async fn a_raise_takes_no_age_away() {
    let queue: Keys = Queue::builder(&Ambient::seeded(0)).patience(ms(100)).build();
    queue.add_with("old", Add::now().priority(-2));
    advance(ms(50)).await;
    queue.add_with("younger", Add::now().priority(-1));
    advance(ms(60)).await;
    queue.add_with("old", Add::now().priority(-1));
    let mut taken = Vec::new();
    for _ in 0..4 {
        queue.add("live");
        taken.push(*take(&queue));
    }
    assert_eq!(taken, ["live", "live", "live", "old"]);
}

/// Keys that are ready for longer than the patience, each with a priority, and what is added while they wait.
async fn check_bound(priorities: Vec<i32>, live: Vec<Vec<i32>>) {
    let queue: Queue<usize> = Queue::builder(&Ambient::seeded(0)).patience(ms(100)).build();
    for (key, priority) in priorities.iter().enumerate() {
        queue.add_with(key, Add::now().priority(*priority));
    }
    advance(ms(101)).await;
    let (mut next, mut taken) = (priorities.len(), BTreeSet::new());
    for take in 1..=4 * priorities.len() {
        for priority in live.get(take % live.len()).into_iter().flatten() {
            queue.add_with(next, Add::now().priority(*priority));
            next += 1;
        }
        taken.extend(queue.try_get().map(|item| *item));
        assert!((0..take / 4).all(|oldest| taken.contains(&oldest)), "after {take} takes: {taken:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn b8_the_nth_oldest_key_is_taken_within_4_n_takes(
        priorities in proptest::collection::vec(-3..3_i32, 1..20),
        live in proptest::collection::vec(proptest::collection::vec(-3..9_i32, 0..4), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(check_bound(priorities, live));
    }
}
