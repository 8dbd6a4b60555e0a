//! Who may read the metrics, on the word of a scripted API server: the embedded one has no reviews of tokens.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_manager::{Access, Manager, ManagerError, Refusal, Tls};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use kube_client::client::Body;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// An API server that knows two tokens, and lets one of their owners read the metrics.
fn api_server() -> kube_client::Client {
    let service = tower::service_fn(|request: http::Request<Body>| async move {
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await.expect("a body").to_bytes();
        let mut review: Value = serde_json::from_slice(&body).unwrap_or_default();
        review["status"] = match path.as_str() {
            "/apis/authentication.k8s.io/v1/tokenreviews" => match review["spec"]["token"].as_str() {
                Some("down") => return Ok(respond(500, &json!({"kind": "Status", "code": 500}))),
                Some(token @ ("reader" | "stranger")) => {
                    json!({"authenticated": true, "user": {"username": token, "groups": ["g"], "uid": "1"}})
                }
                _ => json!({"authenticated": false, "error": "unknown token"}),
            },
            "/apis/authorization.k8s.io/v1/subjectaccessreviews" => {
                let expected = json!({
                    "user": review["spec"]["user"], "groups": ["g"], "uid": "1",
                    "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
                });
                json!({"allowed": review["spec"] == expected && expected["user"] == "reader"})
            }
            _ => return Ok(respond(404, &json!({"kind": "Status", "code": 404}))),
        };
        Ok::<_, Infallible>(respond(201, &review))
    });
    kube_client::Client::new(service, "default")
}

fn respond(status: u16, body: &Value) -> http::Response<Body> {
    http::Response::builder().status(status).body(Body::from(body.to_string().into_bytes())).expect("a response")
}

fn start(manager: &Manager, token: &CancellationToken) -> Task<Result<(), ManagerError>> {
    let (manager, token) = (manager.clone(), token.clone());
    Ambient::system().spawn("manager", async move { manager.start(token).await })
}

async fn get<S>(stream: S, path: &str, token: Option<&str>) -> (u16, String)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("http");
    let _connection = Ambient::system().spawn("connection", async move { drop(connection.await) });
    let mut request = http::Request::get(path).header("host", "test");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Empty::<Bytes>::new()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn the_api_server_decides_who_reads() {
    let manager = Manager::builder(api_server()).metrics_address("127.0.0.1:0").metrics_access(Access::kubernetes());
    let manager = manager.build().await.expect("a free port");
    let address = manager.metrics_address().expect("on");
    let stop = CancellationToken::new();
    let running = start(&manager, &stop);
    for (token, status) in
        [(Some("reader"), 200), (Some("stranger"), 403), (Some("other"), 401), (None, 401), (Some("down"), 500)]
    {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let (found, body) = get(stream, "/metrics", token).await;
        assert_eq!(found, status, "{token:?}: {body}");
        assert_eq!(body.contains("# TYPE"), status == 200, "{token:?}: {body}");
    }
    stop.cancel();
    running.await.expect("no panic").expect("no error");
}

#[tokio::test]
async fn metrics_come_encrypted_to_whom_a_function_lets() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it is made");
    let tls = Tls::from_pem(made.cert.pem().as_bytes(), made.signing_key.serialize_pem().as_bytes()).expect("it fits");
    let only = Access::new(|head: Arc<http::request::Parts>| async move {
        match head.headers.get("authorization").and_then(|value| value.to_str().ok()) {
            Some("Bearer letmein") => Ok(()),
            Some(_) => Err(Refusal::Forbidden("not you".to_owned())),
            None => Err(Refusal::Unauthenticated),
        }
    });
    let manager = Manager::builder(api_server()).metrics_address("127.0.0.1:0").metrics_tls(tls).metrics_access(only);
    let manager = manager.build().await.expect("a free port");
    let address = manager.metrics_address().expect("on");
    let stop = CancellationToken::new();
    let running = start(&manager, &stop);
    let connector = connector(made.cert.der().clone());
    for (token, status) in [(Some("letmein"), 200), (Some("hello"), 403), (None, 401)] {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = connector.connect(name, stream).await.expect("it is the certificate that was given");
        assert_eq!(get(stream, "/metrics", token).await.0, status, "{token:?}");
    }
    // A client that never says hello holds nothing up.
    let _silent = TcpStream::connect(address).await.expect("it listens");
    stop.cancel();
    running.await.expect("no panic").expect("no error");
}

/// Trusts this certificate only.
fn connector(trusted: CertificateDer<'static>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}
