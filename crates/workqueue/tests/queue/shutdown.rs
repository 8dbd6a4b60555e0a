//! How a queue ends.

use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::Add;
use tokio::time::{advance, timeout};

use crate::{drain, ms, queue, take};

#[tokio::test(start_paused = true)]
async fn b10_shutdown_wakes_who_waits_and_drops_later_adds() {
    let queue = queue();
    let ambient = Ambient::seeded(0);
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let queue = queue.clone();
            ambient.spawn("waiting", async move { queue.get().await.is_none() })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(!queue.is_shutting_down());
    queue.shutdown();
    assert!(queue.is_shutting_down());
    queue.add("a");
    queue.add_after("b", ms(1));
    queue.add_rate_limited("c");
    for task in waiting {
        assert!(task.await.expect("it ends"));
    }
    advance(ms(10)).await;
    assert!(queue.get().await.is_none());
    assert_eq!((queue.len(), queue.snapshot().waiting, queue.num_requeues(&"c")), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn shutdown_drops_what_is_ready_or_waits_or_would_come_again() {
    let queue = queue();
    queue.add("ready");
    let item = take(&queue);
    queue.add("ready");
    queue.add("ready too");
    queue.add_after("waits", ms(1));
    queue.shutdown();
    item.requeue_after(Duration::ZERO);
    item.done();
    advance(ms(10)).await;
    assert_eq!(drain(&queue), [""; 0]);
    assert_eq!((queue.snapshot().depth, queue.snapshot().waiting, queue.snapshot().running), (vec![], 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_drain_hands_out_what_is_ready_and_waits_for_the_work() {
    let queue = queue();
    let ambient = Ambient::seeded(0);
    for key in ["a", "b"] {
        queue.add(key);
    }
    queue.add_after("never", ms(1));
    let first = take(&queue);
    queue.add("a");
    let drained = {
        let queue = queue.clone();
        ambient.spawn("drain", async move { queue.drain().await })
    };
    tokio::task::yield_now().await;
    queue.add("dropped");
    assert_eq!(drain(&queue), ["b"]);
    let waiting = {
        let queue = queue.clone();
        ambient.spawn("waiting", async move {
            let last = queue.get().await.map(|item| *item);
            (last, queue.get().await.is_none())
        })
    };
    advance(ms(10)).await;
    assert!(!drained.is_finished(), "a worker still has a key");
    assert!(!waiting.is_finished(), "the key comes again");
    first.requeue_after(ms(1));
    first.done();
    assert_eq!(waiting.await.expect("it ends"), (Some("a"), true), "this trigger came before the drain");
    drained.await.expect("it ends");
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_drain_of_an_idle_queue_ends_at_once_and_wakes_who_waits() {
    let queue = queue();
    let waiting = {
        let queue = queue.clone();
        Ambient::seeded(0).spawn("waiting", async move { queue.get().await.is_none() })
    };
    tokio::task::yield_now().await;
    timeout(ms(1), queue.drain()).await.expect("nothing is ready or in work");
    assert!(timeout(ms(1), waiting).await.expect("it was woken").expect("it ends"));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_a_drain_that_nobody_works_for() {
    let queue = queue();
    queue.add_with("a", Add::now());
    assert!(timeout(ms(1), queue.drain()).await.is_err());
    let drained = {
        let queue = queue.clone();
        Ambient::seeded(0).spawn("drain", async move { queue.drain().await })
    };
    tokio::task::yield_now().await;
    queue.shutdown();
    timeout(ms(1), drained).await.expect("what was ready is dropped").expect("it ends");
}

#[tokio::test(start_paused = true)]
async fn a_drain_after_shutdown_waits_for_the_work() {
    let queue = queue();
    queue.add("a");
    let item = take(&queue);
    queue.add("a");
    queue.shutdown();
    assert!(timeout(ms(1), queue.drain()).await.is_err());
    item.done();
    timeout(ms(1), queue.drain()).await.expect("nobody has a key");
    assert!(queue.try_get().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_weak_queue_ends_with_the_queue() {
    let queue = queue();
    queue.add("a");
    let weak = queue.downgrade();
    assert_eq!(weak.snapshot(), Some(queue.snapshot()));
    drop(queue);
    tokio::task::yield_now().await;
    assert_eq!(weak.snapshot(), None);
}
