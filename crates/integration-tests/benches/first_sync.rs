//! How long a cache takes until it has its first list, against the server that the tests use.

#![allow(clippy::unwrap_used, reason = "in a bench a panic is the report")]

use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_cache::{Cache, CacheOptions};
use controller_runtime_client::Client;
use divan::Bencher;
use divan::counter::ItemsCount;
use integration_tests::Fixture;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use tokio::runtime::Runtime;

const OBJECTS: usize = 500;

fn main() {
    divan::main();
}

async fn fill(client: &Client, namespace: &str) {
    for number in 0..OBJECTS {
        let metadata = json!({"namespace": namespace, "name": format!("map-{number:05}"), "labels": {"bench": "sync"}});
        let data = json!({"settings": "value ".repeat(100), "number": number.to_string()});
        let map: ConfigMap = serde_json::from_value(json!({"metadata": metadata, "data": data})).unwrap();
        client.create(&map).await.unwrap();
    }
}

async fn sync(client: &Client, namespace: &str, streaming: bool) -> usize {
    let options = CacheOptions::builder().namespaces([namespace]).streaming_lists(streaming).build();
    let cache = Cache::new(client.clone(), options);
    let cancel = CancellationToken::new();
    let running = client.ambient().spawn("cache", cache.run(cancel.clone()));
    let informer = cache.informer::<ConfigMap>();
    informer.wait_for_sync(Duration::from_mins(1)).await.unwrap();
    cancel.cancel();
    running.await.unwrap().unwrap();
    informer.len()
}

#[divan::bench(args = [false, true])]
fn first_sync(bencher: Bencher<'_, '_>, streaming: bool) {
    let runtime = Runtime::new().unwrap();
    let (fixture, client) = runtime.block_on(async {
        let fixture = Fixture::start("first-sync").await;
        let client = fixture.env().client();
        fill(&client, fixture.namespace()).await;
        (fixture, client)
    });
    bencher.counter(ItemsCount::new(OBJECTS)).bench_local(|| {
        let held = runtime.block_on(sync(&client, fixture.namespace(), streaming));
        assert!(held >= OBJECTS);
    });
    runtime.block_on(fixture.stop());
}
