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
