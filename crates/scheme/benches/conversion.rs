//! What conversions and look-ups cost.

use controller_runtime_scheme::{GroupVersionKind, Kind, Scheme, Strictness, Unstructured, decode, to_unstructured};
use divan::{Bencher, black_box};
use k8s_openapi::api::apps::v1::Deployment;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn deployment() -> Value {
    let container = |i: u32| {
        json!({
            "name": format!("c{i}"), "image": "registry/app:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
        })
    };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "default", "name": "web", "labels": {"app": "web"}, "uid": "1", "resourceVersion": "1"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(1), container(2)]}},
        },
    })
}

#[divan::bench]
fn decode_text(bencher: Bencher<'_, '_>) {
    let text = deployment().to_string();
    bencher.bench(|| decode::<Deployment>("Deployment", black_box(text.as_bytes())));
}

#[divan::bench(args = ["lenient", "strict"])]
fn to_typed(bencher: Bencher<'_, '_>, strictness: &str) {
    let strictness = if strictness == "strict" { Strictness::Strict } else { Strictness::Lenient };
    let mut scheme = Scheme::new();
    scheme.register::<Deployment>().expect("it is free");
    scheme.require::<Deployment>(["spec", "spec.template.spec.containers[].name"]).expect("they are paths");
    let object: Unstructured = serde_json::from_value(deployment()).expect("an object");
    bencher.bench(|| scheme.to_typed::<Deployment>(black_box(&object), strictness));
}

#[divan::bench]
fn from_typed(bencher: Bencher<'_, '_>) {
    let (kind, object): (_, Deployment) = (Kind::typed(), serde_json::from_value(deployment()).expect("a deployment"));
    bencher.bench(|| to_unstructured(&kind, black_box(&object)));
}

#[divan::bench]
fn look_up(bencher: Bencher<'_, '_>) {
    let mut scheme = Scheme::new();
    scheme.register::<Deployment>().expect("it is free");
    let kind = GroupVersionKind::gvk("apps", "v1", "Deployment");
    bencher.bench(|| scheme.get(black_box(&kind)).is_some());
}
