//! A minimal HTTP client for each of the server's doors.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_apiserver::{ApiServer, InProcess, ListenOptions, Listener, Tls};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tower::ServiceExt;

/// One way into a server.
#[derive(Debug)]
pub(crate) enum Door {
    InProcess(InProcess),
    Http1(Listener),
    Http2(Listener),
    Https1(Listener),
    Https2(Listener),
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Port 0 on loopback.
pub(crate) fn local(tls: Tls) -> ListenOptions {
    ListenOptions { addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), tls }
}

/// Every door of a server.
pub(crate) async fn doors(server: &ApiServer) -> Vec<Door> {
    vec![
        Door::InProcess(server.service()),
        Door::Http1(server.listen(local(Tls::Off)).await.unwrap()),
        Door::Http2(server.listen(local(Tls::Off)).await.unwrap()),
        Door::Https1(server.listen(local(Tls::SelfSigned)).await.unwrap()),
        Door::Https2(server.listen(local(Tls::SelfSigned)).await.unwrap()),
    ]
}

impl Door {
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        match self {
            Self::InProcess(service) => collect(service.clone().oneshot(request).await.unwrap()).await,
            Self::Http1(listener) => http1(TcpStream::connect(listener.local_addr()).await.unwrap(), request).await,
            Self::Http2(listener) => http2(TcpStream::connect(listener.local_addr()).await.unwrap(), request).await,
            Self::Https1(listener) => http1(tls(listener, b"http/1.1").await, request).await,
            Self::Https2(listener) => http2(tls(listener, b"h2").await, request).await,
        }
    }

    /// A request without body.
    pub(crate) async fn get(&self, path: &str, token: Option<&str>) -> Answer {
        self.send(request("GET", path, token, "")).await
    }

    pub(crate) fn is_network(&self) -> bool {
        !matches!(self, Self::InProcess(_))
    }
}

pub(crate) fn request(method: &str, path: &str, token: Option<&str>, body: &str) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(format!("http://localhost{path}"));
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

pub(crate) async fn tls(listener: &Listener, alpn: &[u8]) -> tokio_rustls::client::TlsStream<TcpStream> {
    let pem = listener.certificate_authority().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(tokio_rustls::rustls::pki_types::CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    let stream = TcpStream::connect(listener.local_addr()).await.unwrap();
    let name = ServerName::from(listener.local_addr().ip());
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(alpn));
    stream
}

async fn http1<I>(io: I, request: Request<Full<Bytes>>) -> Answer
where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(io)).await.unwrap();
    drive(connection, async { collect(sender.send_request(request).await.unwrap()).await }).await
}

async fn http2<I>(io: I, request: Request<Full<Bytes>>) -> Answer
where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(io)).await.unwrap();
    drive(connection, async { collect(sender.send_request(request).await.unwrap()).await }).await
}

/// Runs a connection for as long as its request takes.
async fn drive(connection: impl Future, request: impl Future<Output = Answer>) -> Answer {
    tokio::select! {
        biased;
        answer = request => answer,
        _ = connection => panic!("the connection ended before its request"),
    }
}

async fn collect<B>(response: http::Response<B>) -> Answer
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Debug,
{
    let (parts, body) = response.into_parts();
    Answer { code: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}
