use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

use crate::computed::{ComputedGauges, Source};
use crate::family::{Family, Labels};
use crate::registry::Registry;

/// So many distinct priorities get a series of `workqueue_depth` each; the rest share one.
const MAX_PRIORITIES: usize = 25;

/// The families of all work queues of a registry.
#[derive(Debug)]
pub(crate) struct QueueFamilies {
    depth: ComputedGauges,
    adds: Family<Counter>,
    retries: Family<Counter>,
    queue_duration: Family<Histogram>,
    work_duration: Family<Histogram>,
    unfinished: ComputedGauges,
    longest_running: ComputedGauges,
}

/// The metrics of one work queue.
#[derive(Clone)]
pub struct QueueMetrics {
    name: String,
    controller: String,
    adds: Counter,
    retries: Counter,
    queue_duration: Histogram,
    work_duration: Histogram,
    gauges: [ComputedGauges; 3],
}

/// What a queue holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSnapshot {
    /// How many keys of which priority are ready; keys that wait for their time don't count.
    pub depth: Vec<(i32, usize)>,
    /// How long all the keys that are being processed have been so, in sum.
    pub unfinished: Duration,
    /// How long the longest of them has.
    pub longest_running: Duration,
}

impl QueueFamilies {
    pub(crate) fn new(registry: &Registry) -> Self {
        // From 10 ns on, each bucket ten times the one before.
        let histogram = || Histogram::new(exponential_buckets(10e-9, 10.0, 12));
        let families = Self {
            depth: ComputedGauges::default(),
            adds: Family::new(Counter::default),
            retries: Family::new(Counter::default),
            queue_duration: Family::new(histogram),
            work_duration: Family::new(histogram),
            unfinished: ComputedGauges::default(),
            longest_running: ComputedGauges::default(),
        };
        registry.register_own(
            "workqueue_depth",
            "Keys that are ready to be taken, by priority",
            families.depth.clone(),
        );
        registry.register_own("workqueue_adds", "Keys that became ready to be taken", families.adds.clone());
        registry.register_own(
            "workqueue_retries",
            "Keys that were put off, with a delay or with back-off",
            families.retries.clone(),
        );
        registry.register_own(
            "workqueue_queue_duration_seconds",
            "How long keys were ready before they were taken",
            families.queue_duration.clone(),
        );
        registry.register_own(
            "workqueue_work_duration_seconds",
            "How long the work on a key took",
            families.work_duration.clone(),
        );
        registry.register_own(
            "workqueue_unfinished_work_seconds",
            "Sum of how long the keys in work have been so",
            families.unfinished.clone(),
        );
        registry.register_own(
            "workqueue_longest_running_processor_seconds",
            "How long the key that is longest in work has been so",
            families.longest_running.clone(),
        );
        families
    }

    /// By the queue's name.
    pub(crate) fn longest_running(&self) -> Vec<(String, Duration)> {
        let named = |(labels, seconds): (Labels, f64)| {
            let name = labels.into_iter().find_map(|(key, value)| (key == "name").then_some(value));
            (name.unwrap_or_default(), Duration::try_from_secs_f64(seconds).unwrap_or_default())
        };
        self.longest_running.collect().into_iter().map(named).collect()
    }

    pub(crate) fn of(&self, name: &str, controller: &str) -> QueueMetrics {
        let labels = [("name", name), ("controller", controller)];
        QueueMetrics {
            name: name.to_owned(),
            controller: controller.to_owned(),
            adds: self.adds.with(&labels),
            retries: self.retries.with(&labels),
            queue_duration: self.queue_duration.with(&labels),
            work_duration: self.work_duration.with(&labels),
            gauges: [self.depth.clone(), self.unfinished.clone(), self.longest_running.clone()],
        }
    }
}

impl QueueMetrics {
    /// A key became ready.
    pub fn added(&self) {
        self.adds.inc();
    }

    /// A key was put off: added with a delay or with back-off.
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// A key was taken that had been ready for `waited`.
    pub fn taken(&self, waited: Duration) {
        self.queue_duration.observe(waited.as_secs_f64());
    }

    /// A key is done that had been worked on for `worked`.
    pub fn done(&self, worked: Duration) {
        self.work_duration.observe(worked.as_secs_f64());
    }

    /// Lets scrapes ask `snapshot` for the depth and the work in progress. It gives `None` once the queue is gone, and
    /// is not asked again then.
    pub fn observe_with(&self, snapshot: impl Fn() -> Option<QueueSnapshot> + Send + Sync + 'static) {
        let labels: Labels = vec![("name", self.name.clone()), ("controller", self.controller.clone())];
        let snapshot = Arc::new(snapshot);
        let seconds = |of: fn(&QueueSnapshot) -> Duration| -> Source {
            let (snapshot, labels) = (snapshot.clone(), labels.clone());
            Arc::new(move || snapshot().map(|now| vec![(labels.clone(), of(&now).as_secs_f64())]))
        };
        let depth: Source = {
            let (snapshot, labels) = (snapshot.clone(), labels.clone());
            // A priority that was seen once stays, with 0.
            let known = Mutex::new(BTreeSet::from([0]));
            Arc::new(move || snapshot().map(|now| depth_series(&now, &mut known.lock(), &labels)))
        };
        let sources = [depth, seconds(|now| now.unfinished), seconds(|now| now.longest_running)];
        for (gauges, source) in self.gauges.iter().zip(sources) {
            gauges.set(labels.clone(), source);
        }
    }
}

