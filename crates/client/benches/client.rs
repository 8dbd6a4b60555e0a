//! What the client itself costs, without a network: URL, encoding and decoding, for each view of an object.

use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_client::{Api, Client, ClientOptions, List, ListOptions, Patch};
use controller_runtime_scheme::{Kind, Object};
use divan::{Bencher, black_box};
use http::{Request, Response};
use http_body_util::Full;
use k8s_openapi::api::core::v1::Pod;
use kube_client::client::Body;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

/// About 2 KB of JSON.
fn pod() -> Value {
    let env: Vec<Value> = (0..8).map(|index| json!({"name": format!("SETTING_{index}"), "value": "a value"})).collect();
    let container = json!({
        "name": "web", "image": "registry.example.com/web:1.2.3", "env": env,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http", "scheme": "HTTP"}, "periodSeconds": 10},
    });
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web-0", "namespace": "shop", "uid": "3c0ce1a4-7b6c-4d0e-9b0e-0f6f3f0a2d11", "resourceVersion": "42",
            "labels": {"app": "web", "tier": "front", "pod-template-hash": "6d4cf56db6"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"containers": [container], "nodeName": "node-1", "restartPolicy": "Always"},
        "status": {"phase": "Running", "podIP": "10.0.0.7", "qosClass": "Burstable"},
    })
}

/// A client whose server answers everything with this body at once, and a runtime for it.
fn client(answer: &Value) -> (Runtime, Client) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let body = Bytes::from(answer.to_string());
    let service = tower::service_fn(move |_: Request<Body>| {
        let body = body.clone();
        async move { Ok::<_, tower::BoxError>(Response::new(Full::new(body))) }
    });
    let options = ClientOptions::builder().ambient(Ambient::seeded(1)).field_manager("bench").build();
    let _inside = runtime.enter();
    let client = Client::new(kube_client::Client::new(service, "default"), options);
    (runtime, client)
}

fn typed(client: &Client) -> Api<Pod> {
    client.api(Kind::typed())
}

fn check_get<K: Object>(bencher: Bencher<'_, '_>, view: impl Fn(&Client) -> Api<K>) {
    let (runtime, client) = client(&pod());
    let api = view(&client);
    bencher.bench_local(|| runtime.block_on(api.get(("shop", "web-0"))).expect("an answer"));
}

#[divan::bench]
fn get_typed(bencher: Bencher<'_, '_>) {
    check_get(bencher, typed);
}

#[divan::bench]
fn get_unstructured(bencher: Bencher<'_, '_>) {
    check_get(bencher, |client| client.api(Kind::<Pod>::typed().erase()));
}

#[divan::bench]
fn get_metadata_only(bencher: Bencher<'_, '_>) {
    check_get(bencher, |client| client.api(Kind::<Pod>::typed().metadata_only()));
}

#[divan::bench]
fn list_of_100(bencher: Bencher<'_, '_>) {
    let items = vec![pod(); 100];
    let (runtime, client) = client(&json!({"metadata": {"resourceVersion": "42"}, "items": items}));
    let options = ListOptions::in_namespace("shop").label("app", "web").fields("spec.nodeName=node-1");
    bencher.bench_local(|| {
        let list: List<Pod> = runtime.block_on(client.list(&options)).expect("an answer");
        black_box(list)
    });
}

#[divan::bench]
fn apply_typed(bencher: Bencher<'_, '_>) {
    let (runtime, client) = client(&pod());
    let object: Pod = serde_json::from_value(pod()).expect("a Pod");
    bencher.bench_local(|| runtime.block_on(client.apply(&object)).expect("an answer"));
}

#[divan::bench]
fn merge_patch_between(bencher: Bencher<'_, '_>) {
    let kind = Kind::<Pod>::typed();
    let old: Pod = serde_json::from_value(pod()).expect("a Pod");
    let mut new = old.clone();
    new.metadata.labels.get_or_insert_default().insert("tier".to_owned(), "back".to_owned());
    bencher.bench_local(|| Patch::merge_from(&kind, black_box(&old), black_box(&new)).expect("a patch"));
}
