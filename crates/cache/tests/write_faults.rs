//! Whatever becomes of a write's future and of its answer, reads after it are never older than what it did.
//!
//! The server fails on purpose, and its watch tells of changes when the test says so: that can't be had on a real one.

#![allow(clippy::large_futures, reason = "a test may hold the objects of several writes at once")]

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken, Task};
use controller_runtime_cache::{Cache, CacheError, CacheOptions, DelegatingClient, ListQuery};
use controller_runtime_client::{Client, ClientOptions, DeleteOptions, ListOptions, Patch};
use http::{Method, Request, Response};
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower::BoxError;

type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// What goes wrong with the next write.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    /// The connection breaks before the server acts.
    Before,
    /// The connection breaks after it acted.
    After,
    /// It acts and never answers.
    Silence,
    /// It acts and answers what isn't an object.
    Nonsense,
}

/// A server of ConfigMaps in one namespace, with everything that ever was.
#[derive(Default)]
struct Server {
    version: u64,
    objects: BTreeMap<String, Value>,
    /// For each name its states: from which version on, and what.
    history: BTreeMap<String, Vec<(u64, Option<u64>)>>,
    events: Vec<(u64, String)>,
    watch: Option<(u64, Sender<Bytes, BoxError>)>,
    fault: Fault,
}

impl Server {
    fn put(&mut self, name: &str, data: &Value) -> Value {
        self.version += 1;
        let uid =
            self.objects.get(name).map_or(json!(format!("uid-{}", self.version)), |old| old["metadata"]["uid"].clone());
        let event = if self.objects.contains_key(name) { "MODIFIED" } else { "ADDED" };
        let metadata =
            json!({"namespace": "ns", "name": name, "uid": uid, "resourceVersion": self.version.to_string()});
        let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data});
        self.objects.insert(name.to_owned(), object.clone());
        self.history.entry(name.to_owned()).or_default().push((self.version, Some(self.version)));
        self.events.push((self.version, format!("{}\n", json!({"type": event, "object": object}))));
        object
    }

    fn remove(&mut self, name: &str) -> Option<Value> {
        let mut object = self.objects.remove(name)?;
        self.version += 1;
        let uid = object["metadata"]["uid"].clone();
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.history.entry(name.to_owned()).or_default().push((self.version, None));
        self.events.push((self.version, format!("{}\n", json!({"type": "DELETED", "object": object}))));
        Some(json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"name": name, "uid": uid}}))
    }

    /// Whether there was a moment since `since` when the name had this version, or, without one, was absent.
    fn was(&self, name: &str, seen: Option<u64>, since: u64) -> bool {
        let states = self.history.get(name).map_or(&[][..], Vec::as_slice);
        let first = (0, None);
        let all: Vec<_> = std::iter::once(&first).chain(states).collect();
        all.iter().enumerate().any(|(index, (_, state))| {
            let end = all.get(index + 1).map_or(u64::MAX, |(next, _)| *next);
            *state == seen && end > since
        })
    }

    fn write(&mut self, method: &Method, name: &str, body: &Value) -> (u16, Value) {
        let sent = body["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let is_stale = |live: &Value| !sent.is_empty() && live["metadata"]["resourceVersion"] != sent;
        match (method.as_str(), self.objects.get(name)) {
            ("POST", Some(_)) => status(409, "AlreadyExists", name),
            ("PUT" | "PATCH", Some(live)) if is_stale(live) => status(409, "Conflict", name),
            ("POST", None) | ("PUT" | "PATCH", Some(_)) => (200, self.put(name, &body["data"])),
            ("DELETE", _) if name.is_empty() => {
                for name in self.objects.keys().cloned().collect::<Vec<_>>() {
                    self.remove(&name);
                }
                (200, json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}))
            }
            ("DELETE", Some(_)) => (200, self.remove(name).unwrap_or_default()),
            _ => status(404, "NotFound", name),
        }
    }

    fn list(&self, query: &str) -> Value {
        let wanted = query.split('&').find_map(|pair| pair.strip_prefix("fieldSelector=metadata.name%3D"));
        let items: Vec<_> = self
            .objects
            .iter()
            .filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name))
            .map(|(_, object)| object)
            .collect();
        json!({"kind": "ConfigMapList", "metadata": {"resourceVersion": self.version.to_string()}, "items": items})
    }
}

fn status(code: u16, reason: &str, name: &str) -> (u16, Value) {
    (
        code,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": reason, "details": {"name": name}}),
    )
}

fn answer(code: u16, body: &Value) -> Result<Response<AnswerBody>, BoxError> {
    let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed_unsync();
    Ok(Response::builder().status(code).body(body)?)
}

