//! What a queue does, one behaviour per test, on a paused clock.

mod ageing;
mod delays;
mod observer;
mod order;
mod rate_limits;
mod shutdown;
mod workers;

use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Item, Queue};

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
