//! The life of a definition: created, served, changed, refused, removed.

use serde_json::{Value, json};

use crate::client::{Client, DEFINITIONS, definition, v1, widget};

const WIDGETS: &str = "/apis/ref.dev/v1/namespaces/default/widgets";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.ref.dev";

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn conditions(definition: &Value) -> Vec<(&str, &str, &str)> {
    let all = definition["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter()
        .map(|condition| (text(condition, "type"), text(condition, "status"), text(condition, "reason")))
        .collect()
}

#[tokio::test]
async fn a_definition_is_served_once_it_is_created() {
    let client = Client::new();
    client.get("/apis/ref.dev/v1").await.expect(404);
    let created = client.install(&definition(&json!([v1(&json!({"status": {}}))]))).await;
    assert_eq!(created["spec"]["names"]["singular"], "widget");
    assert_eq!(created["spec"]["names"]["listKind"], "WidgetList");
    assert_eq!(created["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(
        created["status"],
        json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]})
    );
    assert_eq!(created["metadata"]["generation"], 1);

    let now = client.get(DEFINITION).await.expect(200);
    assert_eq!(
        conditions(&now),
        [("NamesAccepted", "True", "NoConflicts"), ("Established", "True", "InitialNamesAccepted")]
    );
    assert_eq!(now["status"]["acceptedNames"], now["spec"]["names"]);
    assert_eq!(now["metadata"]["generation"], 1);

    let resources = client.get("/apis/ref.dev/v1").await.expect(200);
    let names: Vec<_> = resources["resources"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["widgets", "widgets/status"]);
    assert_eq!(resources["resources"][0]["shortNames"], json!(["w"]));
    let list = client.get(WIDGETS).await.expect(200);
    assert_eq!(list["kind"], "WidgetList");
}

#[tokio::test]
async fn a_definition_without_schema_is_refused() {
    let client = Client::new();
    let refused =
        client.post(DEFINITIONS, &definition(&json!([{"name": "v1", "served": true, "storage": true}]))).await;
    assert_eq!(refused.code, 422);
    assert_eq!(refused.causes(), [("spec.versions[0].schema.openAPIV3Schema", "FieldValueRequired")]);
    assert_eq!(
        refused.body["message"],
        "CustomResourceDefinition.apiextensions.k8s.io \"widgets.ref.dev\" is invalid: \
         spec.versions[0].schema.openAPIV3Schema: Required value"
    );
    client.get(DEFINITION).await.expect(404);
}

#[tokio::test]
async fn a_change_is_served_at_once() {
    let client = Client::new();
    client.install(&definition(&json!([v1(&json!({}))]))).await;
    client.post(WIDGETS, &widget("a", &json!({"spec": {}}))).await.expect(201);
    client.get(&format!("{WIDGETS}/a/status")).await.expect(404);
    let add = json!([{"op": "add", "path": "/spec/versions/0/subresources", "value": {"status": {}}}]);
    let changed = client.send("PATCH", DEFINITION, "application/json-patch+json", &add).await.expect(200);
    assert_eq!(changed["metadata"]["generation"], 2);
    client.get(&format!("{WIDGETS}/a/status")).await.expect(200);

    let renamed = client.merge(DEFINITION, &json!({"spec": {"scope": "Cluster", "group": "other.dev"}})).await;
    assert_eq!(renamed.code, 422, "{}", renamed.body);
    let causes = renamed.causes();
    assert!(causes.contains(&("spec.scope", "FieldValueInvalid")), "{causes:?}");
    assert!(causes.contains(&("spec.group", "FieldValueInvalid")), "{causes:?}");
}

#[tokio::test]
async fn a_taken_kind_is_refused_until_its_owner_goes() {
    let client = Client::new();
    client.install(&definition(&json!([v1(&json!({}))]))).await;
    let mut second = definition(&json!([v1(&json!({}))]));
    second["metadata"]["name"] = json!("gadgets.ref.dev");
    second["spec"]["names"] = json!({"plural": "gadgets", "singular": "gadget", "kind": "Widget"});
    client.install(&second).await;
    let path = format!("{DEFINITIONS}/gadgets.ref.dev");
    let waiting = client.get(&path).await.expect(200);
    assert_eq!(
        conditions(&waiting),
        [("NamesAccepted", "False", "ListKindConflict"), ("Established", "False", "NotAccepted")]
    );
    client.get("/apis/ref.dev/v1/gadgets").await.expect(404);

    client.delete(DEFINITION).await.expect(200);
    let accepted = client.get(&path).await.expect(200);
    assert_eq!(
        conditions(&accepted),
        [("NamesAccepted", "True", "NoConflicts"), ("Established", "True", "InitialNamesAccepted")]
    );
    client.get("/apis/ref.dev/v1/gadgets").await.expect(200);
}

#[tokio::test]
async fn a_definition_takes_its_objects_along() {
    let client = Client::new();
    client.install(&definition(&json!([v1(&json!({}))]))).await;
    client.post(WIDGETS, &widget("a", &json!({}))).await.expect(201);
    let held = json!({"metadata": {"finalizers": ["ref.dev/hold"]}});
    client.post(WIDGETS, &widget("b", &held)).await.expect(201);

    let deleted = client.delete(DEFINITION).await.expect(200);
    assert_eq!(deleted["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert_eq!(conditions(&deleted)[2], ("Terminating", "True", "InstanceDeletionPending"));

    let waiting = client.get(DEFINITION).await.expect(200);
    assert_eq!(conditions(&waiting)[2], ("Terminating", "True", "InstanceDeletionInProgress"));
    let left = client.get(WIDGETS).await.expect(200);
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    let refused = client.post(WIDGETS, &widget("c", &json!({}))).await.expect(403);
    assert_eq!(
        refused["message"],
        "widgets.ref.dev \"c\" is forbidden: create not allowed while custom resource definition is terminating"
    );

    client.merge(&format!("{WIDGETS}/b"), &json!({"metadata": {"finalizers": null}})).await.expect(200);
    client.get(DEFINITION).await.expect(404);
    client.get(WIDGETS).await.expect(404);
    client.get("/apis/ref.dev").await.expect(404);

    client.install(&definition(&json!([v1(&json!({}))]))).await;
    assert_eq!(client.get(WIDGETS).await.expect(200)["items"], json!([]), "a new definition starts empty");
}
