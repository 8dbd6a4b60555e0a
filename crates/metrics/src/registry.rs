use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::RwLock;
use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Metric;

use crate::api_server::ApiServerMetrics;
use crate::cache::{CacheFamilies, CacheMetrics};
use crate::controller::{ControllerFamilies, ControllerMetrics};
use crate::format::Format;
use crate::rest_client::RestClientMetrics;
use crate::workqueue::{QueueFamilies, QueueMetrics};

/// The metrics of one manager: the families of its layers and the user's own. Cloning is cheap; clones are the same
/// registry.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    metrics: RwLock<Metrics>,
    // A layer's families appear when the layer first asks for them.
    controllers: OnceLock<ControllerFamilies>,
    queues: OnceLock<QueueFamilies>,
    rest_client: OnceLock<RestClientMetrics>,
    caches: OnceLock<CacheFamilies>,
    api_server: OnceLock<ApiServerMetrics>,
}

#[derive(Debug, Default)]
struct Metrics {
    registry: prometheus_client::registry::Registry,
    names: BTreeSet<String>,
}

/// Why a metric could not join a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another metric has the name.
    #[error("metric {name:?} is already registered")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A name is `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    #[error("{name:?} is no name for a metric")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The encoding adds `_total` to the names of counters, so the name must not bring it.
    #[error("counter {name:?} must be registered without \"_total\", which the encoding adds")]
    TotalSuffix {
        /// The name.
        name: String,
    },
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a user's metric: a counter, gauge, histogram, info or family of prometheus-client. The caller keeps a clone
    /// of it and counts there. Help texts get a full stop from the encoding.
    ///
    /// Gives an error when the name is taken or invalid, and for a counter whose name ends with `_total`.
    pub fn register(&self, name: &str, help: &str, metric: impl Metric) -> Result<(), RegisterError> {
        let name = name.to_owned();
        if !is_valid(&name) {
            return Err(RegisterError::InvalidName { name });
        }
        if metric.metric_type() == MetricType::Counter && name.ends_with("_total") {
            return Err(RegisterError::TotalSuffix { name });
        }
        let mut metrics = self.inner.metrics.write();
        if !metrics.names.insert(name.clone()) {
            return Err(RegisterError::Duplicate { name });
        }
        metrics.registry.register(name, help, metric);
        Ok(())
    }

    /// Adds one of our own families. When a user has taken its name already, the user's stays and ours isn't shown.
    pub(crate) fn register_own(&self, name: &str, help: &str, metric: impl Metric) {
        let mut metrics = self.inner.metrics.write();
        if metrics.names.insert(name.to_owned()) {
            metrics.registry.register(name, help, metric);
        }
    }

    /// The metrics of the controller `name`, which reconciles up to `max_concurrent` objects at a time. All its series
    /// exist from now on, with 0.
    pub fn controller(&self, name: &str, max_concurrent: usize) -> ControllerMetrics {
        self.inner.controllers.get_or_init(|| ControllerFamilies::new(self)).of(name, max_concurrent)
    }

    /// Shows the reconciles under short names too: `reconcile_total` beside `controller_runtime_reconcile_total`, and
    /// `reconcile_duration_seconds` beside `controller_runtime_reconcile_time_seconds`, for all controllers whenever
    /// they come.
    pub fn register_short_names(&self) {
        self.inner.controllers.get_or_init(|| ControllerFamilies::new(self)).register_short_names(self);
    }

    /// Adds the metrics of the process, with the names that all Prometheus client libraries use: CPU time, memory, open
    /// files and start (`process_cpu_seconds_total`, `process_resident_memory_bytes`, …). They are read when they are
    /// scraped. On systems other than Linux there are none.
    ///
    /// Doing it again changes nothing.
    pub fn register_process(&self) {
        #[cfg(target_os = "linux")]
        {
            let mut metrics = self.inner.metrics.write();
            if crate::process::NAMES.iter().all(|name| !metrics.names.contains(*name)) {
                metrics.names.extend(crate::process::NAMES.map(str::to_owned));
                metrics.registry.register_collector(Box::new(crate::process::ProcessCollector));
            }
        }
    }

    /// The metrics of the work queue `name` that belongs to `controller`.
    pub fn workqueue(&self, name: &str, controller: &str) -> QueueMetrics {
        self.inner.queues.get_or_init(|| QueueFamilies::new(self)).of(name, controller)
    }

    /// How long the key that is longest in work has been so, for each queue by its name; zero where none is in work.
    pub fn longest_running(&self) -> Vec<(String, Duration)> {
        self.inner.queues.get().map(QueueFamilies::longest_running).unwrap_or_default()
    }

    /// The metrics of requests to an API server.
    pub fn rest_client(&self) -> RestClientMetrics {
        self.inner.rest_client.get_or_init(|| RestClientMetrics::new(self)).clone()
    }

    /// The metrics of caches of a kind. All its series exist from now on, with 0.
    pub fn cache(&self, group: &str, version: &str, kind: &str) -> CacheMetrics {
        self.inner.caches.get_or_init(|| CacheFamilies::new(self)).of(group, version, kind)
    }

    /// The metrics of an API server that answers requests.
    pub fn api_server(&self) -> ApiServerMetrics {
        self.inner.api_server.get_or_init(|| ApiServerMetrics::new(self)).clone()
    }

    /// Shows how long requests to API servers took and waited for the client's rate limit, by verb and host:
    /// `rest_client_request_duration_seconds` and `rest_client_rate_limiter_duration_seconds`.
    pub fn register_request_durations(&self) {
        self.rest_client().register_durations(self);
    }

    /// All metrics in `format`. Gives an error when a metric of a user's own type fails to encode itself.
    pub fn encode(&self, format: Format) -> Result<String, fmt::Error> {
        let mut out = String::new();
        let metrics = self.inner.metrics.read();
        match format {
            Format::PrometheusText => prometheus_text::encode(&mut out, &metrics.registry)?,
            Format::OpenMetrics => text::encode(&mut out, &metrics.registry)?,
        }
        Ok(out)
    }
}

