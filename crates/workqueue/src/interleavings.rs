//! The wake-up paths under shuttle, which tries out interleavings of threads: whoever waits for a key is woken when there
//! is one, and whoever waits for the end when it has come. A lost wake-up shows as a deadlock.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use shuttle::future::block_on;
use shuttle::sync::Mutex;
use shuttle::thread;

use crate::add::Add;
use crate::get::Get;
use crate::limiter::ItemBackoff;
use crate::shared::{Handle, Shared};
use crate::state::Phase;

type Keys = Arc<Handle<u8>>;

const ITERATIONS: usize = 1000;

fn check(run: impl Fn(Keys) + Send + Sync + 'static) {
    let run = move || {
        let shared = Shared::new(Duration::from_secs(10), Arc::new(ItemBackoff::default()), None);
        run(Handle::new(Arc::new(shared)));
    };
    shuttle::check_random(run, ITERATIONS);
}

/// A worker that takes keys until the queue ends, and gives what it took.
fn worker(queue: &Keys) -> thread::JoinHandle<Vec<u8>> {
    let queue = queue.clone();
    thread::spawn(move || {
        let mut taken = Vec::new();
        while let Some(item) = block_on(Get::new(&queue)) {
            taken.push(*item);
        }
        taken
    })
}

fn add(queue: &Keys, keys: impl IntoIterator<Item = u8> + Send + 'static) -> thread::JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || keys.into_iter().for_each(|key| queue.add(key, Add::now())))
}

/// Polls a get once and drops it, as a `select!` does whose other branch is ready.
fn give_up(get: Get<'_, u8>) {
    let mut get = pin!(get);
    block_on(std::future::poll_fn(|cx| {
        let _ = get.as_mut().poll(cx);
        Poll::Ready(())
    }));
}

#[test]
fn every_add_is_delivered_and_the_drain_ends() {
    check(|queue| {
        let workers = [worker(&queue), worker(&queue)];
        let producers = [add(&queue, [1, 2, 3]), add(&queue, [4, 5])];
        for producer in producers {
            producer.join().expect("it ends");
        }
        queue.enter(Phase::Draining);
        block_on(queue.wait_idle());
        let mut taken: Vec<u8> = workers.into_iter().flat_map(|worker| worker.join().expect("it ends")).collect();
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3, 4, 5]);
    });
}

#[test]
fn a_waiter_is_woken_by_an_add_whatever_others_do() {
    check(|queue| {
        let adding = add(&queue, [1]);
        let quitter = {
            let queue = queue.clone();
            thread::spawn(move || give_up(Get::new(&queue)))
        };
        let waiting = {
            let queue = queue.clone();
            thread::spawn(move || block_on(Get::new(&queue)).map(|item| *item))
        };
        adding.join().expect("it ends");
        quitter.join().expect("it ends");
        // The one who gave up may have had the key in its hands: it is then done, and comes only if added again.
        queue.add(1, Add::now());
        assert_eq!(waiting.join().expect("it ends"), Some(1));
    });
}

#[test]
fn a_get_that_is_dropped_passes_its_wake_up_on() {
    check(|queue| {
        let pending = |get: Pin<&mut Get<'_, u8>>| {
            let mut get = Some(get);
            block_on(std::future::poll_fn(move |cx| {
                Poll::Ready(get.take().is_some_and(|get| get.poll(cx).is_pending()))
            }))
        };
        let mut first = Box::pin(Get::new(&queue));
        assert!(pending(first.as_mut()));
        let waiting = {
            let queue = queue.clone();
            thread::spawn(move || block_on(Get::new(&queue)).map(|item| *item))
        };
        let adding = add(&queue, [1]);
        drop(first);
        assert_eq!(waiting.join().expect("it ends"), Some(1));
        adding.join().expect("it ends");
    });
}

#[test]
fn an_add_during_the_work_is_delivered_after_it() {
    check(|queue| {
        queue.add(1, Add::now());
        let held = Arc::new(Mutex::new(BTreeMap::<u8, u32>::new()));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (queue, held) = (queue.clone(), held.clone());
                thread::spawn(move || {
                    let mut seen = 0;
                    while let Some(item) = block_on(Get::new(&queue)) {
                        assert_eq!(held.lock().expect("nobody panics").insert(*item, 1), None, "one worker at a time");
                        thread::yield_now();
                        held.lock().expect("nobody panics").remove(&*item);
                        seen += 1;
                    }
                    seen
                })
            })
            .collect();
        add(&queue, [1, 1]).join().expect("it ends");
        queue.enter(Phase::Draining);
        block_on(queue.wait_idle());
        let seen: u32 = workers.into_iter().map(|worker| worker.join().expect("it ends")).sum();
        assert!((1..=3).contains(&seen), "{seen}");
    });
}

#[test]
fn a_shutdown_wakes_all_who_wait() {
    check(|queue| {
        let workers = [worker(&queue), worker(&queue)];
        let adding = add(&queue, [1, 2]);
        let shutting = {
            let queue = queue.clone();
            thread::spawn(move || queue.enter(Phase::Closed))
        };
        adding.join().expect("it ends");
        shutting.join().expect("it ends");
        block_on(queue.wait_idle());
        let taken: usize = workers.into_iter().map(|worker| worker.join().expect("it ends").len()).sum();
        assert!(taken <= 2);
    });
}

#[test]
fn a_draining_queue_wakes_who_waits_for_a_key_that_never_comes() {
    check(|queue| {
        queue.add(1, Add::now());
        let workers = [worker(&queue), worker(&queue), worker(&queue)];
        queue.enter(Phase::Draining);
        block_on(queue.wait_idle());
        let taken: usize = workers.into_iter().map(|worker| worker.join().expect("it ends").len()).sum();
        assert_eq!(taken, 1);
    });
}

#[test]
fn a_failure_is_forgotten_though_forgetting_needs_no_lock_without_one() {
    check(|queue| {
        queue.add(1, Add::rate_limited());
        let forgetting = {
            let queue = queue.clone();
            thread::spawn(move || queue.forget_key(&1))
        };
        let adding = {
            let queue = queue.clone();
            thread::spawn(move || queue.add(2, Add::rate_limited()))
        };
        forgetting.join().expect("it ends");
        adding.join().expect("it ends");
        assert_eq!((queue.failures_of(&1), queue.failures_of(&2)), (0, 1));
    });
}
