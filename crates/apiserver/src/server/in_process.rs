use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};

use super::door::Door;
use crate::access::Identity;
use crate::body::Body;
use crate::pipeline::authenticate::Peer;

/// The door for clients in the same process: a [`tower::Service`] that takes requests with any body of [`Bytes`], as
/// `kube_client::Peer::new` wants it. [`ApiServer::service`](crate::ApiServer::service) makes one; clones are cheap.
///
/// Requests without an `Authorization` header are the admin's. The work is done by whoever polls the response: there
/// is no socket, no task and no queue in between. Failures are responses, as over HTTP, never errors of the service.
#[derive(Clone, Debug)]
pub struct InProcess {
    door: Arc<Door>,
    admin: Arc<Peer>,
}

impl InProcess {
    pub(super) fn new(door: Arc<Door>) -> Self {
        Self { door, admin: Arc::new(Peer::Known(Identity::admin())) }
    }
}

impl<B> tower::Service<Request<B>> for InProcess
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = InProcessFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> InProcessFuture {
        let (door, admin) = (Arc::clone(&self.door), Arc::clone(&self.admin));
        InProcessFuture(Box::pin(async move { door.answer(request, &admin).await }))
    }
}

/// The response of a request through [`InProcess`]. Dropping it before it is ready gives the request up; a write may
/// have happened or not, as with a connection that breaks.
#[must_use = "futures do nothing unless polled"]
pub struct InProcessFuture(Pin<Box<dyn Future<Output = Response<Body>> + Send>>);

impl Future for InProcessFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl std::fmt::Debug for InProcessFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InProcessFuture").finish_non_exhaustive()
    }
}
