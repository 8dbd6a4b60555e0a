use std::net::SocketAddr;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use crate::endpoint::Endpoint;
use crate::error::ManagerError;

/// A client has so long to send its request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// After a failed accept, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// At a stop, an answer that has begun has so long to reach its client.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// An HTTP server of a manager: its socket is bound when the manager is built, so that a port in use is seen then.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) what: &'static str,
    listener: TcpListener,
    address: SocketAddr,
    endpoint: Endpoint,
}

impl Server {
    pub(crate) async fn bind(what: &'static str, address: String, endpoint: Endpoint) -> Result<Self, ManagerError> {
        let bound = async {
            let listener = TcpListener::bind(&address).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        match bound.await {
            Ok((listener, address)) => Ok(Self { what, listener, address, endpoint }),
            Err(source) => Err(ManagerError::Bind { what, address, source }),
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the token is cancelled; answers that have begun have a second to end.
    pub(crate) async fn run(self, ambient: Ambient, token: CancellationToken) {
        let connections = TaskGroup::new(&ambient, &token);
        loop {
            let accepted = tokio::select! {
                biased;
                () = token.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (endpoint, token) = (self.endpoint.clone(), connections.token().clone());
                    connections.spawn("http connection", serve(stream, endpoint, token));
                }
                Err(error) => {
                    tracing::warn!(%error, server = self.what, "cannot accept a connection");
                    drop(tokio::time::timeout(ACCEPT_PAUSE, token.cancelled()).await);
                }
            }
        }
        connections.shutdown().await;
    }
}

async fn serve(stream: TcpStream, endpoint: Endpoint, token: CancellationToken) {
    let service = service_fn(move |request| {
        let endpoint = endpoint.clone();
        async move { endpoint.answer(request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        biased;
        result = connection.as_mut() => result,
        () = token.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(ANSWER_WITHIN, connection).await {
                Ok(result) => result,
                Err(_) => return tracing::debug!("a client did not take its answer before the server's end"),
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended badly");
    }
}
