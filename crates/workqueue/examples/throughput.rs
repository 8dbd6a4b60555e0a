//! Measures add + get + forget + done of a million keys: one producer, four workers on two threads.
//!
//! `cargo run --release -p controller-runtime-workqueue --example throughput [KEYS] [WORKERS]`

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::Queue;
use tokio::time::Instant;

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    namespace: String,
    name: String,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let number = |n: usize, default| std::env::args().nth(n).and_then(|arg| arg.parse().ok()).unwrap_or(default);
    let (keys, workers) = (number(1, 1_000_000), number(2, 4));
    let ambient = Ambient::system();
    let queue: Queue<Key> = Queue::new(&ambient);
    let seen = Arc::new(AtomicUsize::new(0));
    let all: Vec<Key> =
        (0..keys).map(|i| Key { namespace: "default".to_owned(), name: format!("obj-{i:07}") }).collect();
    let started = Instant::now();
    let tasks: Vec<_> = (0..workers)
        .map(|_| {
            let (queue, seen) = (queue.clone(), seen.clone());
            ambient.spawn("worker", async move {
                while let Some(item) = queue.get().await {
                    item.forget();
                    item.done();
                    if seen.fetch_add(1, Ordering::Relaxed) + 1 == keys {
                        queue.shutdown();
                    }
                }
            })
        })
        .collect();
    let producer = {
        let queue = queue.clone();
        ambient.spawn("producer", async move {
            for (i, key) in all.into_iter().enumerate() {
                queue.add(key);
                if i % 256 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        })
    };
    if let Err(error) = producer.await {
        eprintln!("{error}");
    }
    for task in tasks {
        if let Err(error) = task.await {
            eprintln!("{error}");
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = seen.load(Ordering::Relaxed) as f64 / seconds;
    println!("{keys} keys, {workers} workers: {rate:.0} keys/s");
}
