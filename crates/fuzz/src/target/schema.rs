//! Schemas of custom resources: a schema and a value.

use controller_runtime_schema::{
    EarlierRules, FieldPath, Schema, check_structural, default, prune, validate, validate_lists,
};
use serde_json::json;

use crate::document::{documents, lines};

pub(super) fn run(data: &[u8]) {
    let Some([schema, value]) = documents(data) else { return };
    let wrong = check_structural(&schema, &FieldPath::new("schema"), true, EarlierRules::Changed);
    let Ok(schema) = Schema::from_json(&schema) else { return };
    validate(&value, &schema, &FieldPath::new("spec"));
    validate_lists(&value, &schema, &FieldPath::new("spec"));
    if !wrong.is_empty() {
        return;
    }
    let mut pruned = value.clone();
    prune(&mut pruned, &schema, true);
    assert!(prune(&mut pruned.clone(), &schema, true).is_empty(), "what was pruned has nothing to prune");
    let mut filled = pruned;
    default(&mut filled, &schema);
    let once = filled.clone();
    default(&mut filled, &schema);
    assert_eq!(once, filled, "a second time changes nothing");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let schema = json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object", "default": {"a": 1}, "properties": {
            "a": {"type": "integer", "minimum": 0, "default": 2},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "list": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"],
                "properties": {"k": {"type": "string", "pattern": "^[a-z]+$", "format": "ipv4"}}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "map": {"type": "object", "additionalProperties": {"type": "string", "enum": ["x"], "nullable": true}},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }, "x-kubernetes-validations": [{"rule": "self.a > 0", "message": "m"}]},
    }});
    let value = json!({"spec": {"port": "x", "list": [{"k": "a"}, {"k": "a"}], "free": {"b": {}}, "map": {"m": null},
        "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, "more": 1}});
    vec![lines(&[&schema, &value])]
}
