use std::net::SocketAddr;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use crate::door::Door;
use crate::endpoint::Endpoint;
use crate::error::ManagerError;
use crate::security::Tls;

/// A client has so long to send its request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// After a failed accept, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// At a stop, an answer that has begun has so long to reach its client.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// An HTTP server of a manager: its socket is bound when the manager is built, so that a port in use is seen then.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) what: String,
    listener: TcpListener,
    address: SocketAddr,
    endpoint: Endpoint,
    tls: Option<Tls>,
}

impl Server {
    pub(crate) async fn bind(door: Door) -> Result<Self, ManagerError> {
        let Door { what, address, endpoint, tls } = door;
        let bound = async {
            let listener = TcpListener::bind(&address).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        match bound.await {
            Ok((listener, address)) => Ok(Self { what, listener, address, endpoint, tls }),
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
                    match self.tls.clone() {
                        None => connections.spawn("http connection", serve(stream, endpoint, token)),
                        Some(tls) => connections.spawn("https connection", encrypt(stream, tls, endpoint, token)),
                    }
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

async fn encrypt(stream: TcpStream, tls: Tls, endpoint: Endpoint, token: CancellationToken) {
    let shaking_hands = tokio::time::timeout(HEAD_TIMEOUT, tls.acceptor().accept(stream));
    let stream = tokio::select! {
        biased;
        () = token.cancelled() => return,
        stream = shaking_hands => stream,
    };
    match stream {
        Ok(Ok(stream)) => serve(stream, endpoint, token).await,
        Ok(Err(error)) => tracing::debug!(%error, "a connection could not be encrypted"),
        Err(_) => tracing::debug!("a client is too slow to encrypt its connection"),
    }
}

async fn serve<S>(stream: S, endpoint: Endpoint, token: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
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
            let Ok(result) = tokio::time::timeout(ANSWER_WITHIN, connection).await else {
                return tracing::debug!("a client did not take its answer before the server's end");
            };
            result
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended badly");
    }
}
