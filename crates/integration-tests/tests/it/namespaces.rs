//! A namespace goes with all that is in it, and takes nothing new meanwhile.

use integration_tests::{Fixture, PatchType, widget};
use serde_json::{Value, json};

#[tokio::test]
async fn a_namespace_must_exist() {
    let fixture = Fixture::start("absent-ns").await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}});
    let refused = fixture.post("/api/v1/namespaces/absent/configmaps", &map).await.refused(404, "NotFound");
    assert_eq!(refused["message"], "namespaces \"absent\" not found");
    let list = fixture.get("/api/v1/namespaces/absent/configmaps").await.expect(200);
    assert_eq!(list["items"], json!([]));
    fixture.stop().await;
}

#[tokio::test]
async fn a_namespace_is_emptied() {
    let Some(fixture) = Fixture::start_with_controllers("emptied").await else { return };
    let (maps, widgets) = (fixture.core("configmaps"), fixture.install_widgets().await);
    let namespace = format!("/api/v1/namespaces/{}", fixture.namespace());
    let map = |name: &str, finalizers: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "finalizers": finalizers}});
    fixture.post(&maps, &map("free", json!([]))).await.expect(201);
    fixture.post(&maps, &map("held", json!(["it.controller-runtime.dev/hold"]))).await.expect(201);
    fixture.post(&widgets, &widget(&fixture.group(), "one", &json!({"color": "red"}))).await.expect(201);

    let deleting = fixture.delete(&namespace, &Value::Null).await.expect(200);
    assert_eq!((&deleting["kind"], &deleting["status"]["phase"]), (&"Namespace".into(), &"Terminating".into()));
    let refused = fixture.post(&maps, &map("late", json!([]))).await.refused(403, "Forbidden");
    assert_eq!(refused["details"]["causes"][0]["reason"], "NamespaceTerminating");
    let refused = fixture.post(&widgets, &widget(&fixture.group(), "late", &json!({"color": "red"}))).await;
    refused.refused(403, "Forbidden");

    fixture.gone(&format!("{maps}/free")).await;
    fixture.gone(&format!("{widgets}/one")).await;
    let held = format!("{maps}/held");
    fixture.until(&held, |answer| answer.body["metadata"]["deletionTimestamp"].is_string()).await;
    fixture.get(&namespace).await.expect(200);

    fixture.patch(PatchType::Merge, &held, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    fixture.gone(&namespace).await;
    fixture.stop().await;
}

#[tokio::test]
async fn some_namespaces_stay() {
    let fixture = Fixture::start("stay").await;
    for name in ["default", "kube-system", "kube-public"] {
        fixture.delete(&format!("/api/v1/namespaces/{name}"), &Value::Null).await.refused(403, "Forbidden");
    }
    fixture.stop().await;
}
