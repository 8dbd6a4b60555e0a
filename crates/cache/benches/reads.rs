//! What the operations of a cache cost, without a server: objects come from the program's own memory.

#![allow(clippy::unwrap_used, reason = "in a bench a panic is the report")]

use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_ambient::{CancellationToken, Task};
use controller_runtime_cache::{
    Cache, CacheError, CacheOptions, KindOptions, ListPage, ListQuery, ListWatch, Payload, WatchItems,
};
use controller_runtime_client::{Client, ClientError, ClientOptions, ListOptions, WatchOptions};
use controller_runtime_scheme::ObjectKey;
use divan::Bencher;
use divan::counter::ItemsCount;
use futures::StreamExt;
use http::{Request, Response};
use k8s_openapi::api::core::v1::Pod;
use kube_client::client::Body;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::BoxError;

const PODS: usize = 1_000;
const NODES: usize = 10;

fn main() {
    divan::main();
}

/// A list that is in memory, and no changes.
struct InMemory(Vec<Payload<Pod>>);

impl ListWatch<Pod> for InMemory {
    async fn list(&self, _: &ListOptions) -> Result<ListPage<Pod>, ClientError> {
        Ok(ListPage { items: self.0.clone(), resource_version: "1".to_owned(), continue_token: None })
    }

    async fn watch(&self, _: &WatchOptions) -> Result<WatchItems<Pod>, ClientError> {
        Ok(futures::stream::pending().boxed())
    }
}

fn pod(number: usize) -> Value {
    let labels = json!({"app": format!("app-{}", number % 50), "pod-template-hash": "5d4f8c7b9"});
    let container = json!({"name": "main", "image": "registry.example/app:1", "ports": [{"containerPort": 8080}],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {"limits": {"cpu": "500m", "memory": "128Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}}});
    let metadata = json!({"namespace": format!("ns-{}", number % 4), "name": format!("pod-{number:06}"),
        "uid": format!("uid-{number}"), "resourceVersion": number.to_string(), "labels": labels});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"nodeName": format!("node-{}", number % NODES), "containers": [container]},
        "status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn decoded() -> Vec<Payload<Pod>> {
    (0..PODS).map(|number| Payload::Object(Arc::new(serde_json::from_value(pod(number)).unwrap()))).collect()
}

fn texts() -> Vec<Payload<Pod>> {
    (0..PODS).map(|number| Payload::Json(Bytes::from(pod(number).to_string()))).collect()
}

/// A cache of the Pods that runs, with an index by node.
struct Filled {
    runtime: Runtime,
    cache: Cache,
    _running: Task<Result<(), CacheError>>,
}

impl Filled {
    fn with(pods: Vec<Payload<Pod>>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let nobody = tower::service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Body>, BoxError>>());
        let (cache, running) = runtime.block_on(async {
            let client = Client::new(kube_client::Client::new(nobody, "default"), ClientOptions::builder().build());
            let pods = KindOptions::builder().list_watch(InMemory(pods)).streaming_lists(false).build();
            let cache = Cache::new(client.clone(), CacheOptions::builder().kind_of::<Pod>(pods).build());
            let running = client.ambient().spawn("cache", cache.run(CancellationToken::new()));
            let informer = cache.informer::<Pod>();
            let node = |pod: &Pod| pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect();
            informer.add_index("node", node).unwrap();
            informer.wait_for_sync(std::time::Duration::from_mins(1)).await.unwrap();
            (cache, running)
        });
        Self { runtime, cache, _running: running }
    }
}

#[divan::bench]
fn get(bencher: Bencher<'_, '_>) {
    let filled = Filled::with(decoded());
    let key = |number: usize| ObjectKey::namespaced(format!("ns-{}", number % 4), format!("pod-{number:06}"));
    let keys: Vec<_> = (0..PODS).map(key).collect();
    bencher.counter(ItemsCount::new(PODS)).bench_local(|| {
        filled.runtime.block_on(async {
            for key in &keys {
                divan::black_box(filled.cache.get::<Pod>(key).await.unwrap());
            }
        });
    });
}

/// Items are lists, of 100 objects each.
#[divan::bench]
fn list_by_index(bencher: Bencher<'_, '_>) {
    let filled = Filled::with(decoded());
    let queries: Vec<_> = (0..NODES).map(|node| ListQuery::by_index("node", format!("node-{node}"))).collect();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        filled.runtime.block_on(async {
            for query in &queries {
                divan::black_box(filled.cache.list::<Pod>(query).await.unwrap());
            }
        });
    });
}

/// The first list of decoded objects: what the store, its index and the informer cost.
#[divan::bench]
fn insert(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(PODS)).with_inputs(decoded).bench_local_values(Filled::with);
}

/// The first list of JSON text.
#[divan::bench]
fn decode_and_insert(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(PODS)).with_inputs(texts).bench_local_values(Filled::with);
}
