//! What the verbs do to an object, at the level of HTTP.

use integration_tests::{Fixture, PatchType, widget};
use serde_json::{Value, json};

fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}})
}

#[tokio::test]
async fn an_object_lives_and_dies() {
    let fixture = Fixture::start("lives").await;
    let path = fixture.core("configmaps");
    let one = format!("{path}/one");
    fixture.get(&one).await.refused(404, "NotFound");

    let created = fixture.post(&path, &config_map("one", "a")).await.expect(201);
    assert!(created["metadata"]["uid"].is_string() && created["metadata"]["creationTimestamp"].is_string());
    fixture.post(&path, &config_map("one", "b")).await.refused(409, "AlreadyExists");
    assert_eq!(fixture.get(&one).await.expect(200), created);

    let mut changed = created.clone();
    changed["data"]["key"] = "b".into();
    let replaced = fixture.put(&one, &changed).await.expect(200);
    assert_ne!(replaced["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    assert_eq!(replaced["metadata"]["uid"], created["metadata"]["uid"]);
    fixture.put(&one, &changed).await.refused(409, "Conflict");
    assert_eq!(fixture.get(&one).await.expect(200), replaced, "a refused write changes nothing");

    let list = fixture.get(&path).await.expect(200);
    assert_eq!((&list["kind"], list["items"].as_array().unwrap().len()), (&"ConfigMapList".into(), 1));

    fixture.delete(&one, &Value::Null).await.expect(200);
    fixture.get(&one).await.refused(404, "NotFound");
    fixture.delete(&one, &Value::Null).await.refused(404, "NotFound");
    fixture.stop().await;
}

#[tokio::test]
async fn the_three_patches() {
    let fixture = Fixture::start("patches").await;
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", fixture.namespace());
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "1", "b": "2"}},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "one", "image": "one:1"}, {"name": "two", "image": "two:1"}]},
        }},
    });
    fixture.post(&path, &deployment).await.expect(201);
    let web = format!("{path}/web");
    let containers = |object: &Value| {
        let list = object["spec"]["template"]["spec"]["containers"].as_array().unwrap().clone();
        list.iter().map(|item| item["image"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    let merge = json!({"metadata": {"labels": {"a": null, "c": "3"}}});
    let patched = fixture.patch(PatchType::Merge, &web, &merge).await.expect(200);
    assert_eq!(patched["metadata"]["labels"], json!({"b": "2", "c": "3"}));
    assert_eq!(patched["metadata"]["generation"], 1, "labels are not spec");

    let strategic = json!({"spec": {"template": {"spec": {"containers": [{"name": "two", "image": "two:2"}]}}}});
    let patched = fixture.patch(PatchType::Strategic, &web, &strategic).await.expect(200);
    assert_eq!(containers(&patched), ["one:1", "two:2"]);
    assert_eq!(patched["metadata"]["generation"], 2);

    let refused = json!([
        {"op": "replace", "path": "/spec/replicas", "value": 7},
        {"op": "test", "path": "/metadata/labels/b", "value": "no"},
    ]);
    fixture.patch(PatchType::Json, &web, &refused).await.refused(422, "Invalid");
    assert_eq!(fixture.get(&web).await.expect(200), patched, "a patch is applied whole or not at all");
    let accepted = json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]);
    assert_eq!(fixture.patch(PatchType::Json, &web, &accepted).await.expect(200)["spec"]["replicas"], 7);
    fixture.stop().await;
}

