//! Custom objects: pruned, defaulted, validated, selected, and served in several versions.

use serde_json::{Value, json};

use crate::client::{Client, definition, widget};

const WIDGETS: &str = "/apis/ref.dev/v1/namespaces/default/widgets";

fn strict_v1(spec: &Value) -> Value {
    json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
        "type": "object", "required": ["spec"], "properties": {"spec": spec}}}})
}

async fn with_spec(spec: &Value) -> Client {
    let client = Client::new();
    client.install(&definition(&json!([strict_v1(spec)]))).await;
    client
}

#[tokio::test]
async fn objects_are_pruned_and_get_defaults() {
    let spec = json!({"type": "object", "properties": {
        "replicas": {"type": "integer", "default": 1},
        "ratio": {"type": "number"},
        "color": {"type": "string"},
    }});
    let client = with_spec(&spec).await;
    let object = widget("a", &json!({"spec": {"color": null, "unknown": 1, "ratio": 2.0}, "other": true}));
    let answer = client.post(WIDGETS, &object).await;
    let warnings: Vec<_> = answer.headers.get_all("warning").iter().map(|text| text.to_str().unwrap()).collect();
    assert_eq!(warnings, [r#"299 - "unknown field \"other\"""#, r#"299 - "unknown field \"spec.unknown\"""#]);
    let created = answer.expect(201);
    assert_eq!(created["spec"].to_string(), r#"{"ratio":2,"replicas":1}"#);
    assert_eq!(created.get("other"), None);
    assert_eq!(created["metadata"]["generation"], 1);

    let strict = client.post(&format!("{WIDGETS}?fieldValidation=Strict"), &object).await;
    assert_eq!(strict.code, 400, "{}", strict.body);
}

#[tokio::test]
async fn invalid_objects_are_refused() {
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    }});
    let client = with_spec(&spec).await;
    let refused = client.post(WIDGETS, &widget("a", &json!({"spec": {"tags": ["x", "x"]}}))).await;
    assert_eq!(refused.code, 422, "{}", refused.body);
    assert_eq!(refused.causes(), [("spec.size", "FieldValueRequired"), ("spec.tags[1]", "FieldValueDuplicate")]);
    assert_eq!(
        refused.body["message"],
        "Widget.ref.dev \"a\" is invalid: [spec.size: Required value, spec.tags[1]: Duplicate value: \"x\"]"
    );

    let refused = client.post(WIDGETS, &widget("A", &json!({"spec": {"size": "big"}}))).await;
    assert_eq!(refused.causes(), [("metadata.name", "FieldValueInvalid"), ("spec.size", "FieldValueTypeInvalid")]);

    client.post(WIDGETS, &widget("a", &json!({"spec": {"size": 1}}))).await.expect(201);
    let refused = client.merge(&format!("{WIDGETS}/a"), &json!({"spec": {"size": 0}})).await;
    assert_eq!(refused.causes(), [("spec.size", "FieldValueInvalid")]);
    let unconditional = client.put(&format!("{WIDGETS}/a"), &widget("a", &json!({"spec": {"size": 2}}))).await;
    assert_eq!(unconditional.causes(), [("metadata.resourceVersion", "FieldValueInvalid")]);
}

