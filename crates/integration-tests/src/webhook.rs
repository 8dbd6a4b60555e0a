use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use futures::lock::Mutex;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

type Answer = Box<dyn Fn(&Value) -> (u16, Value) + Send + Sync>;

/// An admission webhook on loopback, which answers as the test says and remembers what it was asked.
pub struct Webhook {
    address: SocketAddr,
    certificate: String,
    shared: Arc<Shared>,
    stop: CancellationToken,
    task: Option<Task<()>>,
}

struct Shared {
    answer: Mutex<Answer>,
    delay: Mutex<Duration>,
    seen: Mutex<Vec<Value>>,
    tls: TlsAcceptor,
}

impl Webhook {
    /// Starts one that allows everything.
    pub async fn start() -> Self {
        let key =
            rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "hook.hooks.svc".to_owned()]).unwrap();
        let private = PrivatePkcs8KeyDer::from(key.signing_key.serialize_der()).into();
        let config =
            ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![key.cert.der().clone()], private)
                .unwrap();
        let shared = Arc::new(Shared {
            answer: Mutex::new(Box::new(|review| (200, Self::allow(review)))),
            delay: Mutex::default(),
            seen: Mutex::default(),
            tls: TlsAcceptor::from(Arc::new(config)),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let serving = serve(listener, Arc::clone(&shared), stop.clone());
        let task = Some(Ambient::system().spawn("webhook", serving));
        Self { address, certificate: key.cert.pem(), shared, stop, task }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `clientConfig` with its URL and certificate.
    pub fn client_config(&self) -> Value {
        json!({"url": format!("https://{}/review", self.address), "caBundle": self.bundle()})
    }

    /// Its certificate, as `caBundle` has it.
    pub fn bundle(&self) -> String {
        STANDARD.encode(&self.certificate)
    }

    /// From now on it answers this.
    pub async fn answers(&self, answer: impl Fn(&Value) -> (u16, Value) + Send + Sync + 'static) {
        *self.shared.answer.lock().await = Box::new(answer);
    }

    /// From now on it answers that much later.
    pub async fn delays(&self, delay: Duration) {
        *self.shared.delay.lock().await = delay;
    }

    /// What it was asked since the last time.
    pub async fn seen(&self) -> Vec<Value> {
        std::mem::take(&mut *self.shared.seen.lock().await)
    }

    /// The answer that lets a write pass.
    pub fn allow(review: &Value) -> Value {
        Self::response(review, json!({"allowed": true}))
    }

    /// An answer with these fields besides the uid.
    pub fn response(review: &Value, mut response: Value) -> Value {
        response["uid"] = review["request"]["uid"].clone();
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
    }

    /// An answer that lets a write pass with changes.
    pub fn patch(review: &Value, operations: &Value) -> Value {
        let patch = STANDARD.encode(operations.to_string());
        Self::response(review, json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
    }

    /// Ends it.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let mut connections = futures::stream::FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.push(connection(stream, Arc::clone(&shared)));
                }
            }
            _ = futures::StreamExt::next(&mut connections), if !connections.is_empty() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let Ok(stream) = shared.tls.accept(stream).await else { return };
    let service = service_fn(|request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move {
            let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            let review: Value = serde_json::from_slice(&body).unwrap_or_default();
            let (code, answer) = (shared.answer.lock().await)(&review);
            shared.seen.lock().await.push(review);
            let delay = *shared.delay.lock().await;
            tokio::time::sleep(delay).await;
            let response = Response::builder().status(code).header("content-type", "application/json");
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(answer.to_string()))).unwrap())
        }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
