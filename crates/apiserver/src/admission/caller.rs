//! How a webhook is called: one POST over HTTPS.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{Method, Request, Uri};
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

/// The largest answer, in bytes.
const MAX_ANSWER: usize = 3 << 20;

/// A service of the cluster whose webhooks run elsewhere, because there is no network of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebhookService {
    /// The service's namespace.
    pub namespace: String,
    /// The service's name.
    pub name: String,
}

/// Where the services of webhooks are.
pub(crate) type WebhookServices = BTreeMap<WebhookService, SocketAddr>;

/// A webhook gave no answer, or none that can be believed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// It could not be reached, or failed.
    #[error("failed to call webhook: {0}")]
    Failed(String),
    /// Its answer breaks the contract.
    #[error("received invalid webhook response: {0}")]
    Invalid(String),
}

impl CallError {
    /// What went wrong, without the words that say it was a webhook.
    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Failed(why) | Self::Invalid(why) => why,
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
    let (code, body) = answer;
    if !code.is_success() {
        let text = String::from_utf8_lossy(&body).trim().to_owned();
        let text = if text.is_empty() { "the server responded with an empty body".to_owned() } else { text };
        return Err(CallError::Failed(format!(
            "an error on the server ({}) has prevented the request from succeeding",
            serde_json::json!(text)
        )));
    }
    serde_json::from_slice(&body).map_err(|error| CallError::Failed(format!("couldn't decode the answer: {error}")))
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
                let address = services
                    .get(&service)
                    .copied()
                    .ok_or_else(|| CallError::Failed(format!("Post \"{shown}\": service \"{name}\" not found")))?;
                Ok(Self { shown, address: Address::Known(address), host, path: format!("{path}?{query}") })
            }
        }
    }

    async fn post(&self, authorities: &[u8], review: &Value) -> Result<(http::StatusCode, Bytes), String> {
        let tcp = match &self.address {
            Address::Known(address) => TcpStream::connect(address).await,
            Address::Named(host, port) => TcpStream::connect((host.as_str(), *port)).await,
        };
        let tcp = tcp.map_err(|error| error.to_string())?;
        let name = self.host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
        let tls = TlsConnector::from(Arc::new(tls(authorities)?));
        let stream = tls.connect(name, tcp).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, */*")
            .body(Full::new(Bytes::from(review.to_string())))
            .map_err(|error| error.to_string())?;
        let exchange = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let code = response.status();
            let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
            body.map(|body| (code, body.to_bytes())).map_err(|error| error.to_string())
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
