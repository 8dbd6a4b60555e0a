//! What a queue does, one behaviour per test, on a paused clock.

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, Item, Observer, Queue};
use parking_lot::Mutex;
use tokio::time::{Instant, advance, timeout};

type Keys = Queue<&'static str>;

fn queue() -> Keys {
    Queue::new(&Ambient::seeded(0))
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn take(queue: &Keys) -> Item<&'static str> {
    queue.try_get().expect("a key is ready")
}

/// Takes all that is ready, in order, and is done with each at once.
fn drain(queue: &Keys) -> Vec<&'static str> {
    std::iter::from_fn(|| queue.try_get().map(|item| *item)).collect()
}

#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn count(&self, what: &str) -> usize {
        self.0.lock().iter().filter(|line| line.starts_with(what)).count()
    }
}

impl Observer for Log {
    fn added(&self) {
        self.0.lock().push("added".to_owned());
    }

    fn retried(&self) {
        self.0.lock().push("retried".to_owned());
    }

    fn taken(&self, waited: Duration) {
        self.0.lock().push(format!("taken after {waited:?}"));
    }

    fn done(&self, worked: Duration) {
        self.0.lock().push(format!("done after {worked:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn two_adds_before_a_get_are_one() {
    let queue = queue();
    queue.add("a");
    queue.add("a");
    assert_eq!(queue.len(), 1);
    assert_eq!(drain(&queue), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn an_add_during_the_work_comes_after_it_once() {
    let queue = queue();
    (0..5).for_each(|_| queue.add("x"));
    let item = take(&queue);
    (0..5).for_each(|_| queue.add("x"));
    assert_eq!(queue.len(), 0);
    assert!(timeout(ms(1000), queue.get()).await.is_err(), "the second worker waits while the first has the key");
    item.done();
    assert_eq!(drain(&queue), ["x"]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_waits_gets_the_key_when_the_other_is_done() {
    let queue = queue();
    queue.add("x");
    let item = take(&queue);
    queue.add("x");
    let second = {
        let queue = queue.clone();
        Ambient::seeded(0).spawn("second", async move { queue.get().await.map(|item| *item) })
    };
    advance(ms(50)).await;
    assert!(!second.is_finished());
    item.done();
    assert_eq!(second.await.expect("it ends"), Some("x"));
}

#[tokio::test(start_paused = true)]
async fn equal_priorities_come_in_order() {
    let queue = queue();
    for key in ["c", "a", "b"] {
        queue.add(key);
    }
    assert_eq!(drain(&queue), ["c", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_priority_only_rises_while_queued() {
    let queue = queue();
    queue.add_with("low", Add::now().priority(-1));
    queue.add("a");
    queue.add_with("a", Add::now().priority(-5));
    queue.add("b");
    queue.add_with("b", Add::now().priority(7));
    assert_eq!(queue.snapshot().depth, [(-1, 1), (0, 1), (7, 1)]);
    assert_eq!(take(&queue).priority(), 7);
    assert_eq!(drain(&queue), ["a", "low"]);
    queue.add_with("b", Add::now().priority(-5));
    assert_eq!(take(&queue).priority(), -5, "what was delivered does not hold it up");
}

#[tokio::test(start_paused = true)]
async fn a_raised_key_takes_its_place_by_ready_time() {
    let queue = queue();
    queue.add_with("first", Add::now().priority(0));
    advance(ms(1)).await;
    queue.add_with("second", Add::now().priority(5));
    queue.add_with("first", Add::now().priority(5));
    assert_eq!(drain(&queue), ["first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn a_raise_keeps_others_in_their_order() {
    let queue = queue();
    queue.add("foo");
    queue.add_with("bar", Add::now().priority(1));
    queue.add_with("baz", Add::now().priority(1));
    assert_eq!(drain(&queue), ["bar", "baz", "foo"]);
}

#[tokio::test(start_paused = true)]
async fn an_add_makes_a_waiting_key_ready_at_once_and_only_once() {
    let queue = queue();
    queue.add_after("y", ms(200));
    queue.add("y");
    assert_eq!(drain(&queue), ["y"]);
    queue.add("y");
    queue.add_after("y", Duration::from_hours(1));
    assert_eq!(drain(&queue), ["y"]);
    advance(Duration::from_secs(4000)).await;
    assert_eq!(drain(&queue), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn waiting_keys_do_not_count() {
    let queue = queue();
    queue.add_after("a", ms(10));
    assert_eq!((queue.len(), queue.snapshot().depth, queue.snapshot().waiting), (0, vec![], 1));
    advance(ms(10)).await;
    assert_eq!((queue.len(), queue.snapshot().depth, queue.snapshot().waiting), (1, vec![(0, 1)], 0));
}

#[tokio::test(start_paused = true)]
async fn a_high_priority_that_becomes_ready_goes_first() {
    let queue = queue();
    queue.add_with("high", Add::after(ms(1000)).priority(1));
    queue.add("low");
    queue.add("low too");
    assert_eq!(*take(&queue), "low");
    advance(ms(1000)).await;
    assert_eq!(drain(&queue), ["high", "low too"]);
}

#[tokio::test(start_paused = true)]
async fn the_order_is_that_of_ready_times() {
    let queue = queue();
    queue.add_after("late", ms(30));
    queue.add_after("early", ms(10));
    advance(ms(20)).await;
    queue.add("now");
    advance(ms(20)).await;
    assert_eq!(drain(&queue), ["early", "now", "late"]);
}

#[tokio::test(start_paused = true)]
async fn shutdown_wakes_who_waits_and_drops_later_adds() {
    let queue = queue();
    let ambient = Ambient::seeded(0);
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let queue = queue.clone();
            ambient.spawn("waiting", async move { queue.get().await.is_none() })
        })
        .collect();
    tokio::task::yield_now().await;
    queue.shutdown();
    queue.add("a");
    queue.add_after("b", ms(1));
    queue.add_with_backoff("c");
    for task in waiting {
        assert!(task.await.expect("it ends"));
    }
    advance(ms(10)).await;
    assert!(queue.get().await.is_none());
    assert_eq!(queue.snapshot().waiting, 0);
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
        ambient.spawn("waiting", async move { queue.get().await.is_none() })
    };
    advance(ms(10)).await;
    assert!(!drained.is_finished(), "a worker still has a key");
    first.requeue_after(ms(1));
    first.done();
    assert_eq!(drain(&queue), ["a"], "this trigger came before the drain");
    drained.await.expect("it ends");
    assert!(waiting.await.expect("it ends"));
    assert!(queue.get().await.is_none());
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
async fn back_off_doubles_and_forget_resets_it() {
    let queue = queue();
    let mut delays = Vec::new();
    queue.add("z");
    let mut item = queue.get().await.expect("it is open");
    for failures in 0..8 {
        assert_eq!(item.num_requeues(), failures);
        item.requeue_with_backoff();
        let before = Instant::now();
        item.done();
        item = queue.get().await.expect("it is open");
        delays.push(before.elapsed().as_millis());
    }
    assert_eq!(delays, [5, 10, 20, 40, 80, 160, 320, 640]);
    assert_eq!((item.num_requeues(), queue.num_requeues(&"z")), (8, 8));
    item.forget();
    assert_eq!(queue.num_requeues(&"z"), 0);
    item.requeue_with_backoff();
    item.done();
    assert!(timeout(ms(4), queue.get()).await.is_err());
    assert!(timeout(ms(2), queue.get()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_longer_delay_may_be_asked_for_than_the_back_off() {
    let queue = queue();
    let start = Instant::now();
    queue.add_with("a", Add::with_backoff().at_least_after(ms(100)));
    queue.get().await.expect("it is open").forget();
    assert_eq!(start.elapsed(), ms(100));
    queue.add_with("a", Add::with_backoff().at_least_after(ms(1)));
    queue.get().await.expect("it is open").done();
    assert_eq!(start.elapsed(), ms(105));
}

#[tokio::test(start_paused = true)]
async fn the_earliest_of_several_delays_wins_and_forget_cancels_none() {
    let log = Arc::new(Log::default());
    let queue: Keys = Queue::builder(&Ambient::seeded(0)).observer(log.clone()).build();
    let start = Instant::now();
    for delay in [300, 100, 500] {
        queue.add_after("x", ms(delay));
    }
    queue.forget(&"x");
    assert_eq!(queue.len(), 0);
    let item = queue.get().await.expect("it is open");
    assert_eq!(start.elapsed(), ms(100));
    item.done();
    assert!(timeout(ms(800), queue.get()).await.is_err(), "it comes once");
    assert_eq!((log.count("added"), log.count("retried"), log.count("taken")), (1, 3, 1));
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
    let (mut first, second) = (Box::pin(queue.get()), queue.get());
    let second = std::pin::pin!(second);
    assert!(futures_are_pending(first.as_mut()).await);
    let mut second = second;
    assert!(futures_are_pending(second.as_mut()).await);
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
    assert!(futures_are_pending(stuck.as_mut()).await && futures_are_pending(other.as_mut()).await);
    queue.add("a");
    advance(ms(2)).await;
    queue.add("b");
    assert_eq!(timeout(ms(1), other).await.expect("it was woken").map(|item| *item), Some("a"));
    assert_eq!(timeout(ms(1), stuck).await.expect("it comes late").map(|item| *item), Some("b"));
}

/// Polls once.
async fn futures_are_pending<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
    let mut future = Some(future);
    std::future::poll_fn(move |cx| {
        std::task::Poll::Ready(future.take().is_some_and(|future| future.poll(cx).is_pending()))
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn an_old_key_is_not_starved() {
    let queue: Keys = Queue::builder(&Ambient::seeded(0)).patience(ms(100)).build();
    queue.add_with("old", Add::now().priority(-100));
    advance(ms(101)).await;
    let mut taken = Vec::new();
    for _ in 0..5 {
        queue.add("live");
        taken.push(*take(&queue));
    }
    assert_eq!(taken, ["live", "live", "live", "old", "live"]);
}

#[tokio::test(start_paused = true)]
async fn the_observer_learns_times() {
    let log = Arc::new(Log::default());
    let queue: Keys = Queue::builder(&Ambient::seeded(0)).observer(log.clone()).build();
    queue.add("a");
    queue.add("a");
    advance(ms(30)).await;
    let item = take(&queue);
    advance(ms(10)).await;
    queue.add("a");
    advance(ms(10)).await;
    let snapshot = queue.snapshot();
    assert_eq!((snapshot.running, snapshot.unfinished, snapshot.longest_running), (1, ms(20), ms(20)));
    item.done();
    take(&queue).done();
    assert_eq!(
        *log.0.lock(),
        ["added", "taken after 30ms", "added", "done after 20ms", "taken after 10ms", "done after 0ns"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_empty_queue_remembers_nothing_but_failures() {
    let queue: Queue<u32> = Queue::new(&Ambient::seeded(0));
    for key in 0..5000 {
        queue.add(key);
    }
    while let Some(item) = queue.try_get() {
        if *item == 7 {
            item.requeue_with_backoff();
        }
    }
    assert_eq!(queue.num_requeues(&7), 1);
    assert_eq!(queue.get().await.map(|item| *item), Some(7));
    queue.forget(&7);
    assert_eq!(queue.num_requeues(&7), 0);
    queue.add(7);
    assert_eq!(queue.try_get().map(|item| *item), Some(7));
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