#[tokio::test]
async fn status_and_scale_are_apart() {
    let fixture = Fixture::start("subresources").await;
    let path = fixture.install_widgets().await;
    let one = format!("{path}/one");
    let mut object = widget(&fixture.group(), "one", &json!({"color": "red"}));
    object["status"] = json!({"phase": "New"});
    let created = fixture.post(&path, &object).await.expect(201);
    assert_eq!((&created["status"], &created["spec"]["replicas"]), (&Value::Null, &json!(1)));

    let status = json!({"spec": {"color": "blue"}, "status": {"phase": "Ready"}});
    let patched = fixture.patch(PatchType::Merge, &format!("{one}/status"), &status).await.expect(200);
    assert_eq!((&patched["spec"]["color"], &patched["status"]), (&json!("red"), &json!({"phase": "Ready"})));
    assert_eq!(patched["metadata"]["generation"], 1);

    let scale = fixture.get(&format!("{one}/scale")).await.expect(200);
    assert_eq!((&scale["kind"], &scale["spec"]["replicas"]), (&"Scale".into(), &json!(1)));
    let scaled = json!({"spec": {"replicas": 4}});
    fixture.patch(PatchType::Merge, &format!("{one}/scale"), &scaled).await.expect(200);
    let after = fixture.get(&one).await.expect(200);
    assert_eq!((&after["spec"]["replicas"], &after["metadata"]["generation"]), (&json!(4), &json!(2)));
    fixture.stop().await;
}

#[tokio::test]
async fn a_dry_run_leaves_nothing() {
    let fixture = Fixture::start("dry-run").await;
    let path = fixture.core("configmaps");
    fixture.post(&format!("{path}?dryRun=All"), &config_map("one", "a")).await.expect(201);
    fixture.get(&format!("{path}/one")).await.refused(404, "NotFound");

    let created = fixture.post(&path, &config_map("one", "a")).await.expect(201);
    let change = json!({"data": {"key": "b"}});
    let dry = fixture.patch(PatchType::Merge, &format!("{path}/one?dryRun=All"), &change).await.expect(200);
    assert_eq!(dry["data"]["key"], "b");
    fixture.delete(&format!("{path}/one?dryRun=All"), &Value::Null).await.expect(200);
    assert_eq!(fixture.get(&format!("{path}/one")).await.expect(200), created);
    fixture.stop().await;
}

#[tokio::test]
async fn finalizers_hold_an_object() {
    let fixture = Fixture::start("finalizers").await;
    let path = fixture.core("configmaps");
    let one = format!("{path}/one");
    let mut map = config_map("one", "a");
    map["metadata"]["finalizers"] = json!(["it.controller-runtime.dev/hold"]);
    fixture.post(&path, &map).await.expect(201);

    let deleting = fixture.delete(&one, &Value::Null).await.expect(200);
    assert!(deleting["metadata"]["deletionTimestamp"].is_string(), "{deleting}");
    let mut added = fixture.get(&one).await.expect(200);
    added["metadata"]["finalizers"] = json!(["it.controller-runtime.dev/hold", "it.controller-runtime.dev/late"]);
    fixture.put(&one, &added).await.refused(422, "Invalid");

    let released = json!({"metadata": {"finalizers": null}});
    fixture.patch(PatchType::Merge, &one, &released).await.expect(200);
    fixture.get(&one).await.refused(404, "NotFound");
    fixture.stop().await;
}

#[tokio::test]
async fn selectors_choose() {
    let fixture = Fixture::start("selectors").await;
    let path = fixture.core("configmaps");
    for (name, tier) in [("one", "front"), ("two", "back"), ("three", "back")] {
        let mut map = config_map(name, "a");
        map["metadata"]["labels"] = json!({"tier": tier});
        fixture.post(&path, &map).await.expect(201);
    }
    for (query, expected) in [
        ("labelSelector=tier%3Dback", vec!["three", "two"]),
        ("labelSelector=tier!%3Dback", vec!["one"]),
        ("labelSelector=tier%20in%20(front,side)", vec!["one"]),
        ("labelSelector=!tier", vec![]),
        ("fieldSelector=metadata.name%3Dtwo", vec!["two"]),
        ("labelSelector=tier%3Dback&fieldSelector=metadata.name!%3Dtwo", vec!["three"]),
    ] {
        let list = fixture.get(&format!("{path}?{query}")).await.expect(200);
        let names = list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), expected, "{query}");
    }
    fixture.get(&format!("{path}?labelSelector=tier%20back")).await.refused(400, "BadRequest");
    fixture.get(&format!("{path}?fieldSelector=data%3Dx")).await.refused(400, "BadRequest");
    fixture.stop().await;
}
