use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::BodyExt;
use kube_client::client::Body;
use kube_core::Status;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout};

use crate::backoff::Backoff;
use crate::client_options::ClientOptions;
use crate::error::{ClientError, RequestProblem, Verb};
use crate::interceptor::{Interception, Interceptor};
use crate::mapper::Discovered;
use crate::rate_limit::{RateLimit, RateLimiter};
use crate::request::Request;
use crate::warning::warnings;

/// First and longest delay between the attempts of one request.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How much of an answer that isn't a `Status` goes into an error.
const ERROR_TEXT_LIMIT: usize = 1024;

/// Sends requests: limits, deadline, retries, counting, and errors from answers. Clones share the connection, the
/// limits and what discovery found.
#[derive(Clone)]
pub(crate) struct Transport {
    pub(crate) client: kube_client::Client,
    pub(crate) host: Arc<str>,
    pub(crate) options: ClientOptions,
    /// The only namespace that may be used.
    pub(crate) namespace: Option<Arc<str>>,
    pub(crate) discovered: Arc<Discovered>,
    interceptors: Vec<Arc<Interceptor>>,
    limiters: Vec<Arc<RateLimiter>>,
    /// One for each request under way.
    slots: Arc<Semaphore>,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, options, namespace, .. } = self;
        let mut debug = f.debug_struct("Transport");
        debug.field("host", host).field("options", options).field("namespace", namespace).finish_non_exhaustive()
    }
}

impl Transport {
    pub(crate) fn new(client: kube_client::Client, host: &str, options: ClientOptions) -> Self {
        Self {
            client,
            host: host.into(),
            namespace: None,
            discovered: Arc::default(),
            interceptors: Vec::new(),
            limiters: options.rate_limit.map(RateLimiter::new).map(Arc::new).into_iter().collect(),
            slots: Arc::new(Semaphore::new(options.concurrent_requests.clamp(1, Semaphore::MAX_PERMITS))),
            options,
        }
    }

    pub(crate) fn intercept(&mut self, interceptor: Interceptor) {
        self.interceptors.push(Arc::new(interceptor));
    }

    pub(crate) fn limit(&mut self, limit: RateLimit) {
        self.limiters.push(Arc::new(RateLimiter::new(limit)));
    }

    /// Sends the request and reads the whole answer.
    pub(crate) async fn fetch(&self, request: &Request) -> Result<Bytes, ClientError> {
        let (_, body) = self.call(request, read_whole).await?;
        Ok(body)
    }

    /// Sends the request; the answer's body is still to come.
    pub(crate) async fn open(&self, request: &Request) -> Result<Response<Body>, ClientError> {
        self.call(request, keep_body).await
    }

    async fn call<T, R, F>(&self, request: &Request, read: R) -> Result<T, ClientError>
    where
        R: Fn(Response<Body>) -> F,
        F: Future<Output = Result<T, kube_client::Error>>,
    {
        self.check_namespace(request)?;
        // On the heap: what a request needs would otherwise be part of every future that awaits one.
        let result = Box::pin(self.within_deadline(request, self.intercepted(request, read))).await;
        for interceptor in &self.interceptors {
            interceptor.tell(&request.info, result.as_ref().map(drop));
        }
        result
    }

    /// Refuses what is not in the client's namespace. Cluster-scoped kinds are in none.
    fn check_namespace(&self, request: &Request) -> Result<(), ClientError> {
        match &self.namespace {
            Some(own) if request.namespaced && request.info.namespace.as_deref() != Some(own) => {
                Err(request.refuse(RequestProblem::OtherNamespace(own.to_string())))
            }
            _ => Ok(()),
        }
    }

    async fn intercepted<T, R, F>(&self, request: &Request, read: R) -> Result<T, ClientError>
    where
        R: Fn(Response<Body>) -> F,
        F: Future<Output = Result<T, kube_client::Error>>,
    {
        let failure = |status| ClientError::Status { request: request.info.clone(), status, retry_after: None };
        let mut lost = None;
        // The one that was added last is the outermost.
        for interceptor in self.interceptors.iter().rev() {
            match interceptor.decide(&request.info).await {
                Interception::Send => {}
                Interception::Fail(status) => return Err(failure(status)),
                Interception::SendAndFail(status) => lost = lost.or(Some(status)),
            }
        }
        let answer = self.attempts(request, read).await?;
        match lost {
            Some(status) => Err(failure(status)),
            None => Ok(answer),
        }
    }

    async fn within_deadline<T>(
        &self,
        request: &Request,
        answer: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let after = self.options.timeout;
        match timeout(after, answer).await {
            Ok(result) => result,
            Err(_) => Err(ClientError::Timeout { request: request.info.clone(), after }),
        }
    }

    /// Attempts until one succeeds, fails for good, or there were enough.
    async fn attempts<T, R, F>(&self, request: &Request, read: R) -> Result<T, ClientError>
    where
        R: Fn(Response<Body>) -> F,
        F: Future<Output = Result<T, kube_client::Error>>,
    {
        let mut backoff = Backoff::new(&self.options.ambient, RETRY_DELAYS.0, RETRY_DELAYS.1);
        let began = Instant::now();
        let mut left = self.options.retries;
        loop {
            let error = match self.attempt(request, &read).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(asked) = repeatable(request, &error).filter(|_| left > 0) else { return Err(error) };
            left -= 1;
            if asked > self.options.longest_retry_after {
                return Err(error);
            }
            let delay = asked.max(backoff.next_delay());
            // Sums of durations, not of instants: a server may ask for more time than a clock can hold.
            if began.elapsed().saturating_add(delay) >= self.options.timeout {
                // The server's answer says more than that the deadline was met.
                return Err(error);
            }
            tracing::debug!(%error, ?delay, "a request is tried again");
            sleep(delay).await;
        }
    }

