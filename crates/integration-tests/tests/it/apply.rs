//! Server-side apply: who owns which field, and what happens when two want the same.

use integration_tests::{Fixture, PatchType, widget};
use serde_json::{Value, json};

/// The managers that own a field, sorted.
fn owners(object: &Value, pointer: &str) -> Vec<String> {
    let fields = pointer.replace('/', "/f:");
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let owning = entries.iter().filter(|entry| entry["fieldsV1"].pointer(&fields).is_some());
    let mut managers = owning.map(|entry| entry["manager"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    managers.sort_unstable();
    managers
}

#[tokio::test]
async fn a_field_has_its_owner() {
    let fixture = Fixture::start("owner").await;
    let path = fixture.install_widgets().await;
    let one = format!("{path}/one");
    let group = fixture.group();
    let first = widget(&group, "one", &json!({"color": "red", "replicas": 1}));
    let created = fixture.patch(PatchType::Apply("first", false), &one, &first).await.expect(201);
    assert_eq!(owners(&created, "/spec/color"), ["first"]);

    let second = widget(&group, "one", &json!({"color": "green"}));
    let conflict = fixture.patch(PatchType::Apply("second", false), &one, &second).await.refused(409, "Conflict");
    assert_eq!(conflict["message"], "Apply failed with 1 conflict: conflict with \"first\": .spec.color");
    let cause = &conflict["details"]["causes"][0];
    assert_eq!((&cause["reason"], &cause["field"]), (&"FieldManagerConflict".into(), &".spec.color".into()));
    assert_eq!(fixture.get(&one).await.expect(200), created, "a conflict changes nothing");

    let forced = fixture.patch(PatchType::Apply("second", true), &one, &second).await.expect(200);
    assert_eq!(forced["spec"], json!({"color": "green", "replicas": 1}));
    assert_eq!(
        (owners(&forced, "/spec/color"), owners(&forced, "/spec/replicas")),
        (vec!["second".to_owned()], vec!["first".to_owned()])
    );
    fixture.stop().await;
}

#[tokio::test]
async fn equal_values_are_shared_and_left_ones_go() {
    let fixture = Fixture::start("shared").await;
    let path = fixture.core("configmaps");
    let one = format!("{path}/one");
    let map = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data});
    fixture.patch(PatchType::Apply("first", false), &one, &map(json!({"a": "1", "b": "2"}))).await.expect(201);
    let shared = fixture.patch(PatchType::Apply("second", false), &one, &map(json!({"a": "1"}))).await.expect(200);
    assert_eq!(owners(&shared, "/data/a"), ["first", "second"]);

    let left = fixture.patch(PatchType::Apply("first", false), &one, &map(json!({}))).await.expect(200);
    assert_eq!(left["data"], json!({"a": "1"}), "what nobody owns goes, what another owns stays");
    assert_eq!(owners(&left, "/data/a"), ["second"]);
    fixture.stop().await;
}

#[tokio::test]
async fn lists_merge_by_their_keys() {
    let fixture = Fixture::start("lists").await;
    let path = fixture.install_widgets().await;
    let one = format!("{path}/one");
    let group = fixture.group();
    let parts = |parts: Value| widget(&group, "one", &json!({"color": "red", "parts": parts}));
    fixture.patch(PatchType::Apply("first", false), &one, &parts(json!([{"name": "a", "size": 1}]))).await.expect(201);
    let both = fixture.patch(PatchType::Apply("second", false), &one, &parts(json!([{"name": "b", "size": 2}]))).await;
    assert_eq!(both.expect(200)["spec"]["parts"], json!([{"name": "a", "size": 1}, {"name": "b", "size": 2}]));
    let conflict =
        fixture.patch(PatchType::Apply("second", false), &one, &parts(json!([{"name": "a", "size": 9}]))).await;
    let conflict = conflict.refused(409, "Conflict");
    assert_eq!(conflict["details"]["causes"][0]["field"], ".spec.parts[name=\"a\"].size");
    fixture.stop().await;
}

#[tokio::test]
async fn an_update_is_a_manager_too() {
    let fixture = Fixture::start("update").await;
    let path = fixture.install_widgets().await;
    let one = format!("{path}/one");
    let group = fixture.group();
    let object = widget(&group, "one", &json!({"color": "red"}));
    let created = fixture.post(&format!("{path}?fieldManager=creator"), &object).await.expect(201);
    assert_eq!(owners(&created, "/spec/color"), ["creator"]);
    let applied = widget(&group, "one", &json!({"color": "blue"}));
    let conflict = fixture.patch(PatchType::Apply("first", false), &one, &applied).await.refused(409, "Conflict");
    let message = conflict["message"].as_str().unwrap();
    assert!(message.starts_with("Apply failed with 1 conflict: conflict with \"creator\" using "), "{message}");
    fixture.stop().await;
}
