//! Whatever a server and the connection to it do, the store comes to hold what the server has, and what handlers hear
//! is a history that can have happened. Needs faults that no real server makes on request.

mod model;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::{Cache, CacheOptions, Informer, ListQuery, ObjectEvent};
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_scheme::ObjectKey;
use http::Request;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::client::Body;
use model::{Disconnect, Server};
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};
use tower::BoxError;

/// An object that is always there: a cache that loses it was empty in between.
const ANCHOR: &str = "anchor";

#[derive(Clone, Debug)]
enum Step {
    Write(u8, u16),
    /// The object doesn't fit its type afterwards.
    Spoil(u8),
    Delete(u8),
    Bookmark,
    Compact,
    Disconnect(Disconnect),
    Deliver(usize),
    Wait(u64),
    Page(usize),
    Streams(bool),
    ExpiresInStream(bool),
}

fn step() -> impl Strategy<Value = Step> {
    use Disconnect::{Break, Close, Expire, InALine};
    prop_oneof![
        8 => (0..5_u8, any::<u16>()).prop_map(|(name, value)| Step::Write(name, value)),
        2 => (0..5_u8).prop_map(Step::Spoil),
        4 => (0..5_u8).prop_map(Step::Delete),
        2 => Just(Step::Bookmark),
        2 => Just(Step::Compact),
        3 => prop_oneof![Just(Close), Just(InALine), Just(Expire), Just(Break)].prop_map(Step::Disconnect),
        6 => (1..8_usize).prop_map(Step::Deliver),
        4 => (0..5_000_u64).prop_map(Step::Wait),
        1 => (1..4_usize).prop_map(Step::Page),
        1 => any::<bool>().prop_map(Step::Streams),
        1 => any::<bool>().prop_map(Step::ExpiresInStream),
    ]
}

fn name(number: u8) -> String {
    format!("object-{number}")
}

async fn apply(server: &Server, step: &Step) {
    match step {
        Step::Write(number, value) => server.write(&name(*number), &json!(value.to_string())),
        Step::Spoil(number) => server.write(&name(*number), &json!(7)),
        Step::Delete(number) => server.delete(&name(*number)),
        Step::Bookmark => server.bookmark(),
        Step::Compact => server.compact(),
        Step::Disconnect(how) => server.disconnect(*how).await,
        Step::Deliver(count) => server.deliver(*count).await,
        Step::Wait(milliseconds) => tokio::time::sleep(Duration::from_millis(*milliseconds)).await,
        Step::Page(size) => server.set_page(*size),
        Step::Streams(streams) => server.set_streams(*streams),
        Step::ExpiresInStream(in_stream) => server.set_expires_in_stream(*in_stream),
    }
}

/// Uid and version.
type State = (String, u64);

fn state(object: &ConfigMap) -> State {
    let version = object.metadata.resource_version.as_deref().and_then(|version| version.parse().ok());
    (object.metadata.uid.clone().unwrap_or_default(), version.unwrap_or(0))
}

/// What a handler has heard, and the first thing that can't have happened.
#[derive(Default)]
struct History {
    known: BTreeMap<String, State>,
    problem: Option<String>,
}

impl History {
    fn hear(&mut self, event: &ObjectEvent<ConfigMap>) {
        let name = event.key().name;
        let before = self.known.get(&name).cloned();
        let possible = match event {
            ObjectEvent::Added { .. } => before.is_none(),
            ObjectEvent::Updated { old, new } => {
                let (old, new) = (state(old), state(new));
                before.as_ref() == Some(&old) && old.0 == new.0 && old.1 < new.1
            }
            ObjectEvent::Deleted { object, final_state_unknown: true } => before.as_ref() == Some(&state(object)),
            ObjectEvent::Deleted { object, .. } => {
                before.as_ref().is_some_and(|(uid, version)| (uid, *version) <= (&state(object).0, state(object).1))
            }
            _ => false,
        };
        if !possible && self.problem.is_none() {
            self.problem = Some(format!("{event:?} after {before:?}"));
        }
        match event {
            ObjectEvent::Deleted { .. } => self.known.remove(&name),
            event => self.known.insert(name, state(event.object())),
        };
    }
}

fn held(informer: &Informer<ConfigMap>) -> BTreeMap<String, State> {
    let objects = informer.list(&ListQuery::all()).expect("it needs no index");
    objects.iter().map(|object| (object.metadata.name.clone().unwrap_or_default(), state(object))).collect()
}

/// Whether the store has what the server has. Of an object that doesn't fit its type, an old state or nothing will do.
fn agrees(store: &BTreeMap<String, State>, server: &BTreeMap<String, Value>) -> bool {
    let fits = |object: &Value| object["data"]["k"].is_string();
    let matches = |(name, object): (&String, &Value)| {
        let meta = &object["metadata"];
        let version = meta["resourceVersion"].as_str().and_then(|version| version.parse().ok()).unwrap_or(0);
        let state = (meta["uid"].as_str().unwrap_or_default().to_owned(), version);
        !fits(object) || store.get(name) == Some(&state)
    };
    server.iter().all(matches) && store.keys().all(|name| server.contains_key(name))
}

async fn run(steps: &[Step], seed: u64) -> Result<(), TestCaseError> {
    let server = Server::default();
    server.write(ANCHOR, &json!("x"));
    let service = tower::service_fn({
        let server = server.clone();
        move |request: Request<Body>| {
            let answer = server.serve(&request);
            async move { Ok::<_, BoxError>(answer) }
        }
    });
    let options = ClientOptions::builder().ambient(Ambient::seeded(seed)).retries(0).build();
    let client = Client::new(kube_client::Client::new(service, "default"), options);
    let cache = Cache::new(client.clone(), CacheOptions::new());
    let informer = cache.informer::<ConfigMap>();
    let history = Arc::new(Mutex::new(History::default()));
    let heard = history.clone();
    let _registration = informer.add_handler(move |event| heard.lock().hear(event));
    let (running, cancel) = (cache.clone(), CancellationToken::new());
    let task = client.ambient().spawn("cache", {
        let cancel = cancel.clone();
        async move { running.run(cancel).await }
    });

    for step in steps {
        apply(&server, step).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        let lost = informer.has_synced() && informer.get(&ObjectKey::namespaced("ns", ANCHOR)).is_none();
        prop_assert!(!lost, "the store was empty after {:?}", step);
    }
    // The faults end. A client that waits for time or gives a watch up as silent comes back within this time.
    let mut seconds = 0;
    while !agrees(&held(&informer), &server.objects()) || !informer.has_synced() {
        server.deliver(usize::MAX).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        seconds += 1;
        prop_assert!(seconds < 400, "the store has {:?}, the server {:?}", held(&informer), server.objects());
    }
    // What is still on its way changes nothing any more.
    server.deliver(usize::MAX).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    prop_assert!(agrees(&held(&informer), &server.objects()));
    prop_assert_eq!(&history.lock().known, &held(&informer));
    prop_assert_eq!(history.lock().problem.clone(), None);
    cancel.cancel();
    task.await.map_err(|error| TestCaseError::fail(error.to_string()))?.map_err(|e| TestCaseError::fail(e.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_store_comes_to_hold_what_the_server_has(
        steps in proptest::collection::vec(step(), 1..60),
        seed in any::<u64>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        runtime.block_on(run(&steps, seed))?;
    }
}
