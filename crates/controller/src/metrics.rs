use std::time::Duration;

use controller_runtime_metrics::{QueueMetrics, QueueSnapshot};
use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::{Observer, Queue};

/// Tells the metrics what happens in a controller's queue.
#[derive(Debug)]
pub(crate) struct QueueObserver(pub(crate) QueueMetrics);

impl Observer for QueueObserver {
    fn added(&self) {
        self.0.added();
    }

    fn retried(&self) {
        self.0.retried();
    }

    fn taken(&self, waited: Duration) {
        self.0.taken(waited);
    }

    fn done(&self, worked: Duration) {
        self.0.done(worked);
    }
}

/// Lets scrapes ask the queue, as long as it is there.
pub(crate) fn observe(metrics: &QueueMetrics, queue: &Queue<ObjectKey>) {
    let queue = queue.downgrade();
    metrics.observe_with(move || {
        let now = queue.snapshot()?;
        Some(QueueSnapshot { depth: now.depth, unfinished: now.unfinished, longest_running: now.longest_running })
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use controller_runtime_ambient::Ambient;
    use controller_runtime_metrics::{Format, Registry};

    use super::{Duration, ObjectKey, Queue, QueueObserver, observe};

    #[tokio::test(start_paused = true)]
    async fn o21_what_waits_is_no_depth_and_each_delay_is_a_retry() {
        let registry = Registry::new();
        let metrics = registry.workqueue("web", "web");
        let queue = Queue::builder(&Ambient::seeded(0)).observer(Arc::new(QueueObserver(metrics.clone()))).build();
        observe(&metrics, &queue);
        let check = |expected: [&str; 5]| {
            let text = registry.encode(Format::PrometheusText).expect("it encodes");
            let names =
                ["depth", "adds_total", "retries_total", "queue_duration_seconds_sum", "unfinished_work_seconds"];
            let found = names.map(|name| {
                let mut lines = text.lines();
                let line = lines.find(|line| line.starts_with(&format!("workqueue_{name}{{")));
                line.and_then(|line| line.rsplit(' ').next()).unwrap_or_default().to_owned()
            });
            assert_eq!(found, expected, "{text}");
        };
        let key = ObjectKey::namespaced("ns", "x");
        for delay in [300, 100, 500] {
            queue.add_after(key.clone(), Duration::from_millis(delay));
        }
        queue.forget(&key);
        check(["0.0", "0", "3", "0.0", "0.0"]);
        tokio::time::advance(Duration::from_millis(100)).await;
        check(["1.0", "1", "3", "0.0", "0.0"]);
        tokio::time::advance(Duration::from_millis(250)).await;
        let item = queue.try_get().expect("it is ready");
        tokio::time::advance(Duration::from_millis(500)).await;
        check(["0.0", "1", "3", "0.25", "0.5"]);
        item.done();
        tokio::time::advance(Duration::from_millis(800)).await;
        check(["0.0", "1", "3", "0.25", "0.0"]);
    }
}
