//! What counting and a scrape cost.

use std::time::Duration;

use controller_runtime_metrics::{Format, Outcome, Registry};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

#[divan::bench]
fn count_a_reconcile(bencher: Bencher<'_, '_>) {
    let metrics = Registry::new().controller("database", 1);
    bencher.bench(|| {
        let active = metrics.started();
        metrics.ended(Outcome::Success, black_box(Duration::from_millis(3)));
        drop(active);
    });
}

#[divan::bench]
fn count_a_request(bencher: Bencher<'_, '_>) {
    let metrics = Registry::new().rest_client();
    bencher.bench(|| metrics.count(black_box("200"), "GET", "localhost:6443"));
}

/// A scrape with so many controllers.
#[divan::bench(args = [1, 50])]
fn scrape(bencher: Bencher<'_, '_>, controllers: usize) {
    let registry = Registry::new();
    registry.register_process();
    for i in 0..controllers {
        let name = format!("controller-{i}");
        registry.controller(&name, 1).ended(Outcome::Success, Duration::from_millis(3));
        registry.workqueue(&name, &name).added();
    }
    bencher.bench(|| registry.encode(Format::OpenMetrics).map(|text| text.len()));
}