    async fn attempt<T, R, F>(&self, request: &Request, read: &R) -> Result<T, ClientError>
    where
        R: Fn(Response<Body>) -> F,
        F: Future<Output = Result<T, kube_client::Error>>,
    {
        let transport = |source| ClientError::Transport { request: request.info.clone(), source: Box::new(source) };
        let (metrics, method) = (self.options.metrics.rest_client(), request.method.as_str());
        let asked = Instant::now();
        for limiter in &self.limiters {
            limiter.acquire().await;
        }
        metrics.rate_limited(method, &self.host, asked.elapsed());
        let _slot = self.slot(request).await;
        let sent = Instant::now();
        let response = self.client.send(http_request(request)?).await;
        metrics.answered(method, &self.host, sent.elapsed());
        let code = response.as_ref().ok().map(Response::status);
        let label = code.as_ref().map_or("<error>", StatusCode::as_str);
        metrics.count(label, method, &self.host);
        let response = response.map_err(transport)?;
        self.pass_on_warnings(request, response.headers());
        if response.status().is_success() {
            return read(response).await.map_err(transport);
        }
        let (code, headers) = (response.status(), response.headers().clone());
        let (_, body) = read_whole(response).await.map_err(transport)?;
        Err(status_error(request, code, &headers, &body))
    }

    /// The request's turn, held until its answer was read. A watch needs none: it stays open for minutes.
    async fn slot(&self, request: &Request) -> Option<SemaphorePermit<'_>> {
        if request.info.verb == Verb::Watch {
            return None;
        }
        // It is never closed.
        self.slots.acquire().await.ok()
    }

    fn pass_on_warnings(&self, request: &Request, headers: &HeaderMap) {
        for text in warnings(headers) {
            tracing::warn!(verb = %request.info.verb, kind = request.info.kind, "the server warns: {text}");
            if let Some(handler) = &self.options.warning_handler {
                handler.handle(&request.info, &text);
            }
        }
    }
}

async fn read_whole(response: Response<Body>) -> Result<(StatusCode, Bytes), kube_client::Error> {
    let code = response.status();
    Ok((code, response.into_body().collect().await?.to_bytes()))
}

async fn keep_body(response: Response<Body>) -> Result<Response<Body>, kube_client::Error> {
    Ok(response)
}

fn http_request(request: &Request) -> Result<http::Request<Body>, ClientError> {
    let mut builder =
        http::Request::builder().method(request.method.clone()).uri(request.uri()).header(ACCEPT, request.accept);
    if request.info.verb == Verb::Watch {
        // Compressed watch streams, one gzip member per event, end after the first event in common decoders.
        builder = builder.header(ACCEPT_ENCODING, "identity");
    }
    let body = match &request.body {
        Some((content_type, body)) => {
            builder = builder.header(CONTENT_TYPE, *content_type);
            Body::from(body.clone())
        }
        None => Body::empty(),
    };
    builder.body(body).map_err(|error| request.refuse(RequestProblem::Http(error.to_string())))
}

/// Whether the failed request is tried again, and after which delay at least.
///
/// A server that says when to come back (429, or 5xx with Retry-After) has not acted on the request, and one that could
/// not be connected to has not seen it. Reads are repeated after other transient failures, too; writes are not, because
/// they may have happened.
fn repeatable(request: &Request, error: &ClientError) -> Option<Duration> {
    match error {
        ClientError::Status { status, retry_after, .. } => match (status.code, retry_after) {
            (429 | 500.., Some(delay)) => Some(*delay),
            (429, None) => Some(Duration::ZERO),
            (502..=504, None) if request.method == Method::GET => Some(Duration::ZERO),
            _ => None,
        },
        ClientError::Transport { source, .. } if never_connected(source) => Some(Duration::ZERO),
        ClientError::Transport { source, .. } if request.method == Method::GET => match **source {
            kube_client::Error::HyperError(_) | kube_client::Error::Service(_) => Some(Duration::ZERO),
            _ => None,
        },
        _ => None,
    }
}

/// Whether there was no connection that the request could have been sent over.
fn never_connected(error: &kube_client::Error) -> bool {
    use hyper_util::client::legacy::Error as HttpError;
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let refused = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
        if error.downcast_ref().is_some_and(HttpError::is_connect) || error.downcast_ref().is_some_and(refused) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The error in an answer that isn't a success.
fn status_error(request: &Request, code: StatusCode, headers: &HeaderMap, body: &[u8]) -> ClientError {
    let mut status = status_in(body).unwrap_or_else(|| {
        let text = String::from_utf8_lossy(body.get(..ERROR_TEXT_LIMIT).unwrap_or(body)).trim().to_owned();
        let message = if text.is_empty() { format!("the server answered {code}") } else { text };
        Status::failure(&message, "")
    });
    status.code = code.as_u16();
    let retry_after = retry_after(headers).or_else(|| {
        let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    });
    ClientError::Status { request: request.info.clone(), status: Box::new(status), retry_after }
}

/// The `Status` that a body holds, if it is one.
pub(crate) fn status_in(body: &[u8]) -> Option<Status> {
    #[derive(serde::Deserialize)]
    struct Typed {
        kind: String,
        #[serde(flatten)]
        status: Status,
    }
    let typed: Typed = serde_json::from_slice(body).ok()?;
    (typed.kind == "Status").then_some(typed.status)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    // Kubernetes sends seconds, never a date.
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
