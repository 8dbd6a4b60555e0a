//! What an observer learns.

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Observer, Queue};
use parking_lot::Mutex;
use tokio::time::{Instant, advance, timeout};

use crate::{Keys, ms, take};

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

fn observed() -> (Arc<Log>, Keys) {
    let log = Arc::new(Log::default());
    let queue = Queue::builder(&Ambient::seeded(0)).observer(log.clone()).build();
    (log, queue)
}

#[tokio::test(start_paused = true)]
async fn o21_the_earliest_of_several_delays_wins_and_forget_cancels_none() {
    let (log, queue) = observed();
    let start = Instant::now();
    for delay in [300, 100, 500] {
        queue.add_after("x", ms(delay));
    }
    queue.forget(&"x");
    assert_eq!((queue.len(), queue.snapshot().depth), (0, vec![]));
    advance(ms(99)).await;
    assert_eq!(queue.len(), 0);
    advance(ms(1)).await;
    assert_eq!((queue.len(), queue.snapshot().depth), (1, vec![(0, 1)]));
    let item = queue.get().await.expect("it is open");
    assert_eq!((*item, start.elapsed()), ("x", ms(100)));
    item.done();
    assert!(timeout(ms(800), queue.get()).await.is_err(), "it comes once");
    assert_eq!((log.count("added"), log.count("retried"), log.count("taken")), (1, 3, 1));
}

#[tokio::test(start_paused = true)]
async fn o21_delays_grow_until_the_key_is_forgotten() {
    let (log, queue) = observed();
    let mut delays = Vec::new();
    for round in 0..6 {
        if round == 5 {
            assert_eq!(queue.num_requeues(&"z"), 5);
            queue.forget(&"z");
        }
        let start = Instant::now();
        queue.add_rate_limited("z");
        queue.get().await.expect("it is open").done();
        delays.push(start.elapsed().as_millis());
    }
    assert_eq!(delays, [5, 10, 20, 40, 80, 5]);
    assert_eq!((log.count("added"), log.count("retried")), (6, 6));
}

#[tokio::test(start_paused = true)]
async fn o21_an_add_makes_one_delivery_of_a_delayed_key() {
    let (log, queue) = observed();
    queue.add_after("y", ms(200));
    queue.add("y");
    take(&queue).done();
    assert!(timeout(ms(1000), queue.get()).await.is_err());
    assert_eq!((log.count("added"), log.count("retried"), log.count("taken")), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn it_learns_times() {
    let (log, queue) = observed();
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
