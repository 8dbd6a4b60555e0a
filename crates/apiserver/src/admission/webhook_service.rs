use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use tower::ServiceExt;

/// The largest answer of a webhook, in bytes.
pub(super) const MAX_ANSWER: usize = 3 << 20;

/// A service of the cluster whose webhooks run elsewhere, because there is no network of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebhookService {
    /// The service's namespace.
    pub namespace: String,
    /// The service's name.
    pub name: String,
}

/// Where the webhooks of a service are.
#[derive(Clone, Debug)]
pub(crate) enum WebhookBackend {
    /// Behind a listener, over TLS.
    Address(SocketAddr),
    /// In this process.
    InProcess(InProcessWebhooks),
}

/// Where the services of webhooks are.
pub(crate) type WebhookServices = BTreeMap<WebhookService, WebhookBackend>;

type Answer = Pin<Box<dyn Future<Output = Result<Response<Bytes>, String>> + Send>>;

/// Webhooks that are called as an HTTP service of this process, without a connection.
#[derive(Clone)]
pub(crate) struct InProcessWebhooks(Arc<dyn Fn(Request<Full<Bytes>>) -> Answer + Send + Sync>);

impl InProcessWebhooks {
    pub(crate) fn new<S, B>(service: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Display,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self(Arc::new(move |request| {
            let service = service.clone();
            Box::pin(async move {
                let response = service.oneshot(request).await.map_err(|error| error.to_string())?;
                let (parts, body) = response.into_parts();
                let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| error.to_string())?;
                Ok(Response::from_parts(parts, body.to_bytes()))
            })
        }))
    }

    pub(super) async fn call(&self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, String> {
        (self.0)(request).await
    }
}

impl Debug for InProcessWebhooks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessWebhooks").finish_non_exhaustive()
    }
}