fn depth_series(now: &QueueSnapshot, known: &mut BTreeSet<i32>, labels: &Labels) -> Vec<(Labels, f64)> {
    for (priority, _) in &now.depth {
        if known.len() < MAX_PRIORITIES {
            known.insert(*priority);
        }
    }
    let of = |wanted: &dyn Fn(i32) -> bool| -> usize {
        now.depth.iter().filter(|(priority, _)| wanted(*priority)).map(|(_, count)| count).sum()
    };
    let series = |priority: String, count: usize| {
        let mut labels = labels.clone();
        labels.push(("priority", priority));
        #[allow(clippy::cast_precision_loss, reason = "a queue holds far fewer than 2^53 keys")]
        (labels, count as f64)
    };
    let mut all: Vec<_> = known.iter().map(|known| series(known.to_string(), of(&|p| p == *known))).collect();
    let rest = of(&|priority| !known.contains(&priority));
    if rest > 0 {
        all.push(series("exceeded_cardinality_limit".to_owned(), rest));
    }
    all
}

impl fmt::Debug for QueueMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueMetrics")
            .field("name", &self.name)
            .field("controller", &self.controller)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::QueueSnapshot;
    use crate::{Format, Registry};

    fn gauges(registry: &Registry) -> String {
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        let wanted = |line: &&str| {
            ["depth", "unfinished", "longest"].iter().any(|part| line.contains(part)) && !line.starts_with('#')
        };
        text.lines().filter(wanted).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn gauges_are_asked_for_while_the_queue_lives() {
        let registry = Registry::new();
        let queue = Arc::new(QueueSnapshot {
            depth: vec![(-100, 7), (0, 2)],
            unfinished: Duration::from_millis(2500),
            longest_running: Duration::from_secs(2),
        });
        let weak = Arc::downgrade(&queue);
        let metrics = registry.workqueue("database", "database");
        metrics.observe_with(move || weak.upgrade().map(|queue| (*queue).clone()));
        insta::assert_snapshot!(gauges(&registry), @r#"
        workqueue_depth{name="database",controller="database",priority="-100"} 7.0
        workqueue_depth{name="database",controller="database",priority="0"} 2.0
        workqueue_unfinished_work_seconds{name="database",controller="database"} 2.5
        workqueue_longest_running_processor_seconds{name="database",controller="database"} 2.0
        "#);
        assert_eq!(registry.longest_running(), [("database".to_owned(), Duration::from_secs(2))]);
        drop(queue);
        assert_eq!(gauges(&registry), "");
        assert_eq!(registry.longest_running(), []);
    }

    #[test]
    fn too_many_priorities_share_a_series() {
        let registry = Registry::new();
        let metrics = registry.workqueue("a", "a");
        metrics
            .observe_with(|| Some(QueueSnapshot { depth: (1..=30).map(|p| (p, 1)).collect(), ..Default::default() }));
        let text = gauges(&registry);
        assert_eq!(text.matches("priority=").count(), 26, "{text}");
        assert!(text.contains(r#"priority="exceeded_cardinality_limit"} 6"#), "{text}");
    }

    #[test]
    fn durations_fall_into_decades() {
        let registry = Registry::new();
        let metrics = registry.workqueue("a", "a");
        metrics.added();
        metrics.retried();
        metrics.taken(Duration::from_micros(3));
        metrics.done(Duration::from_millis(20));
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        let series: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        insta::assert_snapshot!(series.join("\n"), @r#"
        workqueue_adds_total{name="a",controller="a"} 1
        workqueue_retries_total{name="a",controller="a"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="1e-08"} 0
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="1e-07"} 0
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="1e-06"} 0
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="1e-05"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="0.0001"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="0.001"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="0.01"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="0.1"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="1"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="10"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="100"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="1000"} 1
        workqueue_queue_duration_seconds_bucket{name="a",controller="a",le="+Inf"} 1
        workqueue_queue_duration_seconds_sum{name="a",controller="a"} 0.000003
        workqueue_queue_duration_seconds_count{name="a",controller="a"} 1
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="1e-08"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="1e-07"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="1e-06"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="1e-05"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="0.0001"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="0.001"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="0.01"} 0
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="0.1"} 1
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="1"} 1
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="10"} 1
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="100"} 1
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="1000"} 1
        workqueue_work_duration_seconds_bucket{name="a",controller="a",le="+Inf"} 1
        workqueue_work_duration_seconds_sum{name="a",controller="a"} 0.02
        workqueue_work_duration_seconds_count{name="a",controller="a"} 1
        "#);
    }
}
