//! What workers take, and how they are woken.

use std::pin::Pin;

use controller_runtime_ambient::Ambient;
use tokio::time::{Instant, advance, timeout};

use crate::{drain, ms, queue, take};

#[tokio::test(start_paused = true)]
async fn b2_an_add_during_the_work_comes_after_it_once() {
    let queue = queue();
    queue.add("x");
    let item = take(&queue);
    queue.add("x");
    queue.add_after("x", ms(1));
    advance(ms(5)).await;
    assert_eq!(queue.len(), 0);
    assert!(queue.try_get().is_none());
    item.done();
    assert_eq!(drain(&queue), ["x"]);
    assert!(timeout(ms(100), queue.get()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn o20_a_key_is_with_one_worker_and_no_trigger_is_lost() {
    let queue = queue();
    (0..5).for_each(|_| queue.add("x"));
    let item = take(&queue);
    (0..5).for_each(|_| queue.add("x"));
    let second = {
        let queue = queue.clone();
        Ambient::seeded(0).spawn("second", async move { queue.get().await.map(|item| *item) })
    };
    advance(ms(1000)).await;
    assert!(!second.is_finished(), "the second worker waits while the first has the key");
    item.done();
    assert_eq!(second.await.expect("it ends"), Some("x"));
    assert!(timeout(ms(1000), queue.get()).await.is_err(), "it comes once");
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_an_abort_are_done_with_their_keys() {
    let queue = queue();
    let ambient = Ambient::seeded(0);
    queue.add("a");
    let worker = |panics: bool| {
        let queue = queue.clone();
        ambient.spawn("worker", async move {
            let _item = queue.get().await;
            assert!(!panics, "as asked");
            std::future::pending::<()>().await;
        })
    };
    worker(true).await.expect_err("it panics");
    queue.add("a");
    let task = worker(false);
    tokio::task::yield_now().await;
    assert_eq!((queue.len(), queue.snapshot().running), (0, 1));
    queue.add("a");
    task.abort();
    task.await.expect_err("it is aborted");
    assert_eq!(drain(&queue), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_get_that_is_dropped_after_its_wake_up_passes_it_on() {
    let queue = queue();
    let (mut first, mut second) = (Box::pin(queue.get()), Box::pin(queue.get()));
    assert!(is_pending(first.as_mut()).await && is_pending(second.as_mut()).await);
    queue.add("a");
    drop(first);
    assert_eq!(timeout(ms(1), second).await.expect("it was woken").map(|item| *item), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn each_waiter_gets_a_key_of_a_burst() {
    let (queue, ambient) = (queue(), Ambient::seeded(0));
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let queue = queue.clone();
            ambient.spawn("waiting", async move {
                let item = queue.get().await.expect("it is open");
                tokio::time::sleep(ms(100)).await;
                *item
            })
        })
        .collect();
    tokio::task::yield_now().await;
    let before = Instant::now();
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    let mut taken = Vec::new();
    for task in waiting {
        taken.push(task.await.expect("it ends"));
    }
    assert_eq!((taken, before.elapsed()), (vec!["a", "b", "c"], ms(100)));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_does_not_come_does_not_hold_up_others() {
    let queue = queue();
    let (mut stuck, mut other) = (Box::pin(queue.get()), Box::pin(queue.get()));
    assert!(is_pending(stuck.as_mut()).await && is_pending(other.as_mut()).await);
    queue.add("a");
    advance(ms(2)).await;
    queue.add("b");
    assert_eq!(timeout(ms(1), other).await.expect("it was woken").map(|item| *item), Some("a"));
    assert_eq!(timeout(ms(1), stuck).await.expect("it comes late").map(|item| *item), Some("b"));
}

/// Polls once.
async fn is_pending<F: Future>(future: Pin<&mut F>) -> bool {
    let mut future = Some(future);
    std::future::poll_fn(move |cx| {
        std::task::Poll::Ready(future.take().is_some_and(|future| future.poll(cx).is_pending()))
    })
    .await
}
