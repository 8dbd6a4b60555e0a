//! What pruning, defaulting and validating an object cost, with as many list items as the argument says.

use controller_runtime_schema::{FieldPath, Schema, default, prune, validate};
use divan::{Bencher, black_box};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn schema() -> Schema {
    let port = json!({"type": "object", "required": ["port"], "properties": {
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "protocol": {"type": "string", "default": "TCP", "enum": ["TCP", "UDP", "SCTP"]},
        "name": {"type": "string", "maxLength": 15, "pattern": "^[a-z0-9-]+$"},
    }});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "replicas": {"type": "integer", "default": 1},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "ports": {"type": "array", "items": port},
    }}}});
    Schema::from_json(&schema).expect("a schema")
}

fn object(items: usize) -> Value {
    let ports: Vec<_> = (1..=items).map(|port| json!({"port": port, "name": "http", "unknown": true})).collect();
    json!({
        "apiVersion": "ref.dev/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"labels": {"app": "web"}, "ports": ports, "colour": "red"},
    })
}

#[divan::bench(args = [1, 100])]
fn prune_and_default(bencher: Bencher<'_, '_>, items: usize) {
    let schema = schema();
    bencher.with_inputs(|| object(items)).bench_values(|mut object| {
        let pruned = prune(&mut object, &schema, true);
        default(&mut object, &schema);
        (pruned, object)
    });
}

#[divan::bench(args = [1, 100])]
fn validate_object(bencher: Bencher<'_, '_>, items: usize) {
    let (schema, object, root) = (schema(), object(items), FieldPath::default());
    bencher.bench(|| validate(black_box(&object), &schema, &root));
}
