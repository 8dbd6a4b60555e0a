//! Three ways to change an object: merge patch, strategic merge patch, and server-side apply with field ownership.
//!
//! `cargo run -p controller-runtime-merge --example merge`

use controller_runtime_merge::{Apply, ApplyError, FieldSet, NoOtherVersions, apply, json_merge, strategic_merge};
use controller_runtime_schema::Schema;
use serde_json::{Value, json};

fn schema() -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"},
        "containers": {
            "type": "array", "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "image": {"type": "string"}}},
        },
    }}}})
}

fn app(spec: &Value) -> Value {
    json!({"apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "web"}, "spec": spec})
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::from_json(&schema())?;
    let live =
        app(&json!({"replicas": 1, "containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}));
    let patch = json!({"spec": {"replicas": null, "containers": [{"name": "b", "image": "b:2"}]}});

    let mut merged = live.clone();
    json_merge(&mut merged, &patch);
    println!("merge patch:     {}", merged["spec"]);
    println!("strategic merge: {}", strategic_merge(&live, &patch, &schema)?["spec"]);

    let (empty, reset) = (json!({}), FieldSet::new());
    let apply_as = |manager: &str, live: Option<&Value>, force: bool, spec: Value| -> Result<Value, ApplyError> {
        let options = Apply {
            manager,
            force,
            api_version: "ref.dev/v1",
            subresource: None,
            schema: &schema,
            empty: &empty,
            now: "2026-01-01T00:00:00Z",
            reset: &reset,
            versions: &NoOtherVersions,
        };
        apply(live, &app(&spec), &options)
    };
    let live = apply_as("ann", None, false, json!({"replicas": 1, "containers": [{"name": "a", "image": "a:1"}]}))?;
    let live = apply_as("bob", Some(&live), false, json!({"containers": [{"name": "b", "image": "b:1"}]}))?;
    println!("two managers:    {}", live["spec"]);
    if let Err(conflict) = apply_as("bob", Some(&live), false, json!({"replicas": 3})) {
        println!("bob without force: {conflict}");
    }
    let live = apply_as("bob", Some(&live), true, json!({"replicas": 3}))?;
    println!("bob with force:  {}", live["spec"]);
    Ok(())
}
