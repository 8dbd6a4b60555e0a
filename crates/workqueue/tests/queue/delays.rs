//! Keys that wait for their time.

use std::time::Duration;

use controller_runtime_workqueue::Add;
use tokio::time::{Instant, advance, timeout};

use crate::{drain, ms, queue, take};

#[tokio::test(start_paused = true)]
async fn b6_an_add_makes_a_waiting_key_ready_at_once_and_only_once() {
    let queue = queue();
    queue.add("y");
    queue.add_after("y", Duration::from_hours(1));
    assert_eq!(drain(&queue), ["y"]);
    queue.add_after("y", ms(200));
    queue.add("y");
    assert_eq!(drain(&queue), ["y"]);
    advance(Duration::from_secs(4000)).await;
    assert_eq!(drain(&queue), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn b7_waiting_keys_do_not_count() {
    let queue = queue();
    queue.add_after("a", ms(10));
    assert_eq!((queue.len(), queue.snapshot().depth, queue.snapshot().waiting), (0, vec![], 1));
    assert!(queue.is_empty());
    advance(ms(10)).await;
    assert_eq!((queue.len(), queue.snapshot().depth, queue.snapshot().waiting), (1, vec![(0, 1)], 0));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_waits_gets_the_key_when_it_is_due() {
    let queue = queue();
    queue.add_after("late", ms(70));
    queue.add_after("early", ms(30));
    let start = Instant::now();
    assert_eq!(*queue.get().await.expect("it is open"), "early");
    assert_eq!(start.elapsed(), ms(30));
    assert_eq!(*queue.get().await.expect("it is open"), "late");
    assert_eq!(start.elapsed(), ms(70));
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_ends_during_the_work_makes_the_key_come_again() {
    let queue = queue();
    queue.add("a");
    let item = take(&queue);
    item.requeue_after(ms(10));
    queue.add_after("a", ms(5));
    advance(ms(20)).await;
    assert_eq!(queue.len(), 0);
    item.done();
    assert_eq!(drain(&queue), ["a"]);
    assert!(timeout(ms(100), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn no_delay_is_too_long() {
    let queue = queue();
    queue.add_after("never", Duration::MAX);
    queue.add_with("never", Add::rate_limited().at_least_after(Duration::MAX));
    queue.add_after("a", ms(10));
    assert_eq!(*queue.get().await.expect("it is open"), "a");
    assert!(timeout(Duration::from_hours(1000), queue.get()).await.is_err());
    assert_eq!(queue.snapshot().waiting, 1);
    queue.add("never");
    assert_eq!(drain(&queue), ["never"]);
}
