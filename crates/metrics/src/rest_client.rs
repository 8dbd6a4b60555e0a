use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

use crate::family::Family;
use crate::registry::Registry;

/// The buckets of the durations, in seconds.
const BUCKETS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// What a client counts of its requests to an API server: `rest_client_requests_total{code,method,host}`, and how long
/// they took where [`Registry::register_request_durations`] asked for that.
#[derive(Clone, Debug)]
pub struct RestClientMetrics {
    requests: Family<Counter>,
    durations: Arc<OnceLock<Durations>>,
}

#[derive(Debug)]
struct Durations {
    request: Family<Histogram>,
    rate_limiter: Family<Histogram>,
}

impl RestClientMetrics {
    pub(crate) fn new(registry: &Registry) -> Self {
        let requests = Family::new(Counter::default);
        registry.register_own(
            "rest_client_requests",
            "Requests sent to the API server, by response code, method and host",
            requests.clone(),
        );
        Self { requests, durations: Arc::default() }
    }

    /// Shows from now on how long requests took.
    pub(crate) fn register_durations(&self, registry: &Registry) {
        self.durations.get_or_init(|| {
            let histogram = || Histogram::new(BUCKETS);
            let durations = Durations { request: Family::new(histogram), rate_limiter: Family::new(histogram) };
            registry.register_own(
                "rest_client_request_duration_seconds",
                "How long the API server took to answer, by verb and host",
                durations.request.clone(),
            );
            registry.register_own(
                "rest_client_rate_limiter_duration_seconds",
                "How long requests waited for the client's own rate limit, by verb and host",
                durations.rate_limiter.clone(),
            );
            durations
        });
    }

    /// Counts one request. `code` is the status code, or `<error>` when no response came; `host` is the server's name
    /// with its port.
    pub fn count(&self, code: &str, method: &str, host: &str) {
        self.requests.with(&[("code", code), ("method", method), ("host", host)]).inc();
    }

    /// A request got its answer, or failed, `took` after it was sent.
    pub fn answered(&self, verb: &str, host: &str, took: Duration) {
        if let Some(durations) = self.durations.get() {
            durations.request.with(&[("verb", verb), ("host", host)]).observe(took.as_secs_f64());
        }
    }

    /// A request waited for the client's own rate limit.
    pub fn rate_limited(&self, verb: &str, host: &str, waited: Duration) {
        if let Some(durations) = self.durations.get() {
            durations.rate_limiter.with(&[("verb", verb), ("host", host)]).observe(waited.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Format, Registry};

    #[test]
    fn durations_are_an_option() {
        let registry = Registry::new();
        let metrics = registry.rest_client();
        let shown = || {
            let text = registry.encode(Format::PrometheusText).expect("it encodes");
            let lines = text.lines().filter(|line| line.contains("_seconds_sum"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        metrics.answered("GET", "host", Duration::from_secs(1));
        assert_eq!(shown(), [""; 0]);
        registry.register_request_durations();
        registry.register_request_durations();
        metrics.answered("GET", "host", Duration::from_secs(2));
        metrics.rate_limited("GET", "host", Duration::from_secs(3));
        assert_eq!(
            shown(),
            [
                r#"rest_client_request_duration_seconds_sum{verb="GET",host="host"} 2.0"#,
                r#"rest_client_rate_limiter_duration_seconds_sum{verb="GET",host="host"} 3.0"#,
            ]
        );
    }

    #[test]
    fn requests_are_counted_by_code_method_and_host() {
        let registry = Registry::new();
        let metrics = registry.rest_client();
        metrics.count("200", "GET", "localhost:6443");
        metrics.count("200", "GET", "localhost:6443");
        registry.rest_client().count("<error>", "PUT", "localhost:6443");
        insta::assert_snapshot!(registry.encode(Format::PrometheusText).expect("it encodes"), @r#"
        # HELP rest_client_requests_total Requests sent to the API server, by response code, method and host.
        # TYPE rest_client_requests_total counter
        rest_client_requests_total{code="200",method="GET",host="localhost:6443"} 2
        rest_client_requests_total{code="<error>",method="PUT",host="localhost:6443"} 1
        "#);
    }
}
