//! What kube-apiserver does with a custom resource, without a server: prune, fill in defaults, validate.
//!
//! `cargo run -p controller-runtime-schema --example schema`

use controller_runtime_schema::{
    EarlierRules, FieldPath, Schema, check_structural, default, prune, validate, validate_lists,
};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": {
            "type": "object",
            "required": ["engine"],
            "properties": {
                "engine": {"type": "string", "enum": ["postgres", "mysql"]},
                "replicas": {"type": "integer", "default": 1, "minimum": 1, "maximum": 5},
                "users": {
                    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}},
                    },
                },
            },
        }},
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problems = check_structural(&schema(), &FieldPath::new("schema"), false, EarlierRules::Changed);
    println!("the schema has {} problems", problems.len());
    let schema = Schema::from_json(&schema())?;
    for spec in [
        json!({"engine": "postgres", "colour": "red"}),
        json!({"engine": "oracle", "replicas": 9, "users": [{"name": "a"}, {"name": "a"}, {}]}),
    ] {
        let mut object =
            json!({"apiVersion": "ref.dev/v1", "kind": "Database", "metadata": {"name": "a"}, "spec": spec});
        println!("pruned: {:?}", prune(&mut object, &schema, true));
        default(&mut object, &schema);
        println!("stored: {}", object["spec"]);
        let root = FieldPath::default();
        for error in validate(&object, &schema, &root).into_iter().chain(validate_lists(&object, &schema, &root)) {
            println!("refused: {error}");
        }
    }
    Ok(())
}
