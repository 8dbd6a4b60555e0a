use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::BodyExt;
use kube_client::client::Body;
use kube_core::Status;
use tokio::time::{Instant, sleep, timeout};

use crate::backoff::Backoff;
use crate::error::{ClientError, RequestProblem, Verb};
use crate::options::ClientOptions;
use crate::request::Request;

/// First and longest delay between the attempts of one request.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How much of an answer that isn't a `Status` goes into an error.
const ERROR_TEXT_LIMIT: usize = 1024;

/// Sends requests: deadline, retries, counting, and errors from answers.
#[derive(Clone)]
pub(crate) struct Transport {
    pub(crate) client: kube_client::Client,
    pub(crate) host: String,
    pub(crate) options: ClientOptions,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("host", &self.host).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Transport {
    /// Sends the request and reads the whole answer.
    pub(crate) async fn fetch(&self, request: &Request) -> Result<Bytes, ClientError> {
        let (_, body) = self.within_deadline(request, self.attempts(request, read_whole)).await?;
        Ok(body)
    }

    /// Sends the request; the answer's body is still to come.
    pub(crate) async fn open(&self, request: &Request) -> Result<Response<Body>, ClientError> {
        self.within_deadline(request, self.attempts(request, keep_body)).await
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
        let response = self.client.send(http_request(request)?).await;
        let code = response.as_ref().ok().map(Response::status);
        let label = code.as_ref().map_or("<error>", StatusCode::as_str);
        self.options.metrics.rest_client().count(label, request.method.as_str(), &self.host);
        let response = response.map_err(transport)?;
        if response.status().is_success() {
            return read(response).await.map_err(transport);
        }
        let (code, headers) = (response.status(), response.headers().clone());
        let (_, body) = read_whole(response).await.map_err(transport)?;
        Err(status_error(request, code, &headers, &body))
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
/// A server that says when to come back (429, or 5xx with Retry-After) has not acted on the request. Reads are
/// repeated after other transient failures, too; writes are not, because they may have happened.
fn repeatable(request: &Request, error: &ClientError) -> Option<Duration> {
    match error {
        ClientError::Status { status, retry_after, .. } => match (status.code, retry_after) {
            (429 | 500.., Some(delay)) => Some(*delay),
            (429, None) => Some(Duration::ZERO),
            (502..=504, None) if request.method == Method::GET => Some(Duration::ZERO),
            _ => None,
        },
        ClientError::Transport { source, .. } if request.method == Method::GET => match **source {
            kube_client::Error::HyperError(_) | kube_client::Error::Service(_) => Some(Duration::ZERO),
            _ => None,
        },
        _ => None,
    }
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