#[tokio::test]
async fn what_was_invalid_before_is_not_held_against_a_change() {
    let open = json!({"type": "object", "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}});
    let client = with_spec(&open).await;
    client.post(WIDGETS, &widget("a", &json!({"spec": {"size": 7}}))).await.expect(201);
    let tight = json!([{"op": "add", "value": 5,
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"}]);
    let path = format!("{}/widgets.ref.dev", crate::client::DEFINITIONS);
    client.send("PATCH", &path, "application/json-patch+json", &tight).await.expect(200);
    client.merge(&format!("{WIDGETS}/a"), &json!({"spec": {"color": "red"}})).await.expect(200);
    let refused = client.merge(&format!("{WIDGETS}/a"), &json!({"spec": {"size": 8}})).await;
    assert_eq!(refused.causes(), [("spec.size", "FieldValueInvalid")]);
    client.post(WIDGETS, &widget("b", &json!({"spec": {"size": 7}}))).await.expect(422);
}

#[tokio::test]
async fn a_new_default_shows_in_stored_objects() {
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}});
    let client = with_spec(&spec).await;
    let stored = client.post(WIDGETS, &widget("a", &json!({"spec": {"color": "red"}}))).await.expect(201);
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let change = json!([
        {"op": "add", "path": format!("{properties}/size/default"), "value": 3},
        {"op": "remove", "path": format!("{properties}/color")},
    ]);
    let path = format!("{}/widgets.ref.dev", crate::client::DEFINITIONS);
    client.send("PATCH", &path, "application/json-patch+json", &change).await.expect(200);
    let read = client.get(&format!("{WIDGETS}/a")).await.expect(200);
    assert_eq!(read["spec"], json!({"size": 3}));
    assert_eq!(read["metadata"], stored["metadata"], "reading is no write");
}

#[tokio::test]
async fn fields_can_be_selected() {
    let spec = json!({"type": "object", "properties": {"color": {"type": "string"}, "size": {"type": "integer"}}});
    let mut version = strict_v1(&spec);
    version["selectableFields"] = json!([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]);
    let client = Client::new();
    client.install(&definition(&json!([version]))).await;
    for (name, spec) in [("a", json!({"color": "red", "size": 1})), ("b", json!({"color": "blue"})), ("c", json!({}))] {
        client.post(WIDGETS, &widget(name, &json!({"spec": spec}))).await.expect(201);
    }
    for (selector, expected) in [
        ("spec.color=red", vec!["a"]),
        ("spec.color!=red", vec!["b", "c"]),
        ("spec.color=", vec!["c"]),
        ("spec.size=1", vec!["a"]),
    ] {
        let list = client.get(&format!("{WIDGETS}?fieldSelector={selector}")).await.expect(200);
        let names: Vec<_> =
            list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].clone()).collect();
        assert_eq!(names, expected, "{selector}");
    }
    let refused = client.get(&format!("{WIDGETS}?fieldSelector=spec.b=1")).await.expect(400);
    assert_eq!(refused["message"], "field label not supported: spec.b");
}

#[tokio::test]
async fn each_version_shows_what_it_knows() {
    let open = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let versions = json!([
        strict_v1(&json!({"type": "object", "properties": {"a": {"type": "integer"}}})),
        {"name": "v1alpha1", "served": true, "storage": false, "deprecated": true, "schema": open},
        {"name": "v2", "served": false, "storage": false, "schema": open},
    ]);
    let client = Client::new();
    client.install(&definition(&versions)).await;
    let alpha = WIDGETS.replace("v1", "v1alpha1");
    let mut object = widget("x", &json!({"spec": {"a": 1, "b": 2}}));
    object["apiVersion"] = json!("ref.dev/v1alpha1");
    let answer = client.post(&alpha, &object).await;
    let warning = answer.headers.get("warning").map(|text| text.to_str().unwrap().to_owned());
    assert_eq!(warning.as_deref(), Some(r#"299 - "ref.dev/v1alpha1 Widget is deprecated; use ref.dev/v1 Widget""#));
    answer.expect(201);
    let stable = client.get(&format!("{WIDGETS}/x")).await.expect(200);
    assert_eq!(stable["apiVersion"], "ref.dev/v1");
    assert_eq!(stable["spec"], json!({"a": 1}));
    client.get(&WIDGETS.replace("v1", "v2")).await.expect(404);
}

#[tokio::test]
async fn tables_have_the_declared_columns() {
    let mut version = strict_v1(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    version["additionalPrinterColumns"] = json!([
        {"name": "Ready", "type": "string", "jsonPath": ".spec.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1},
    ]);
    let client = Client::new();
    client.install(&definition(&json!([version]))).await;
    let spec = json!({"size": 3, "conditions": [{"type": "Ready", "status": "True"}]});
    client.post(WIDGETS, &widget("a", &json!({"spec": spec}))).await.expect(201);
    let table = client.table(WIDGETS).await;
    let names: Vec<_> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|column| column["name"].clone()).collect();
    assert_eq!(names, ["Name", "Ready", "Size"]);
    assert_eq!(table["rows"][0]["cells"], json!(["a", "True", 3]));
}
