//! Orders that are shipped by two workers: a queue alone, without Kubernetes.
//!
//! `cargo run -p controller-runtime-workqueue --example queue`

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, ItemBackoff, LOW_PRIORITY, MaxOf, Queue, TokenBucket};
use tokio::time::timeout;

/// How often the third order was tried: it fails twice.
static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

fn ship(order: u32) -> Result<(), &'static str> {
    if order == 3 && ATTEMPTS.fetch_add(1, Ordering::Relaxed) < 2 { Err("no truck") } else { Ok(()) }
}

async fn work(worker: &str, queue: Queue<u32>) {
    while let Some(order) = queue.get().await {
        match ship(*order) {
            Ok(()) => {
                println!("{worker}: order {} is shipped, priority {}", *order, order.priority());
                order.forget();
            }
            Err(error) => {
                order.requeue_rate_limited();
                println!("{worker}: order {}: {error}, attempt {}", *order, order.num_requeues());
            }
        }
        // Dropping the item says that the work is done, as it would after a panic.
    }
    println!("{worker}: no more orders");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let ambient = Ambient::system();
    let limiter = MaxOf::new().and(ItemBackoff::default()).and(TokenBucket::per_second(100.0, 10));
    let queue = Queue::builder(&ambient).rate_limiter(limiter).build();

    queue.add_with(1, Add::now().priority(LOW_PRIORITY));
    for order in [2, 3, 3, 3] {
        queue.add(order);
    }
    queue.add_after(4, Duration::from_millis(50));
    println!("{} orders are ready", queue.len());

    let workers = ["ann", "bob"].map(|name| ambient.spawn("worker", work(name, queue.clone())));
    tokio::time::sleep(Duration::from_millis(100)).await;
    if timeout(Duration::from_secs(5), queue.drain()).await.is_err() {
        queue.shutdown();
    }
    for worker in workers {
        if let Err(error) = worker.await {
            eprintln!("{error}");
        }
    }
}
