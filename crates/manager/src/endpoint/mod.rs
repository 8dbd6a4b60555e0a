use std::convert::Infallible;

use bytes::Bytes;
use http::header::{ALLOW, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body::Body;

use crate::endpoint::answer::{Answer, BoxError, not_found, text};

mod answer;
mod debug;
mod probe;
#[cfg(feature = "profiling")]
mod profile;
mod scrape;

pub(crate) use debug::Debug;
pub(crate) use probe::Health;
pub(crate) use scrape::Scrapes;

/// What a manager's HTTP server answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endpoint {
    pub(crate) health: Option<Health>,
    pub(crate) scrapes: Option<Scrapes>,
    pub(crate) debug: Option<Debug>,
}

impl Endpoint {
    pub(crate) async fn answer<B: Body<Data = Bytes, Error: Into<BoxError>>>(
        &self,
        request: Request<B>,
    ) -> Result<Answer, Infallible> {
        let mut response = self.of(request).await;
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Ok(response)
    }

    /// Answers what the other one does, too.
    pub(crate) fn join(&mut self, other: Self) {
        self.health = self.health.take().or(other.health);
        self.scrapes = self.scrapes.take().or(other.scrapes);
        self.debug = self.debug.take().or(other.debug);
    }

    async fn of<B: Body<Data = Bytes, Error: Into<BoxError>>>(&self, request: Request<B>) -> Answer {
        let path = request.uri().path().trim_matches('/').to_owned();
        if let Some(below) = path.strip_prefix("debug/")
            && let Some(debug) = &self.debug
        {
            return debug.answer(below, request).await;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        if path == "metrics"
            && let Some(scrapes) = &self.scrapes
        {
            let (head, _) = request.into_parts();
            return scrapes.answer(head).await;
        }
        match &self.health {
            Some(health) => health.answer(&path, request.uri().query().unwrap_or_default()).await,
            None => not_found(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use controller_runtime_metrics::Registry;
    use http::{Method, Request};
    use http_body_util::{BodyExt as _, Empty};
    use tokio::time::Instant;

    use super::{Debug, Endpoint, Health, Scrapes};
    use crate::health::Check;

    async fn answer(endpoint: &Endpoint, method: Method, uri: &str, accept: &str) -> (u16, String, String) {
        let request = Request::builder().method(method).uri(uri).header("accept", accept).body(Empty::<Bytes>::new());
        let request = request.expect("a request");
        let Ok(response) = endpoint.answer(request).await;
        let content_type = response.headers()["content-type"].to_str().expect("text").to_owned();
        let status = response.status().as_u16();
        let body: Bytes = response.into_body().collect().await.expect("it can't fail").to_bytes();
        (status, content_type, String::from_utf8_lossy(&body).into_owned())
    }

    fn endpoint() -> Endpoint {
        let health = Health::default();
        health.ready.add("bad", Check::new(|| async { Err::<(), _>("broken") }));
        health.ready.add("ok", Check::new(|| async { Ok::<(), &str>(()) }));
        let metrics = Registry::new();
        metrics.controller("database", 1);
        let scrapes = Scrapes { registry: metrics, gate: None };
        Endpoint { health: Some(health), scrapes: Some(scrapes), debug: Some(Debug::default()) }
    }

    #[tokio::test]
    async fn b41_probes_are_answered() {
        async fn check(uri: &str, status: u16, body: &str) {
            let (got, _, text) = answer(&endpoint(), Method::GET, uri, "*/*").await;
            assert_eq!((got, text.as_str()), (status, body), "{uri}");
        }
        check("/healthz", 200, "ok").await;
        check("/livez?verbose", 200, "[+]ping ok\nlivez check passed\n").await;
        check("/livez/", 200, "ok").await;
        check("/readyz", 500, "[-]bad failed: reason withheld\n[+]ok ok\nreadyz check failed\n").await;
        check("/readyz?exclude=bad", 200, "ok").await;
        check("/readyz/ok", 200, "ok").await;
        check(
            "/readyz?exclude=bad&exclude=ok&verbose",
            200,
            "[+]bad excluded: ok\n[+]ok excluded: ok\nreadyz check passed\n",
        )
        .await;
        check("/readyz?exclude=bad&timeout=1s", 200, "ok").await;
        check("/readyz?timeout=soon", 400, "timeout must be like 500ms, 2s or 1m\n").await;
        check("/readyz/bad", 500, "[-]bad failed: reason withheld\nreadyz check failed\n").await;
        check("/readyz/none", 404, "not found\n").await;
        check("/debug/log", 404, "not found\n").await;
        check("/", 404, "not found\n").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_can_say_how_long_checks_may_take() {
        async fn check(query: &str, took: Duration) {
            let endpoint = endpoint();
            let hangs = Check::new(std::future::pending::<Result<(), String>>);
            endpoint.health.as_ref().expect("on").live.add("hangs", hangs);
            let before = Instant::now();
            let (status, ..) = answer(&endpoint, Method::GET, &format!("/livez{query}"), "*/*").await;
            assert_eq!((status, before.elapsed()), (500, took), "{query}");
        }
        check("", Duration::from_secs(2)).await;
        check("?timeout=500ms", Duration::from_millis(500)).await;
        check("?timeout=9", Duration::from_secs(9)).await;
        check("?timeout=99m", Duration::from_mins(1)).await;
    }

    #[tokio::test]
    async fn metrics_come_in_the_format_asked_for() {
        let (status, content_type, body) = answer(&endpoint(), Method::GET, "/metrics", "*/*").await;
        assert_eq!((status, content_type.as_str()), (200, "text/plain; version=0.0.4; charset=utf-8"));
        assert!(body.contains("controller_runtime_active_workers{controller=\"database\"} 0\n"), "{body}");
        let (_, content_type, body) =
            answer(&endpoint(), Method::GET, "/metrics", "application/openmetrics-text").await;
        assert!(content_type.starts_with("application/openmetrics-text; version=1.0.0"));
        assert!(body.ends_with("# EOF\n"));
    }

    #[cfg(feature = "profiling")]
    #[tokio::test]
    async fn a_profile_is_taken_for_a_bounded_time() {
        let profile = |query: &'static str| async move {
            let request = Request::get(format!("/debug/pprof/profile{query}")).body(Empty::<Bytes>::new());
            let Ok(response) = endpoint().answer(request.expect("a request")).await;
            (response.status().as_u16(), response.into_body().collect().await.expect("a body").to_bytes().len())
        };
        for query in ["?seconds=0", "?seconds=61", "?seconds=long"] {
            assert_eq!(profile(query).await.0, 400, "{query}");
        }
        // While one is being taken, another one can't.
        let ((first, bytes), (second, _)) = tokio::join!(profile("?seconds=1"), profile("?seconds=1"));
        assert_eq!((first, second), (200, 409));
        assert!(bytes > 0);
    }

    #[tokio::test]
    async fn what_is_off_is_not_there() {
        let off = Endpoint::default();
        assert_eq!(answer(&off, Method::GET, "/metrics", "*/*").await.0, 404);
        assert_eq!(answer(&off, Method::GET, "/healthz", "*/*").await.0, 404);
        assert_eq!(answer(&endpoint(), Method::POST, "/healthz", "*/*").await.0, 405);
    }
}
