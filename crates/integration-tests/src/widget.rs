use serde_json::{Value, json};

/// A definition of the namespaced kind `Widget` in `group`, with the subresources status and scale.
pub fn widget_definition(group: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
                "additionalPrinterColumns": [{"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"}],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {
                            "type": "object",
                            "required": ["color"],
                            "properties": {
                                "color": {"type": "string", "enum": ["red", "green", "blue"]},
                                "replicas": {"type": "integer", "minimum": 0, "default": 1},
                                "parts": {
                                    "type": "array",
                                    "x-kubernetes-list-type": "map",
                                    "x-kubernetes-list-map-keys": ["name"],
                                    "items": {
                                        "type": "object",
                                        "required": ["name"],
                                        "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
                                    },
                                },
                            },
                        },
                        "status": {
                            "type": "object",
                            "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}},
                        },
                    },
                }},
            }],
        },
    })
}

/// A `Widget` with this `spec`.
pub fn widget(group: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}