async fn serve(server: Arc<Mutex<Server>>, request: Request<Body>) -> Result<Response<AnswerBody>, BoxError> {
    let (parts, body) = request.into_parts();
    let body: Value = serde_json::from_slice(&body.collect().await?.to_bytes()).unwrap_or_default();
    let query = parts.uri.query().unwrap_or_default();
    tokio::task::yield_now().await;
    let last = parts.uri.path().rsplit('/').next().unwrap_or_default();
    if parts.method == Method::GET && last != "configmaps" {
        let object = server.lock().objects.get(last).cloned();
        let (code, body) = object.map_or_else(|| status(404, "NotFound", last), |object| (200, object));
        return answer(code, &body);
    }
    if parts.method == Method::GET {
        if !query.contains("watch=true") {
            let all = server.lock().list(query);
            return answer(200, &all);
        }
        let version = query.split('&').find_map(|pair| pair.strip_prefix("resourceVersion=")).unwrap_or("0");
        let (sender, body) = Channel::new(256);
        server.lock().watch = Some((version.parse()?, sender));
        return Ok(Response::new(body.boxed_unsync()));
    }
    let named = body["metadata"]["name"].as_str().filter(|_| parts.method == Method::POST);
    let name = named.unwrap_or(if last == "configmaps" { "" } else { last }).to_owned();
    let fault = std::mem::take(&mut server.lock().fault);
    if fault == Fault::Before {
        return Err("scripted: the connection breaks".into());
    }
    let (code, result) = server.lock().write(&parts.method, &name, &body);
    tokio::task::yield_now().await;
    match fault {
        Fault::None | Fault::Before => answer(code, &result),
        Fault::After => Err("scripted: the connection breaks".into()),
        Fault::Silence => std::future::pending().await,
        Fault::Nonsense => answer(200, &json!([])),
    }
}

/// A server, a cache on it, and a client.
struct World {
    server: Arc<Mutex<Server>>,
    client: DelegatingClient,
    cancel: CancellationToken,
    running: Task<Result<(), CacheError>>,
}

impl World {
    async fn start() -> Self {
        let server = Arc::new(Mutex::new(Server { version: 1, ..Server::default() }));
        let service = tower::service_fn({
            let server = server.clone();
            move |request: Request<Body>| serve(server.clone(), request)
        });
        let options = ClientOptions::builder().ambient(Ambient::seeded(1)).field_manager("test").build();
        let client = Client::new(kube_client::Client::new(service, "default"), options);
        let cache = Cache::new(client.clone(), CacheOptions::builder().streaming_lists(false).build());
        let cancel = CancellationToken::new();
        let running = client.ambient().spawn("cache", cache.run(cancel.clone()));
        let world = Self { server, client: DelegatingClient::new(client, cache), cancel, running };
        world.client.list::<ConfigMap>(&ListQuery::all()).await.expect("it is listed");
        while world.server.lock().watch.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        world
    }

    /// Lets the watch tell of one more change. Says whether there was one.
    async fn deliver(&self) -> bool {
        let next = {
            let mut server = self.server.lock();
            let from = server.watch.as_ref().map_or(0, |(version, _)| *version);
            let next = server.events.iter().find(|(version, _)| *version > from).cloned();
            next.and_then(|(version, line)| server.watch.take().map(|(_, sender)| (version, sender, line)))
        };
        let Some((version, mut sender, line)) = next else { return false };
        sender.send_data(Bytes::from(line)).await.expect("the watch is open");
        self.server.lock().watch = Some((version, sender));
        true
    }

    /// Reads while the watch slowly catches up, and checks that nothing read is older than `since`.
    async fn check(&self, name: &str, since: &BTreeMap<&str, u64>, context: &str) {
        let catch_up = async {
            loop {
                tokio::time::sleep(Duration::from_millis(2)).await;
                self.deliver().await;
            }
        };
        let reads = async {
            let one = self.client.get_opt::<ConfigMap>(("ns", name)).await;
            let all = self.client.list::<ConfigMap>(&ListQuery::in_namespace("ns")).await;
            (one, all)
        };
        let (one, all) = tokio::select! {
            biased;
            read = reads => read,
            () = catch_up => unreachable!("it never ends"),
        };
        let one = one.unwrap_or_else(|error| panic!("{context}: {error}"));
        let all = all.unwrap_or_else(|error| panic!("{context}: {error}"));
        let version = |object: &ConfigMap| object.metadata.resource_version.as_ref().and_then(|text| text.parse().ok());
        let server = self.server.lock();
        let since_of = |name: &str| since.get(name).copied().unwrap_or_default();
        let seen = one.as_deref().and_then(version);
        assert!(server.was(name, seen, since_of(name)), "{context}: get {name} gave {seen:?} after {since:?}");
        for name in NAMES {
            let object = all.iter().find(|object| object.metadata.name.as_deref() == Some(name));
            let seen = object.and_then(|object| version(object));
            assert!(server.was(name, seen, since_of(name)), "{context}: list gave {name} {seen:?} after {since:?}");
        }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.running.await.expect("it does not panic").expect("it runs once");
    }
}

