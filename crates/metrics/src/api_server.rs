use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use crate::computed::ComputedGauges;
use crate::family::{Family, Labels};
use crate::registry::Registry;

/// The buckets of the durations, in seconds: kube-apiserver's.
const DURATION_BUCKETS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];

/// The buckets of the sizes, in bytes: kube-apiserver's.
const SIZE_BUCKETS: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// What kind of request an API server answers, as the labels of kube-apiserver's metrics have it. Never a name or
/// namespace of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestKind<'a> {
    /// `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE`, `DELETECOLLECTION`.
    pub verb: &'a str,
    /// API group; empty for the core group and outside of resources.
    pub group: &'a str,
    /// API version; empty outside of resources.
    pub version: &'a str,
    /// Plural; empty outside of resources.
    pub resource: &'a str,
    /// The subresource; the path outside of resources.
    pub subresource: &'a str,
    /// `cluster`, `namespace`, `resource` (one object), or empty outside of resources.
    pub scope: &'a str,
    /// `All` in a dry run, empty otherwise.
    pub dry_run: &'a str,
}

impl RequestKind<'_> {
    fn labels(&self) -> [(&'static str, &str); 7] {
        [
            ("component", if self.version.is_empty() { "" } else { "apiserver" }),
            ("group", self.group),
            ("resource", self.resource),
            ("scope", self.scope),
            ("subresource", self.subresource),
            ("verb", self.verb),
            ("version", self.version),
        ]
    }
}

/// What an API server counts, under kube-apiserver's names: `apiserver_request_total`,
/// `apiserver_request_duration_seconds`, `apiserver_response_sizes`, `apiserver_current_inflight_requests`,
/// `apiserver_longrunning_requests` and `apiserver_resource_objects`.
#[derive(Clone, Debug)]
pub struct ApiServerMetrics {
    requests: Family<Counter>,
    durations: Family<Histogram>,
    sizes: Family<Histogram>,
    in_flight: Family<Gauge>,
    long_running: Family<Gauge>,
    objects: ComputedGauges,
}

impl ApiServerMetrics {
    pub(crate) fn new(registry: &Registry) -> Self {
        let metrics = Self {
            requests: Family::new(Counter::default),
            durations: Family::new(|| Histogram::new(DURATION_BUCKETS)),
            sizes: Family::new(|| Histogram::new(SIZE_BUCKETS)),
            in_flight: Family::new(Gauge::default),
            long_running: Family::new(Gauge::default),
            objects: ComputedGauges::default(),
        };
        registry.register_own("apiserver_request", "Requests, by kind and response code", metrics.requests.clone());
        registry.register_own(
            "apiserver_request_duration_seconds",
            "How long requests took, by kind; not those that watch",
            metrics.durations.clone(),
        );
        registry.register_own(
            "apiserver_response_sizes",
            "Sizes of responses in bytes, by kind; not those of watches",
            metrics.sizes.clone(),
        );
        registry.register_own(
            "apiserver_current_inflight_requests",
            "Requests that are being answered, apart from those that watch",
            metrics.in_flight.clone(),
        );
        registry.register_own(
            "apiserver_longrunning_requests",
            "Watches that are open, by kind",
            metrics.long_running.clone(),
        );
        registry.register_own(
            "apiserver_resource_objects",
            "Stored objects, by group and resource",
            metrics.objects.clone(),
        );
        metrics
    }

    /// A request is in work until the answer is dropped.
    #[must_use]
    pub fn began(&self, kind: &RequestKind<'_>) -> RequestInWork {
        let gauge = if kind.verb == "WATCH" {
            self.long_running.with(&kind.labels())
        } else {
            let is_read = matches!(kind.verb, "GET" | "LIST");
            self.in_flight.with(&[("request_kind", if is_read { "readOnly" } else { "mutating" })])
        };
        gauge.inc();
        RequestInWork { gauge }
    }

    /// A request was answered with `code` after `took`; `size` are the bytes of the body, `None` for a watch.
    pub fn answered(&self, kind: &RequestKind<'_>, code: u16, took: Duration, size: Option<usize>) {
        let code = code.to_string();
        let [component, group, resource, scope, subresource, verb, version] = kind.labels();
        let dry_run = ("dry_run", kind.dry_run);
        let counted = [("code", &*code), component, dry_run, group, resource, scope, subresource, verb, version];
        self.requests.with(&counted).inc();
        let Some(size) = size else { return };
        let timed = [component, dry_run, group, resource, scope, subresource, verb, version];
        self.durations.with(&timed).observe(took.as_secs_f64());
        #[expect(clippy::cast_precision_loss, reason = "no body has so many bytes")]
        self.sizes.with(&kind.labels()).observe(size as f64);
    }

    /// From now on `count` tells at each scrape how many objects are stored, by group and resource; `None` once there is
    /// nothing left to count.
    pub fn count_objects(&self, count: impl Fn() -> Option<Vec<(String, String, usize)>> + Send + Sync + 'static) {
        let series = move || {
            let series = count()?.into_iter().map(|(group, resource, objects)| {
                let labels: Labels = vec![("group", group), ("resource", resource)];
                #[expect(clippy::cast_precision_loss, reason = "nobody stores so many objects")]
                (labels, objects as f64)
            });
            Some(series.collect())
        };
        self.objects.set(Labels::new(), std::sync::Arc::new(series));
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub struct RequestInWork {
    gauge: Gauge,
}

impl Drop for RequestInWork {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RequestKind;
    use crate::{Format, Registry};

    fn check(registry: &Registry, expect: &[&str]) {
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        for line in expect {
            assert!(text.lines().any(|found| found == *line), "{line}\n{text}");
        }
    }

    #[test]
    fn requests_are_counted_by_kind() {
        let registry = Registry::new();
        let metrics = registry.api_server();
        let pods =
            RequestKind { verb: "LIST", version: "v1", resource: "pods", scope: "namespace", ..Default::default() };
        let in_work = metrics.began(&pods);
        check(&registry, &[r#"apiserver_current_inflight_requests{request_kind="readOnly"} 1"#]);
        metrics.answered(&pods, 200, Duration::from_millis(30), Some(4000));
        drop(in_work);
        check(
            &registry,
            &[
                r#"apiserver_current_inflight_requests{request_kind="readOnly"} 0"#,
                r#"apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 1"#,
                r#"apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1",le="0.05"} 1"#,
                r#"apiserver_response_sizes_sum{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 4000.0"#,
            ],
        );
    }

    #[test]
    fn a_watch_is_open_and_has_no_duration() {
        let registry = Registry::new();
        let metrics = registry.api_server();
        let watch = RequestKind { verb: "WATCH", version: "v1", resource: "pods", ..Default::default() };
        let in_work = metrics.began(&watch);
        metrics.answered(&watch, 200, Duration::from_millis(1), None);
        let open = r#"apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="",subresource="",verb="WATCH",version="v1"}"#;
        check(&registry, &[&format!("{open} 1")]);
        drop(in_work);
        check(&registry, &[&format!("{open} 0")]);
        let text = registry.encode(Format::PrometheusText).expect("it encodes");
        assert!(!text.contains("duration_seconds_sum"), "{text}");
    }

    #[test]
    fn objects_are_counted_when_they_are_asked_for() {
        let registry = Registry::new();
        registry.api_server().count_objects(|| Some(vec![("apps".to_owned(), "deployments".to_owned(), 3)]));
        check(&registry, &[r#"apiserver_resource_objects{group="apps",resource="deployments"} 3.0"#]);
    }
}
