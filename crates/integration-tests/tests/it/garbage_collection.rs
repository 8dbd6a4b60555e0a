//! Objects go with their owners.

use integration_tests::Fixture;
use serde_json::{Value, json};

fn map(name: &str, owner: Option<&Value>) -> Value {
    let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    if let Some(owner) = owner {
        map["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    map
}

#[tokio::test]
async fn children_go_with_their_owner() {
    let Some(fixture) = Fixture::start_with_controllers("gc-background").await else { return };
    let path = fixture.core("configmaps");
    let owner = fixture.post(&path, &map("owner", None)).await.expect(201);
    let child = fixture.post(&path, &map("child", Some(&owner))).await.expect(201);
    fixture.post(&path, &map("grandchild", Some(&child))).await.expect(201);
    fixture.post(&path, &map("stranger", None)).await.expect(201);

    fixture.delete(&format!("{path}/owner"), &json!({"propagationPolicy": "Background"})).await.expect(200);
    fixture.get(&format!("{path}/owner")).await.refused(404, "NotFound");
    fixture.gone(&format!("{path}/child")).await;
    fixture.gone(&format!("{path}/grandchild")).await;
    fixture.get(&format!("{path}/stranger")).await.expect(200);
    fixture.stop().await;
}

#[tokio::test]
async fn an_owner_waits_in_the_foreground() {
    let Some(fixture) = Fixture::start_with_controllers("gc-foreground").await else { return };
    let path = fixture.core("configmaps");
    let owner = fixture.post(&path, &map("owner", None)).await.expect(201);
    let mut held = map("child", Some(&owner));
    held["metadata"]["finalizers"] = json!(["it.controller-runtime.dev/hold"]);
    fixture.post(&path, &held).await.expect(201);

    let deleting =
        fixture.delete(&format!("{path}/owner"), &json!({"propagationPolicy": "Foreground"})).await.expect(200);
    assert_eq!(deleting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let child = format!("{path}/child");
    fixture.until(&child, |answer| answer.body["metadata"]["deletionTimestamp"].is_string()).await;
    fixture.get(&format!("{path}/owner")).await.expect(200);

    let released = json!({"metadata": {"finalizers": null}});
    fixture.patch(integration_tests::PatchType::Merge, &child, &released).await.expect(200);
    fixture.gone(&format!("{path}/owner")).await;
    fixture.stop().await;
}

#[tokio::test]
async fn orphans_stay() {
    let Some(fixture) = Fixture::start_with_controllers("gc-orphan").await else { return };
    let path = fixture.core("configmaps");
    let owner = fixture.post(&path, &map("owner", None)).await.expect(201);
    fixture.post(&path, &map("child", Some(&owner))).await.expect(201);

    fixture.delete(&format!("{path}/owner"), &json!({"propagationPolicy": "Orphan"})).await.expect(200);
    fixture.gone(&format!("{path}/owner")).await;
    let child = fixture.get(&format!("{path}/child")).await.expect(200);
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
    fixture.stop().await;
}

#[tokio::test]
async fn a_child_of_nobody_goes() {
    let Some(fixture) = Fixture::start_with_controllers("gc-absent").await else { return };
    let path = fixture.core("configmaps");
    let absent = json!({"metadata": {"name": "owner", "uid": "00000000-0000-4000-8000-000000000000"}});
    fixture.post(&path, &map("child", Some(&absent))).await.expect(201);
    fixture.gone(&format!("{path}/child")).await;
    fixture.stop().await;
}

#[tokio::test]
async fn custom_resources_own_and_are_owned() {
    let Some(fixture) = Fixture::start_with_controllers("gc-custom").await else { return };
    let widgets = fixture.install_widgets().await;
    let maps = fixture.core("configmaps");
    let widget = integration_tests::widget(&fixture.group(), "owner", &json!({"color": "red"}));
    let owner = fixture.post(&widgets, &widget).await.expect(201);
    let mut child = map("child", None);
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"], "kind": "Widget", "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    fixture.post(&maps, &child).await.expect(201);
    fixture.delete(&format!("{widgets}/owner"), &Value::Null).await.expect(200);
    fixture.gone(&format!("{maps}/child")).await;
    fixture.stop().await;
}