#[derive(Clone, Copy, Debug)]
enum Write {
    Create,
    Update,
    Patch,
    Apply,
    Upsert,
    Delete,
    DeleteAll,
}

const WRITES: [Write; 7] =
    [Write::Create, Write::Update, Write::Patch, Write::Apply, Write::Upsert, Write::Delete, Write::DeleteAll];

fn map(name: &str, value: &str) -> ConfigMap {
    let metadata = json!({"namespace": "ns", "name": name});
    serde_json::from_value(json!({"metadata": metadata, "data": {"k": value}})).expect("it is a ConfigMap")
}

/// Writes, and doesn't care how it ends: the reads after it tell.
async fn write(client: &DelegatingClient, write: Write, name: &str, version: Option<String>) {
    let key = ("ns", name);
    let mut object = map(name, "new");
    object.metadata.resource_version = version;
    let _ended = match write {
        Write::Create => client.create(&map(name, "new")).await.map(drop),
        Write::Update => client.update(&object).await.map(drop),
        Write::Patch => client.patch::<ConfigMap>(key, &Patch::Merge(json!({"data": {"k": "p"}}))).await.map(drop),
        Write::Apply => client.apply(&map(name, "applied")).await.map(drop),
        Write::Upsert => {
            let set = |object: &mut ConfigMap| {
                object.data.get_or_insert_default().insert("k".to_owned(), "upserted".to_owned());
                Ok(())
            };
            client.create_or_update(map(name, "start"), set).await.map(drop)
        }
        Write::Delete => client.delete::<ConfigMap>(key).await.map(drop),
        Write::DeleteAll => {
            let of_namespace = ListOptions::in_namespace("ns");
            client.delete_all::<ConfigMap>(&of_namespace, &DeleteOptions::new()).await
        }
    };
}

/// Polls the future so often, and drops it then.
async fn poll_then_drop(future: impl Future<Output = ()>, polls: usize) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        if std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await.is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

/// What of the server's history is from this write on.
fn note(world: &World, before: u64, since: &mut BTreeMap<&'static str, u64>) {
    let server = world.server.lock();
    for name in NAMES {
        let last = server.history.get(name).and_then(|states| states.last()).map(|(version, _)| *version);
        if let Some(last) = last.filter(|last| *last > before) {
            since.insert(name, last);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_dropped_at_any_await_is_seen_if_it_happened() {
    for kind in WRITES {
        for exists in [false, true] {
            for polls in 0..40 {
                let world = World::start().await;
                let mut since = BTreeMap::new();
                if exists {
                    write(&world.client, Write::Create, "a", None).await;
                    note(&world, 1, &mut since);
                }
                let before = world.server.lock().version;
                let ended = poll_then_drop(write(&world.client, kind, "a", None), polls).await;
                note(&world, before, &mut since);
                let context = format!("{kind:?} dropped after {polls} polls, object exists: {exists}");
                world.check("a", &since, &context).await;
                while world.deliver().await {}
                world.check("a", &since, &context).await;
                world.stop().await;
                if ended {
                    break;
                }
                assert!(polls < 39, "{kind:?} is never through");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn reads_are_never_older_than_a_write_whatever_fails() {
    for seed in 0..150 {
        let world = World::start().await;
        let dice = Ambient::seeded(seed);
        let roll = |sides: usize| usize::try_from(dice.random() % sides as u64).unwrap_or_default();
        let mut since: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut steps = Vec::new();
        for _ in 0..12 {
            let (kind, name) = (WRITES[roll(WRITES.len())], NAMES[roll(NAMES.len())]);
            if roll(3) == 0 {
                // Somebody else writes, and nobody tells us.
                let mut server = world.server.lock();
                if roll(2) == 0 {
                    drop(server.put(name, &json!({"k": "theirs"})));
                } else {
                    drop(server.remove(name));
                }
                steps.push(format!("other {name}"));
            }
            let fault = [Fault::None, Fault::Before, Fault::After, Fault::Silence, Fault::Nonsense][roll(5)];
            world.server.lock().fault = fault;
            let cached = world.client.cache().informer::<ConfigMap>().get(&("ns", name).into());
            let version = cached.and_then(|object| object.metadata.resource_version.clone());
            let (before, polls) = (world.server.lock().version, if roll(3) == 0 { roll(16) } else { usize::MAX });
            steps.push(format!("{kind:?} {name} {fault:?} {version:?} {polls}"));
            if polls == usize::MAX {
                write(&world.client, kind, name, version).await;
            } else {
                poll_then_drop(write(&world.client, kind, name, version), polls).await;
            }
            world.server.lock().fault = Fault::None;
            note(&world, before, &mut since);
            for _ in 0..roll(3) {
                world.deliver().await;
            }
            if roll(2) == 0 {
                world.check(name, &since, &format!("seed {seed}: {}", steps.join("; "))).await;
            }
        }
        world.check("a", &since, &format!("seed {seed}: {}", steps.join("; "))).await;
        world.stop().await;
    }
}
