use prometheus_client::metrics::counter::Counter;

use crate::family::Family;
use crate::registry::Registry;

/// What a client counts of its requests to an API server: `rest_client_requests_total{code,method,host}`.
#[derive(Clone, Debug)]
pub struct RestClientMetrics {
    requests: Family<Counter>,
}

impl RestClientMetrics {
    pub(crate) fn new(registry: &Registry) -> Self {
        let requests = Family::new(Counter::default);
        registry.register_own(
            "rest_client_requests",
            "Requests sent to the API server, by response code, method and host",
            requests.clone(),
        );
        Self { requests }
    }

    /// Counts one request. `code` is the status code, or `<error>` when no response came; `host` is the server's name
    /// with its port.
    pub fn count(&self, code: &str, method: &str, host: &str) {
        self.requests.with(&[("code", code), ("method", method), ("host", host)]).inc();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Registry};

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
