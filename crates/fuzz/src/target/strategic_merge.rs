//! Strategic merge patch: a target and a patch, under a schema with lists of every kind.

use controller_runtime_merge::strategic_merge;
use controller_runtime_schema::Schema;
use serde_json::json;

use crate::document::{count, documents, lines};

pub(super) fn schema() -> Schema {
    let port = json!({"type": "object", "properties": {
        "port": {"type": "integer"}, "name": {"type": "string"}, "weight": {"type": "integer"},
    }});
    Schema::from_json(&json!({"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "metadata": {"type": "object", "properties": {
            "name": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {"type": "array", "items": {"type": "string"},
                "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge"},
        }},
        "spec": {"type": "object", "properties": {
            "ports": {"type": "array", "items": port,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "port"},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
            "strategy": {"type": "object", "x-kubernetes-patch-strategy": "retainKeys",
                "properties": {"a": {"type": "object", "properties": {"x": {"type": "integer"}}},
                    "b": {"type": "object", "properties": {"y": {"type": "integer"}}}}},
            "atom": {"type": "object", "x-kubernetes-map-type": "atomic",
                "additionalProperties": {"type": "integer"}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }},
    }}))
    .unwrap()
}

pub(super) fn run(data: &[u8]) {
    let Some([target, patch]) = documents(data) else { return };
    let schema = schema();
    if let Ok(result) = strategic_merge(&target, &patch, &schema) {
        assert!(count(&result) <= count(&target) + count(&patch), "the result holds what came in");
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let target = json!({"metadata": {"name": "a", "finalizers": ["a", "b"]}, "spec": {
        "ports": [{"port": 1, "name": "x"}, {"port": 2}], "tags": ["a"], "strategy": {"a": {"x": 1}},
    }});
    let patches = [
        json!({"spec": {"ports": [{"port": 2, "name": "y"}, {"port": 1, "$patch": "delete"}],
            "$setElementOrder/ports": [{"port": 2}, {"port": 3}]}}),
        json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "$setElementOrder/finalizers": ["b", "a"]}}),
        json!({"spec": {"$retainKeys": ["strategy"], "strategy": {"$retainKeys": ["b"], "b": {"y": 1}}}}),
        json!({"spec": {"$patch": "replace", "ports": [{"$patch": "replace"}, {"port": 4}], "tags": null}}),
    ];
    patches.iter().map(|patch| lines(&[&target, patch])).collect()
}
