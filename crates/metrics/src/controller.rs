use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use crate::family::Family;
use crate::registry::Registry;

/// The buckets of `controller_runtime_reconcile_time_seconds`, in seconds.
const RECONCILE_TIME_BUCKETS: [f64; 41] = [
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
    0.45,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    1.0,
    1.25,
    1.5,
    1.75,
    2.0,
    2.5,
    3.0,
    3.5,
    4.0,
    4.5,
    5.0,
    6.0,
    7.0,
    8.0,
    9.0,
    10.0,
    15.0,
    20.0,
    25.0,
    30.0,
    40.0,
    50.0,
    60.0,
    f64::INFINITY,
];

/// How a reconcile ended: the values of the label `result` of `controller_runtime_reconcile_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing more to do.
    Success,
    /// It failed, whether a retry helps or not.
    Error,
    /// It asked to run again with back-off.
    Requeue,
    /// It asked to run again after a time.
    RequeueAfter,
}

/// The families of all controllers of a registry.
#[derive(Debug)]
pub(crate) struct ControllerFamilies {
    reconciles: Family<Counter>,
    errors: Family<Counter>,
    terminal_errors: Family<Counter>,
    panics: Family<Counter>,
    timeouts: Family<Counter>,
    time: Family<Histogram>,
    max_concurrent: Family<Gauge>,
    active: Family<Gauge>,
}

/// The metrics of one controller.
#[derive(Clone, Debug)]
pub struct ControllerMetrics {
    success: Counter,
    error: Counter,
    requeue: Counter,
    requeue_after: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    time: Histogram,
    active: Gauge,
}

/// A reconcile that is running. Whatever ends it, an abort included, dropping this ends its count.
#[derive(Debug)]
#[must_use = "dropping it means that the reconcile has ended"]
pub struct ActiveReconcile {
    active: Gauge,
}

impl Drop for ActiveReconcile {
    fn drop(&mut self) {
        self.active.dec();
    }
}

impl ControllerFamilies {
    pub(crate) fn new(registry: &Registry) -> Self {
        let families = Self {
            reconciles: Family::new(Counter::default),
            errors: Family::new(Counter::default),
            terminal_errors: Family::new(Counter::default),
            panics: Family::new(Counter::default),
            timeouts: Family::new(Counter::default),
            time: Family::new(|| Histogram::new(RECONCILE_TIME_BUCKETS)),
            max_concurrent: Family::new(Gauge::default),
            active: Family::new(Gauge::default),
        };
        let counters = [
            ("reconcile", "Reconciles that ended, by controller and result", &families.reconciles),
            ("reconcile_errors", "Reconciles that failed", &families.errors),
            (
                "terminal_reconcile_errors",
                "Reconciles that failed in a way that no retry can mend",
                &families.terminal_errors,
            ),
            ("reconcile_panics", "Reconciles that panicked", &families.panics),
            ("reconcile_timeouts", "Reconciles that ran into their time-out", &families.timeouts),
        ];
        for (name, help, family) in counters {
            registry.register_own(&format!("controller_runtime_{name}"), help, family.clone());
        }
        registry.register_own(
            "controller_runtime_reconcile_time_seconds",
            "How long reconciles took",
            families.time.clone(),
        );
        registry.register_own(
            "controller_runtime_max_concurrent_reconciles",
            "How many reconciles may run at a time",
            families.max_concurrent.clone(),
        );
        registry.register_own(
            "controller_runtime_active_workers",
            "How many reconciles are running",
            families.active.clone(),
        );
        families
    }

    /// Shows two families under the names that are short, too.
    pub(crate) fn register_short_names(&self, registry: &Registry) {
        registry.register_own("reconcile", "Reconciles that ended, by controller and result", self.reconciles.clone());
        registry.register_own("reconcile_duration_seconds", "How long reconciles took", self.time.clone());
    }

    pub(crate) fn of(&self, name: &str, max_concurrent: usize) -> ControllerMetrics {
        let controller = [("controller", name)];
        let result = |result| self.reconciles.with(&[("controller", name), ("result", result)]);
        self.max_concurrent.with(&controller).set(i64::try_from(max_concurrent).unwrap_or(i64::MAX));
        ControllerMetrics {
            success: result("success"),
            error: result("error"),
            requeue: result("requeue"),
            requeue_after: result("requeue_after"),
            errors: self.errors.with(&controller),
            terminal_errors: self.terminal_errors.with(&controller),
            panics: self.panics.with(&controller),
            timeouts: self.timeouts.with(&controller),
            time: self.time.with(&controller),
            active: self.active.with(&controller),
        }
    }
}

