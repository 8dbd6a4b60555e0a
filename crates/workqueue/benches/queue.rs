//! What the operations of a queue cost, without waiting and without contention.

use controller_runtime_ambient::Ambient;
use controller_runtime_workqueue::{Add, Queue};
use divan::Bencher;
use divan::counter::ItemsCount;
use tokio::runtime::Runtime;

const KEYS: usize = 10_000;

fn main() {
    divan::main();
}

fn names() -> Vec<String> {
    (0..KEYS).map(|i| format!("default/object-{i:07}")).collect()
}

/// A queue, and the runtime that its timer needs.
fn queue() -> (Runtime, Queue<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let queue = runtime.block_on(async { Queue::new(&Ambient::system()) });
    (runtime, queue)
}

fn add_all(queue: &Queue<String>, names: Vec<String>) {
    for name in names {
        queue.add(name);
    }
}

fn take_all(queue: &Queue<String>) {
    while let Some(item) = queue.try_get() {
        item.forget();
        item.done();
    }
}

#[divan::bench(args = [1, 2, 50])]
fn add_get_forget_done(bencher: Bencher<'_, '_>, priorities: i32) {
    let (_runtime, queue) = queue();
    bencher.counter(ItemsCount::new(KEYS)).with_inputs(names).bench_local_values(|names| {
        for (name, priority) in names.into_iter().zip((0..priorities).cycle()) {
            queue.add_with(name, Add::now().priority(priority));
        }
        take_all(&queue);
    });
}

#[divan::bench]
fn add_of_known_keys(bencher: Bencher<'_, '_>) {
    let (_runtime, queue) = queue();
    add_all(&queue, names());
    bencher.counter(ItemsCount::new(KEYS)).with_inputs(names).bench_local_values(|names| add_all(&queue, names));
}

#[divan::bench]
fn delayed_adds(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(KEYS)).with_inputs(|| (queue(), names())).bench_local_values(
        |((runtime, queue), names)| {
            for (name, millis) in names.into_iter().zip((1_000..2_000).cycle()) {
                queue.add_after(name, std::time::Duration::from_millis(millis));
            }
            (runtime, queue)
        },
    );
}

#[divan::bench]
fn rate_limited_retries(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(KEYS)).with_inputs(|| (queue(), names())).bench_local_values(
        |((runtime, queue), names)| {
            add_all(&queue, names);
            while let Some(item) = queue.try_get() {
                // Once each: what is due while this runs comes back only to be forgotten.
                match item.num_requeues() {
                    0 => item.requeue_rate_limited(),
                    _ => item.forget(),
                }
                drop(item);
            }
            (runtime, queue)
        },
    );
}
