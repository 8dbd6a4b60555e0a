//! What each kind of merge costs, with as many list items as the argument says.

use controller_runtime_merge::{Apply, FieldSet, NoOtherVersions, apply, json_merge, strategic_merge};
use controller_runtime_schema::Schema;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn schema() -> Schema {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "containers": {
            "type": "array", "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "image": {"type": "string"}}},
        },
    }}}});
    Schema::from_json(&schema).expect("a schema")
}

fn app(items: usize, image: &str) -> Value {
    let containers: Vec<_> = (0..items).map(|i| json!({"name": format!("c{i}"), "image": image})).collect();
    json!({
        "apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "web"}, "spec": {"containers": containers},
    })
}

#[divan::bench(args = [1, 100])]
fn merge_patch(bencher: Bencher<'_, '_>, items: usize) {
    let patch = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c0"}]}});
    bencher.with_inputs(|| app(items, "v1")).bench_values(|mut live| {
        json_merge(&mut live, black_box(&patch));
        live
    });
}

#[divan::bench(args = [1, 100])]
fn strategic(bencher: Bencher<'_, '_>, items: usize) {
    let (schema, live) = (schema(), app(items, "v1"));
    let patch = json!({"spec": {"containers": [{"name": "c0", "image": "v2"}]}});
    bencher.bench(|| strategic_merge(&live, black_box(&patch), &schema));
}

#[divan::bench(args = [1, 100])]
fn server_side_apply(bencher: Bencher<'_, '_>, items: usize) {
    let (schema, empty, reset) = (schema(), json!({}), FieldSet::new());
    let options = Apply {
        manager: "bench",
        force: false,
        api_version: "ref.dev/v1",
        subresource: None,
        schema: &schema,
        empty: &empty,
        now: "2026-01-01T00:00:00Z",
        reset: &reset,
        versions: &NoOtherVersions,
    };
    let live = apply(None, &app(items, "v1"), &options).expect("it applies");
    let config = app(items, "v2");
    bencher.bench(|| apply(Some(&live), black_box(&config), &options));
}
