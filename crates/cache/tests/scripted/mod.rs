//! A server in the process that answers as a test says, one request after the other, in the bytes of the real API.

#![allow(dead_code, reason = "each test program uses a part")]

use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_cache::{Cache, CacheError, CacheOptions, Informer, ObjectEvent};
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_scheme::TypedObject;
use http::{Request, Response};
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::client::Body;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tower::BoxError;

type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

/// The server's side of the script. Requests that have no answer yet wait for it.
pub(crate) struct Server {
    answers: UnboundedSender<(u16, AnswerBody)>,
    requests: UnboundedReceiver<String>,
}

/// An open watch. Dropping it closes the connection.
pub(crate) struct Feed(Sender<Bytes, BoxError>);

impl Feed {
    pub(crate) async fn send(&mut self, event: &str, object: Value) {
        let line = format!("{}\n", json!({"type": event, "object": object}));
        // In two pieces, as a network would.
        let (head, tail) = line.split_at(line.len() / 2);
        for piece in [head, tail] {
            self.0.send_data(Bytes::copy_from_slice(piece.as_bytes())).await.expect("the watch is open");
        }
    }
}

impl Feed {
    /// Whether the client still reads.
    pub(crate) async fn is_open(&mut self) -> bool {
        self.0.send_data(Bytes::from_static(b"\n")).await.is_ok()
    }
}

impl Server {
    pub(crate) fn answer(&self, code: u16, body: &Value) {
        let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed_unsync();
        self.answers.send((code, body)).expect("the client lives");
    }

    pub(crate) fn list(&self, version: &str, items: &[Value]) {
        self.page(version, "", items);
    }

    pub(crate) fn page(&self, version: &str, token: &str, items: &[Value]) {
        let metadata = json!({"resourceVersion": version, "continue": token});
        self.answer(200, &json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items}));
    }

    pub(crate) fn fail(&self, code: u16, reason: &str) {
        self.answer(code, &status(code, reason));
    }

    /// Lets the next request open a watch.
    pub(crate) fn watch(&self) -> Feed {
        let (sender, body) = Channel::new(64);
        self.answers.send((200, body.boxed_unsync())).expect("the client lives");
        Feed(sender)
    }

    /// The next request: method and URL, and how many seconds after the start it came.
    pub(crate) async fn request(&mut self) -> String {
        self.requests.recv().await.expect("the client lives")
    }
}

pub(crate) fn status(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
        "message": format!("scripted {reason}"), "details": {}})
}

/// A ConfigMap of namespace `ns` with one datum.
pub(crate) fn object(name: &str, version: &str, data: &str) -> Value {
    object_in("ns", name, version, data)
}

pub(crate) fn object_in(namespace: &str, name: &str, version: &str, data: &str) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": data},
        "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-{name}"), "resourceVersion": version}})
}

pub(crate) fn bookmark(version: &str) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": version, "creationTimestamp": null}})
}

pub(crate) fn data(object: &ConfigMap) -> &str {
    object.data.as_ref().and_then(|data| data.get("k")).map_or("", String::as_str)
}

/// A scripted server and a cache on it, running until dropped.
pub(crate) struct Scripted {
    pub(crate) server: Server,
    pub(crate) cache: Cache,
    pub(crate) cancel: CancellationToken,
    pub(crate) running: Option<Task<Result<(), CacheError>>>,
}

impl Scripted {
    /// A server that doesn't stream lists: the script's answers are to lists in pages and to watches.
    pub(crate) async fn start(options: CacheOptions) -> Self {
        Self::stopped(options).started().await
    }

    /// A server whose script answers everything.
    pub(crate) async fn streaming(options: CacheOptions) -> Self {
        Self::new(options, true).started().await
    }

    pub(crate) fn stopped(options: CacheOptions) -> Self {
        Self::new(options, false)
    }

    async fn started(mut self) -> Self {
        self.run();
        settle().await;
        self
    }

    fn new(options: CacheOptions, streams: bool) -> Self {
        let ambient = Ambient::seeded(1);
        let (server, service_answers, service_log) = {
            let (answers, service_answers) = unbounded_channel::<(u16, AnswerBody)>();
            let (service_log, requests) = unbounded_channel();
            (Server { answers, requests }, Arc::new(Mutex::new(service_answers)), service_log)
        };
        let start = Instant::now();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (answers, log) = (service_answers.clone(), service_log.clone());
            async move {
                let seconds = start.elapsed().as_secs_f64();
                if !streams && request.uri().to_string().contains("sendInitialEvents=true") {
                    let body = Full::new(Bytes::from(status(422, "Invalid").to_string()));
                    return Ok(Response::builder()
                        .status(422)
                        .body(body.map_err(|never| match never {}).boxed_unsync())?);
                }
                let _ = log.send(format!("{seconds:.1} {} {}", request.method(), request.uri()));
                let Some((code, body)) = answers.lock().await.recv().await else { return std::future::pending().await };
                Ok::<_, BoxError>(Response::builder().status(code).body(body)?)
            }
        });
        // What the reflector does about failures is not to be hidden by the client's own attempts.
        let client_options = ClientOptions::builder().ambient(ambient).field_manager("test").retries(0).build();
        let client = Client::new(kube_client::Client::new(service, "default"), client_options);
        Self { server, cache: Cache::new(client, options), cancel: CancellationToken::new(), running: None }
    }

    pub(crate) fn run(&mut self) {
        let run = self.cache.run(self.cancel.clone());
        self.running = Some(self.cache.client().ambient().spawn("cache", run));
    }

    pub(crate) async fn stop(&mut self) {
        self.cancel.cancel();
        self.running.take().expect("it runs").await.expect("it does not panic").expect("it runs once");
    }
}

/// The bookmark after the initial objects of a streaming list.
pub(crate) fn initial_end(version: &str) -> Value {
    let mut end = bookmark(version);
    end["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    end
}

/// What a handler was told, in words.
pub(crate) fn listen(
    informer: &Informer<ConfigMap>,
) -> (UnboundedReceiver<String>, controller_runtime_cache::HandlerRegistration) {
    let (sender, events) = unbounded_channel();
    let registration = informer.add_handler(move |event| {
        let _ = sender.send(in_words(event));
    });
    (events, registration)
}

fn in_words(event: &ObjectEvent<ConfigMap>) -> String {
    let name = event.key().name;
    match event {
        ObjectEvent::Added { object, initial: true } => format!("initial {name} {}", data(object)),
        ObjectEvent::Added { object, .. } => format!("add {name} {}", data(object)),
        ObjectEvent::Updated { old, new } => format!("update {name} {} -> {}", data(old), data(new)),
        ObjectEvent::Deleted { object, final_state_unknown } => {
            let how = if *final_state_unknown { " (final state unknown)" } else { "" };
            format!("delete {name} {}{how}", data(object))
        }
        _ => "unknown".to_owned(),
    }
}

/// The next `N` events.
pub(crate) async fn next<const N: usize>(events: &mut UnboundedReceiver<String>) -> [String; N] {
    let mut seen = [const { String::new() }; N];
    for event in &mut seen {
        *event = events.recv().await.expect("the handler lives");
    }
    seen
}

/// Lets everything that can run without waiting for time or for the server run.
pub(crate) async fn settle() {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
}

pub(crate) fn names<K: TypedObject>(objects: &[Arc<K>]) -> Vec<&str> {
    objects.iter().filter_map(|object| object.meta().name.as_deref()).collect()
}