fn is_valid(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::gauge::Gauge;

    use super::{RegisterError, Registry};
    use crate::format::Format;

    #[test]
    fn user_metrics_join_and_bad_ones_are_refused() {
        let registry = Registry::new();
        let name = |name: &str| name.to_owned();
        registry.register("jobs", "Jobs", Counter::<u64>::default()).expect("it is new");
        let again = registry.register("jobs", "Jobs", Gauge::<i64>::default());
        assert_eq!(again, Err(RegisterError::Duplicate { name: name("jobs") }));
        let total = registry.register("jobs_total", "Jobs", Counter::<u64>::default());
        assert_eq!(total, Err(RegisterError::TotalSuffix { name: name("jobs_total") }));
        for bad in ["", "1st", "a-b", "ü"] {
            let result = registry.register(bad, "Bad", Gauge::<i64>::default());
            assert_eq!(result, Err(RegisterError::InvalidName { name: name(bad) }));
        }
        insta::assert_snapshot!(registry.encode(Format::OpenMetrics).expect("it encodes"), @r#"
        # HELP jobs Jobs.
        # TYPE jobs counter
        jobs_total 0
        # EOF
        "#);
    }

    #[test]
    fn process_and_user_metrics_stand_in_one_registry() {
        let registry = Registry::new();
        registry.register_process();
        registry.register_process();
        registry.register("jobs", "Jobs", Counter::<u64>::default()).expect("it is new");
        let taken = registry.register("process_open_fds", "Mine", Gauge::<i64>::default());
        assert_eq!(taken.is_err(), cfg!(target_os = "linux"));
        for format in [Format::PrometheusText, Format::OpenMetrics] {
            let text = registry.encode(format).expect("it encodes");
            assert!(text.contains("jobs_total 0"), "{text}");
            assert_eq!(text.matches("\nprocess_cpu_seconds_total ").count(), usize::from(cfg!(target_os = "linux")));
        }
    }

    #[test]
    fn two_registries_share_nothing() {
        let (a, b) = (Registry::new(), Registry::new());
        a.controller("a", 1);
        assert!(a.encode(Format::PrometheusText).expect("it encodes").contains(r#"controller="a""#));
        assert_eq!(b.encode(Format::PrometheusText).expect("it encodes"), "");
    }

    #[test]
    fn a_family_comes_once_and_a_users_name_stays_the_users() {
        let registry = Registry::new();
        let gauge = Gauge::<i64>::default();
        registry.register("controller_runtime_active_workers", "Mine", gauge).expect("it is new");
        registry.controller("a", 1);
        registry.controller("b", 1);
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        assert_eq!(text.matches("# TYPE controller_runtime_active_workers ").count(), 1);
        assert_eq!(text.matches("# TYPE controller_runtime_reconcile_total ").count(), 1);
        assert!(text.contains("# HELP controller_runtime_active_workers Mine."));
    }
}
