//! What the status and scale subresources change, and when the generation counts.

use serde_json::{Value, json};

use crate::client::{Client, definition, v1, widget};

const WIDGETS: &str = "/apis/ref.dev/v1/namespaces/default/widgets";

async fn with_subresources(subresources: &Value) -> Client {
    let client = Client::new();
    client.install(&definition(&json!([v1(subresources)]))).await;
    client
}

fn revision(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn main_and_status_keep_each_other() {
    let client = with_subresources(&json!({"status": {}})).await;
    let (main, status) = (format!("{WIDGETS}/st"), format!("{WIDGETS}/st/status"));

    let created = client.post(WIDGETS, &widget("st", &json!({"spec": {"a": 1}, "status": {"phase": "X"}}))).await;
    let created = created.expect(201);
    assert_eq!(created.get("status"), None, "create drops the status");

    let mut object = created;
    object["metadata"]["labels"] = json!({"l": "1"});
    object["spec"]["a"] = json!(2);
    object["status"] = json!({"phase": "Y"});
    let mut object = client.put(&main, &object).await.expect(200);
    assert_eq!(object.get("status"), None, "update of the object leaves the status");
    assert_eq!(object["spec"]["a"], 2);

    object["metadata"]["labels"] = json!({"l": "2"});
    object["metadata"]["annotations"] = json!({"an": "1"});
    object["metadata"]["finalizers"] = json!(["ref.dev/x"]);
    object["spec"]["a"] = json!(99);
    object["status"] = json!({"phase": "Z"});
    let object = client.put(&status, &object).await.expect(200);
    assert_eq!(object["spec"]["a"], 2, "update of the status leaves the rest");
    assert_eq!(object["metadata"]["labels"], json!({"l": "1"}));
    assert_eq!(object["metadata"].get("annotations"), None);
    assert_eq!(object["metadata"].get("finalizers"), None);
    assert_eq!(object["status"]["phase"], "Z");

    let patched = client.merge(&main, &json!({"status": {"phase": "NO"}})).await.expect(200);
    assert_eq!(patched["status"]["phase"], "Z");
    assert_eq!(revision(&patched), revision(&object), "nothing was changed");
}

#[tokio::test]
async fn without_the_subresource_status_is_a_field_like_others() {
    let client = with_subresources(&json!({})).await;
    let created = client.post(WIDGETS, &widget("n", &json!({"status": {"phase": "p"}}))).await.expect(201);
    assert_eq!(created["status"]["phase"], "p");
    let patched = client.merge(&format!("{WIDGETS}/n"), &json!({"status": {"phase": "q"}})).await.expect(200);
    assert_eq!(patched["status"]["phase"], "q");
    assert_eq!(patched["metadata"]["generation"], 2);
    client.merge(&format!("{WIDGETS}/n/status"), &json!({"status": {"phase": "r"}})).await.expect(404);
}

#[tokio::test]
async fn generation_counts_changes_of_what_is_wanted() {
    let client = with_subresources(&json!({"status": {}})).await;
    let path = format!("{WIDGETS}/g");
    let generation = |object: &Value| object["metadata"]["generation"].as_i64().unwrap();
    let metadata = json!({"generation": 42, "finalizers": ["ref.dev/f"]});
    let created = client.post(WIDGETS, &widget("g", &json!({"metadata": metadata, "spec": {}}))).await.expect(201);
    assert_eq!(generation(&created), 1);
    let object = client.merge(&path, &json!({"metadata": {"labels": {"a": "b"}}})).await.expect(200);
    assert_eq!(generation(&object), 1);
    let status = client.merge(&format!("{path}/status"), &json!({"status": {"phase": "x"}})).await.expect(200);
    assert_eq!(generation(&status), 1);
    let spec = client.merge(&path, &json!({"spec": {"a": 1}})).await.expect(200);
    assert_eq!(generation(&spec), 2);

    for same in [json!({}), json!({"metadata": {"generation": 99}})] {
        let unchanged = client.merge(&path, &same).await.expect(200);
        assert_eq!(revision(&unchanged), revision(&spec), "{same}");
    }
    assert_eq!(client.put(&path, &spec).await.expect(200), spec);

    let deleted = client.delete(&path).await.expect(200);
    assert_eq!(generation(&deleted), 3, "a deletion that waits is a change");
    client.merge(&path, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    client.get(&path).await.expect(404);
}

#[tokio::test]
async fn scale_shows_and_sets_replicas() {
    let scale = json!({"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}});
    let client = with_subresources(&scale).await;
    let path = format!("{WIDGETS}/s/scale");
    client.post(WIDGETS, &widget("s", &json!({"spec": {"replicas": 2}}))).await.expect(201);
    client
        .merge(&format!("{WIDGETS}/s/status"), &json!({"status": {"replicas": 1, "selector": "a=b"}}))
        .await
        .expect(200);

    let mut scale = client.get(&path).await.expect(200);
    assert_eq!(scale["kind"], "Scale");
    assert_eq!(scale["apiVersion"], "autoscaling/v1");
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "a=b"}));

    scale["spec"]["replicas"] = json!(5);
    assert_eq!(client.put(&path, &scale).await.expect(200)["spec"]["replicas"], 5);
    let object = client.get(&format!("{WIDGETS}/s")).await.expect(200);
    assert_eq!(object["spec"]["replicas"], 5);
    assert_eq!(object["metadata"]["generation"], 2);

    let refused = client.merge(&format!("{WIDGETS}/s"), &json!({"spec": {"replicas": -1}})).await;
    assert_eq!(refused.code, 422, "{}", refused.body);
    assert_eq!(refused.causes(), [(".spec.replicas", "FieldValueInvalid")]);
}
