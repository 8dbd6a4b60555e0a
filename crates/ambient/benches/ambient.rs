//! What clock, randomness, ids and tasks cost.

use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};
use divan::Bencher;

fn main() {
    divan::main();
}

fn ambient(kind: &str) -> (tokio::runtime::Runtime, Ambient) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let ambient = runtime.block_on(async { if kind == "seeded" { Ambient::seeded(0) } else { Ambient::system() } });
    (runtime, ambient)
}

#[divan::bench(args = ["seeded", "system"])]
fn now(bencher: Bencher<'_, '_>, kind: &str) {
    let (_runtime, ambient) = ambient(kind);
    bencher.bench_local(|| ambient.now());
}

#[divan::bench(args = ["seeded", "system"])]
fn random(bencher: Bencher<'_, '_>, kind: &str) {
    let (_runtime, ambient) = ambient(kind);
    bencher.bench_local(|| ambient.random());
}

#[divan::bench(args = ["seeded", "system"])]
fn uuid(bencher: Bencher<'_, '_>, kind: &str) {
    let (_runtime, ambient) = ambient(kind);
    bencher.bench_local(|| ambient.uuid());
}

/// A task in a group, from its start to its end.
#[divan::bench]
fn task(bencher: Bencher<'_, '_>) {
    let (runtime, ambient) = ambient("system");
    bencher.bench_local(|| {
        runtime.block_on(async {
            let group = TaskGroup::new(&ambient, &CancellationToken::new());
            group.spawn("task", std::future::ready(()));
            group.shutdown().await;
        });
    });
}
