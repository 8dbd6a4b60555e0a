//! How a webhook is called: one POST over HTTPS.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::certificate::tls;
use super::endpoint::{Endpoint, Target};
use super::webhook_service::{InProcessWebhooks, MAX_ANSWER, WebhookBackend, WebhookService, WebhookServices};

/// A webhook gave no answer, or none that can be believed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// It could not be reached, or failed.
    #[error("failed to call webhook: {0}")]
    Failed(String),
    /// Its answer breaks the contract.
    #[error("received invalid webhook response: {0}")]
    Invalid(String),
    /// Its patch is none.
    #[error("received undecodable patch in webhook response: {0}")]
    Undecodable(String),
    /// It gave a patch of another type.
    #[error("unsupported patch type {type_}", type_ = crate::status::quote(.0))]
    Unsupported(String),
}

impl CallError {
    /// What went wrong, without the words that say it was a webhook.
    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Failed(why) | Self::Invalid(why) | Self::Undecodable(why) | Self::Unsupported(why) => why,
        }
    }
}

/// Asks a webhook within its time-out.
pub(crate) async fn call(services: &WebhookServices, endpoint: &Endpoint, review: &Value) -> Result<Value, CallError> {
    let place = Place::of(services, endpoint)?;
    let post = |why: String| CallError::Failed(format!("Post \"{}\": {why}", place.shown));
    let answer = match timeout(endpoint.timeout, place.post(&endpoint.authorities, review)).await {
        Ok(answer) => answer.map_err(post)?,
        Err(_) => return Err(post("context deadline exceeded".to_owned())),
    };
    let Answer { code, is_text, body } = answer;
    if !code.is_success() {
        return Err(CallError::Failed(why_unsuccessful(code, is_text, &body)));
    }
    serde_json::from_slice(&body).map_err(|error| CallError::Failed(format!("couldn't decode the answer: {error}")))
}

/// What an HTTP server said.
#[derive(Debug)]
struct Answer {
    code: StatusCode,
    is_text: bool,
    body: Bytes,
}

impl Answer {
    fn of(code: StatusCode, headers: &HeaderMap, body: Bytes) -> Self {
        let is_text = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/"));
        Self { code, is_text, body }
    }
}

/// What is said of an answer that isn't a success, in the words of the reference's client.
fn why_unsuccessful(code: StatusCode, is_text: bool, body: &[u8]) -> String {
    let status: Option<Value> = serde_json::from_slice(body).ok();
    let status = status.filter(|status| status["kind"] == "Status" && status["status"] != "Success");
    if let Some(message) = status.as_ref().and_then(|status| status["message"].as_str()) {
        return message.to_owned();
    }
    let said = if is_text { String::from_utf8_lossy(body).trim().to_owned() } else { "unknown".to_owned() };
    let text = match code.as_u16() {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
        }
        403 | 406 | 415 => return said,
        500.. => {
            let said = crate::status::quote(&said);
            return format!("an error on the server ({said}) has prevented the request from succeeding");
        }
        code => {
            return format!("the server responded with the status code {code} but did not return more information");
        }
    };
    text.to_owned()
}

/// Where to connect, and as what.
#[derive(Debug)]
struct Place {
    /// As errors name it.
    shown: String,
    address: Address,
    host: String,
    path: String,
}

#[derive(Debug)]
enum Address {
    Known(SocketAddr),
    Named(String, u16),
    InProcess(InProcessWebhooks),
}

impl Place {
    fn of(services: &WebhookServices, endpoint: &Endpoint) -> Result<Self, CallError> {
        let query = format!("timeout={}s", endpoint.timeout.as_secs());
        match &endpoint.target {
            Target::Url(url) => {
                let uri: Uri = url.parse().map_err(|error| CallError::Failed(format!("{url}: {error}")))?;
                let host = uri.host().unwrap_or_default().to_owned();
                let plain = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                let path = uri.path();
                Ok(Self {
                    shown: format!("{url}?{query}"),
                    address: Address::Named(plain, uri.port_u16().unwrap_or(443)),
                    host,
                    path: format!("{path}?{query}"),
                })
            }
            Target::Service { namespace, name, path, port } => {
                let host = format!("{name}.{namespace}.svc");
                let path = if path.is_empty() { "/" } else { path.as_str() };
                let shown = format!("https://{host}:{port}{path}?{query}");
                let service = WebhookService { namespace: namespace.clone(), name: name.clone() };
                let address = match services.get(&service) {
                    Some(WebhookBackend::Address(address)) => Address::Known(*address),
                    Some(WebhookBackend::InProcess(webhooks)) => Address::InProcess(webhooks.clone()),
                    None => {
                        return Err(CallError::Failed(format!("Post \"{shown}\": service \"{name}\" not found")));
                    }
                };
                Ok(Self { shown, address, host, path: format!("{path}?{query}") })
            }
        }
    }

    fn unreachable(&self, error: &io::Error) -> String {
        let address = match &self.address {
            Address::Known(address) => address.to_string(),
            Address::InProcess(_) => self.host.clone(),
            Address::Named(host, port) if host.contains(':') => format!("[{host}]:{port}"),
            Address::Named(host, port) => format!("{host}:{port}"),
        };
        match error.kind() {
            io::ErrorKind::ConnectionRefused => format!("dial tcp {address}: connect: connection refused"),
            _ => format!("dial tcp {address}: {error}"),
        }
    }

    async fn post(&self, authorities: &[u8], review: &Value) -> Result<Answer, String> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, */*")
            .body(Full::new(Bytes::from(review.to_string())))
            .map_err(|error| error.to_string())?;
        let tcp = match &self.address {
            Address::InProcess(webhooks) => {
                let response = webhooks.call(request).await?;
                return Ok(Answer::of(response.status(), response.headers(), response.body().clone()));
            }
            Address::Known(address) => TcpStream::connect(address).await,
            Address::Named(host, port) => TcpStream::connect((host.as_str(), *port)).await,
        };
        let tcp = tcp.map_err(|error| self.unreachable(&error))?;
        let name = self.host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
        let tls = TlsConnector::from(Arc::new(tls(authorities)?));
        let stream = tls.connect(name, tcp).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let exchange = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| error.to_string())?;
            Ok(Answer::of(parts.status, &parts.headers, body.to_bytes()))
        };
        tokio::pin!(connection, exchange);
        // The connection lives as long as the exchange; who waits for the answer drives it.
        tokio::select! {
            biased;
            answer = &mut exchange => answer,
            ended = &mut connection => match ended {
                // It may end as soon as the answer is read off it.
                Ok(()) => exchange.await,
                Err(error) => Err(error.to_string()),
            },
        }
    }
}