impl ControllerMetrics {
    /// A worker starts a reconcile; it counts as active until the guard is dropped.
    pub fn started(&self) -> ActiveReconcile {
        self.active.inc();
        ActiveReconcile { active: self.active.clone() }
    }

    /// A reconcile has ended that took `time`.
    pub fn ended(&self, outcome: Outcome, time: Duration) {
        self.time.observe(time.as_secs_f64());
        match outcome {
            Outcome::Success => self.success.inc(),
            Outcome::Error => {
                self.errors.inc();
                self.error.inc()
            }
            Outcome::Requeue => self.requeue.inc(),
            Outcome::RequeueAfter => self.requeue_after.inc(),
        };
    }

    /// The error of a reconcile was one that no retry can mend. It counts as an error as well.
    pub fn terminal_error(&self) {
        self.terminal_errors.inc();
    }

    /// A reconcile panicked. It counts as an error as well.
    pub fn panicked(&self) {
        self.panics.inc();
    }

    /// A reconcile ran into its own time-out.
    pub fn timed_out(&self) {
        self.timeouts.inc();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Outcome;
    use crate::{Format, Registry};

    #[test]
    fn short_names_are_an_option() {
        let count = |registry: &Registry| {
            let text = registry.encode(Format::OpenMetrics).expect("it encodes");
            ["reconcile_total{", "reconcile_duration_seconds_count{", "controller_runtime_reconcile_total{"]
                .map(|name| text.lines().filter(|line| line.starts_with(name)).count())
        };
        let registry = Registry::new();
        let metrics = registry.controller("before", 1);
        assert_eq!(count(&registry), [0, 0, 4]);
        registry.register_short_names();
        registry.register_short_names();
        registry.controller("after", 1);
        metrics.ended(Outcome::Success, Duration::from_secs(1));
        assert_eq!(count(&registry), [8, 2, 8]);
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        assert!(text.contains("\nreconcile_total{controller=\"before\",result=\"success\"} 1\n"), "{text}");
        assert!(text.contains("\nreconcile_duration_seconds_sum{controller=\"before\"} 1.0\n"), "{text}");
    }

    #[test]
    fn every_series_is_there_from_the_start() {
        let registry = Registry::new();
        let metrics = registry.controller("database", 3);
        let _active = metrics.started();
        drop(metrics.started());
        metrics.ended(Outcome::Error, Duration::from_millis(7));
        metrics.terminal_error();
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        let without_buckets: Vec<&str> =
            text.lines().filter(|line| !line.contains("_bucket") && !line.starts_with("# HELP")).collect();
        insta::assert_snapshot!(without_buckets.join("\n"), @r#"
        # TYPE controller_runtime_reconcile_total counter
        controller_runtime_reconcile_total{controller="database",result="error"} 1
        controller_runtime_reconcile_total{controller="database",result="requeue"} 0
        controller_runtime_reconcile_total{controller="database",result="requeue_after"} 0
        controller_runtime_reconcile_total{controller="database",result="success"} 0
        # TYPE controller_runtime_reconcile_errors_total counter
        controller_runtime_reconcile_errors_total{controller="database"} 1
        # TYPE controller_runtime_terminal_reconcile_errors_total counter
        controller_runtime_terminal_reconcile_errors_total{controller="database"} 1
        # TYPE controller_runtime_reconcile_panics_total counter
        controller_runtime_reconcile_panics_total{controller="database"} 0
        # TYPE controller_runtime_reconcile_timeouts_total counter
        controller_runtime_reconcile_timeouts_total{controller="database"} 0
        # TYPE controller_runtime_reconcile_time_seconds histogram
        controller_runtime_reconcile_time_seconds_sum{controller="database"} 0.007
        controller_runtime_reconcile_time_seconds_count{controller="database"} 1
        # TYPE controller_runtime_max_concurrent_reconciles gauge
        controller_runtime_max_concurrent_reconciles{controller="database"} 3
        # TYPE controller_runtime_active_workers gauge
        controller_runtime_active_workers{controller="database"} 1
        "#);
        assert!(text.contains(r#"reconcile_time_seconds_bucket{controller="database",le="0.01"} 1"#), "{text}");
        assert_eq!(text.matches("_bucket{").count(), 41);
    }
}
