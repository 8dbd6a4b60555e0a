//! A small API server for one kind, with a history that can be compacted, and with every fault that a client of the
//! list and watch protocol must bear.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use kube_client::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower::BoxError;

pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<State>>);

struct State {
    version: u64,
    /// Versions before this one are too old.
    compacted: u64,
    objects: BTreeMap<String, Value>,
    log: Vec<(u64, &'static str, Value)>,
    watches: Vec<Watch>,
    /// What is left of lists, by the token of their next page, with the version they show.
    rest: BTreeMap<String, (u64, Vec<Value>)>,
    tokens: u64,
    page: usize,
    streams: bool,
    /// Whether a version that is too old is told in the stream instead of by the HTTP status.
    expires_in_stream: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: 1,
            compacted: 0,
            objects: BTreeMap::new(),
            log: Vec::new(),
            watches: Vec::new(),
            rest: BTreeMap::new(),
            tokens: 0,
            page: 2,
            streams: true,
            expires_in_stream: false,
        }
    }
}

struct Watch {
    sender: Sender<Bytes, BoxError>,
    pending: VecDeque<String>,
}

fn line(event: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": event, "object": object}))
}

fn bookmark(version: u64, initial_end: bool) -> String {
    let annotations = if initial_end { json!({"k8s.io/initial-events-end": "true"}) } else { json!({}) };
    let metadata = json!({"resourceVersion": version.to_string(), "annotations": annotations});
    line("BOOKMARK", &json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}))
}

fn status(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": reason})
}

fn answer(code: u16, body: &Value) -> Response<AnswerBody> {
    let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(code).expect("it is a code");
    response
}

impl Server {
    /// Creates or changes an object. Data that isn't text doesn't fit the type.
    pub(crate) fn write(&self, name: &str, value: &Value) {
        let mut state = self.0.lock();
        state.version += 1;
        let version = state.version;
        let uid = state.objects.get(name).map(|old| old["metadata"]["uid"].clone());
        let event = if uid.is_some() { "MODIFIED" } else { "ADDED" };
        let uid = uid.unwrap_or_else(|| json!(format!("uid-{version}")));
        let metadata = json!({"namespace": "ns", "name": name, "uid": uid, "resourceVersion": version.to_string()});
        let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"k": value}});
        state.objects.insert(name.to_owned(), object.clone());
        state.record(event, object);
    }

    pub(crate) fn delete(&self, name: &str) {
        let mut state = self.0.lock();
        let Some(mut last) = state.objects.remove(name) else { return };
        state.version += 1;
        last["metadata"]["resourceVersion"] = json!(state.version.to_string());
        state.record("DELETED", last);
    }

    /// Forgets the history; open watches go on.
    pub(crate) fn compact(&self) {
        let mut state = self.0.lock();
        state.compacted = state.version;
    }

    pub(crate) fn bookmark(&self) {
        let mut state = self.0.lock();
        let bookmark = bookmark(state.version, false);
        for watch in &mut state.watches {
            watch.pending.push_back(bookmark.clone());
        }
    }

    /// Ends all watches with what was delivered: cleanly, in the middle of a line, or with an error.
    pub(crate) async fn disconnect(&self, how: Disconnect) {
        let watches = std::mem::take(&mut self.0.lock().watches);
        for mut watch in watches {
            match how {
                Disconnect::Close => {}
                Disconnect::InALine => {
                    let _ = watch.sender.send_data(Bytes::from_static(b"{\"type\":\"MODIF")).await;
                }
                Disconnect::Expire => {
                    let _ = watch.sender.send_data(Bytes::from(line("ERROR", &status(410, "Expired")))).await;
                }
                Disconnect::Break => watch.sender.abort("the connection broke".into()),
            }
        }
    }

    /// Sends up to `count` of what waits in each watch.
    pub(crate) async fn deliver(&self, count: usize) {
        let mut watches = std::mem::take(&mut self.0.lock().watches);
        let mut open = Vec::new();
        for mut watch in watches.drain(..) {
            let ready = count.min(watch.pending.len());
            let text: String = watch.pending.drain(..ready).collect();
            if text.is_empty() || watch.sender.send_data(Bytes::from(text)).await.is_ok() {
                open.push(watch);
            }
        }
        let mut state = self.0.lock();
        open.append(&mut state.watches);
        state.watches = open;
    }

    pub(crate) fn set_page(&self, size: usize) {
        self.0.lock().page = size;
    }

    pub(crate) fn set_streams(&self, streams: bool) {
        self.0.lock().streams = streams;
    }

    pub(crate) fn set_expires_in_stream(&self, in_stream: bool) {
        self.0.lock().expires_in_stream = in_stream;
    }

    /// What there is: name, uid, version.
    pub(crate) fn objects(&self) -> BTreeMap<String, Value> {
        self.0.lock().objects.clone()
    }

    pub(crate) fn serve(&self, request: &Request<Body>) -> Response<AnswerBody> {
        let query: BTreeMap<String, String> =
            request.uri().query().into_iter().flat_map(|query| query.split('&')).filter_map(pair).collect();
        let mut state = self.0.lock();
        if query.contains_key("watch") { state.watch(&query) } else { state.list(&query) }
    }
}

fn pair(text: &str) -> Option<(String, String)> {
    text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Disconnect {
    Close,
    InALine,
    Expire,
    Break,
}

impl State {
    fn record(&mut self, event: &'static str, object: Value) {
        let text = line(event, &object);
        for watch in &mut self.watches {
            watch.pending.push_back(text.clone());
        }
        self.log.push((self.version, event, object));
    }

    fn list(&mut self, query: &BTreeMap<String, String>) -> Response<AnswerBody> {
        let (version, mut items) = match query.get("continue") {
            None => (self.version, self.objects.values().cloned().collect::<Vec<_>>()),
            Some(token) => match self.rest.remove(token) {
                Some((version, items)) if version >= self.compacted => (version, items),
                _ => return answer(410, &status(410, "Expired")),
            },
        };
        let mut token = String::new();
        if query.contains_key("limit") && items.len() > self.page {
            let rest = items.split_off(self.page);
            self.tokens += 1;
            token = format!("t{}", self.tokens);
            self.rest.insert(token.clone(), (version, rest));
        }
        let metadata = json!({"resourceVersion": version.to_string(), "continue": token});
        answer(200, &json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items}))
    }

    fn watch(&mut self, query: &BTreeMap<String, String>) -> Response<AnswerBody> {
        let mut pending = VecDeque::new();
        if query.contains_key("sendInitialEvents") {
            if !self.streams {
                return answer(422, &status(422, "Invalid"));
            }
            pending.extend(self.objects.values().map(|object| line("ADDED", object)));
            pending.push_back(bookmark(self.version, true));
        } else {
            let from: u64 = query.get("resourceVersion").and_then(|version| version.parse().ok()).unwrap_or(0);
            if from < self.compacted {
                if !self.expires_in_stream {
                    return answer(410, &status(410, "Expired"));
                }
                pending.push_back(line("ERROR", &status(410, "Expired")));
            } else {
                let later = self.log.iter().filter(|(version, ..)| *version > from);
                pending.extend(later.map(|(_, event, object)| line(event, object)));
            }
        }
        let (sender, body) = Channel::new(64);
        self.watches.push(Watch { sender, pending });
        Response::new(body.boxed_unsync())
    }
}
