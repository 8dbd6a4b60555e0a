//! Custom resources: from the definition to the objects, and back.

use controller_runtime_testenv::Crds;
use integration_tests::{Fixture, PatchType, widget, widget_definition};
use serde_json::{Value, json};

#[tokio::test]
async fn a_definition_is_accepted_established_and_served() {
    let fixture = Fixture::start("served").await;
    let group = fixture.group();
    fixture.get(&format!("/apis/{group}")).await.expect(404);
    let path = fixture.install_widgets().await;

    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = fixture.get(&format!("{definitions}/widgets.{group}")).await.expect(200);
    let conditions = definition["status"]["conditions"].as_array().unwrap();
    let mut found =
        conditions.iter().map(|c| (c["type"].as_str().unwrap(), c["status"].as_str().unwrap())).collect::<Vec<_>>();
    found.sort_unstable();
    assert_eq!(found, [("Established", "True"), ("NamesAccepted", "True")]);
    assert_eq!(definition["status"]["acceptedNames"]["kind"], "Widget");

    let resources = fixture.get(&format!("/apis/{group}/v1")).await.expect(200);
    let mut names =
        resources["resources"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect::<Vec<_>>();
    names.sort_unstable();
    assert_eq!(names, ["widgets", "widgets/scale", "widgets/status"]);
    let list = fixture.get(&path).await.expect(200);
    assert_eq!((&list["kind"], &list["items"]), (&"WidgetList".into(), &json!([])));
    fixture.stop().await;
}

#[tokio::test]
async fn objects_are_pruned_defaulted_and_validated() {
    let fixture = Fixture::start("schema").await;
    let path = fixture.install_widgets().await;
    let group = fixture.group();
    let created = fixture.post(&path, &widget(&group, "one", &json!({"color": "red", "unknown": 1}))).await.expect(201);
    assert_eq!(created["spec"], json!({"color": "red", "replicas": 1}));

    for (spec, reason, field) in [
        (json!({}), "FieldValueRequired", "spec.color"),
        (json!({"color": "pink"}), "FieldValueNotSupported", "spec.color"),
        (json!({"color": "red", "replicas": -1}), "FieldValueInvalid", "spec.replicas"),
        (json!({"color": "red", "replicas": "many"}), "FieldValueTypeInvalid", "spec.replicas"),
        (json!({"color": "red", "parts": [{"name": "a"}, {"name": "a"}]}), "FieldValueDuplicate", "spec.parts[1]"),
    ] {
        let refused = fixture.post(&path, &widget(&group, "two", &spec)).await.refused(422, "Invalid");
        let cause = &refused["details"]["causes"][0];
        assert_eq!((&cause["reason"], &cause["field"]), (&reason.into(), &field.into()), "{spec}: {refused}");
    }
    fixture.get(&format!("{path}/two")).await.refused(404, "NotFound");
    fixture.stop().await;
}

#[tokio::test]
async fn a_definition_changes_live() {
    let fixture = Fixture::start("live").await;
    let path = fixture.install_widgets().await;
    let group = fixture.group();
    fixture.post(&path, &widget(&group, "pink", &json!({"color": "pink"}))).await.refused(422, "Invalid");

    let mut definition = widget_definition(&group);
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/enum";
    *definition.pointer_mut(spec).unwrap() = json!(["pink"]);
    fixture.env().install(&Crds::new().with(&definition).unwrap()).await.unwrap();
    // A server may take a moment to use the new schema, so what it refuses may still be the old one.
    let pink = widget(&group, "pink", &json!({"color": "pink"}));
    while fixture.post(&format!("{path}?dryRun=All"), &pink).await.code != 201 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    fixture.post(&path, &pink).await.expect(201);
    fixture.stop().await;
}

#[tokio::test]
async fn objects_go_with_their_definition() {
    let fixture = Fixture::start("definition-gone").await;
    let path = fixture.install_widgets().await;
    let group = fixture.group();
    let mut held = widget(&group, "held", &json!({"color": "red"}));
    held["metadata"]["finalizers"] = json!(["it.controller-runtime.dev/hold"]);
    fixture.post(&path, &held).await.expect(201);
    fixture.post(&path, &widget(&group, "free", &json!({"color": "red"}))).await.expect(201);

    let definition = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}");
    fixture.delete(&definition, &Value::Null).await.expect(200);
    fixture.gone(&format!("{path}/free")).await;
    fixture.until(&format!("{path}/held"), |answer| answer.body["metadata"]["deletionTimestamp"].is_string()).await;
    fixture.get(&definition).await.expect(200);
    let released = json!({"metadata": {"finalizers": null}});
    fixture.patch(PatchType::Merge, &format!("{path}/held"), &released).await.expect(200);
    fixture.gone(&definition).await;
    fixture.until(&path, |answer| answer.code == 404).await;
    fixture.stop().await;
}
