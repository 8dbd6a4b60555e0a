use serde_json::{Value, json};

use crate::api::Api;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn a_delete_without_finalizers_is_done_at_once() {
    let api = Api::new();
    let created = api.ok("POST", MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a");
    for (body, message) in [
        (
            json!({"preconditions": {"uid": "z"}}),
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (z) does not match the UID in record (",
        ),
        (
            json!({"preconditions": {"resourceVersion": "1"}}),
            "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (",
        ),
    ] {
        api.refused("DELETE", &path, body, (409, "Conflict", message)).await;
    }
    for (body, code) in [
        (json!({"propagationPolicy": "Foo"}), 422),
        (json!({"propagationPolicy": "Orphan", "orphanDependents": true}), 422),
        (json!({"kind": "Pod", "apiVersion": "v1"}), 400),
        (json!({"gracePeriodSeconds": "x"}), 400),
        (json!([]), 400),
    ] {
        assert_eq!(api.send("DELETE", &path, body.clone()).await.code, code, "{body}");
    }
    let gone = api.ok("DELETE", &path, json!({"preconditions": {"uid": created.at("/metadata/uid")}})).await;
    assert_eq!(
        gone.body,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": "a", "kind": "configmaps", "uid": created.at("/metadata/uid")}})
    );
    api.refused("DELETE", &path, Value::Null, (404, "NotFound", "configmaps \"a\" not found")).await;
}

#[tokio::test(start_paused = true)]
async fn finalizers_keep_an_object_until_they_are_gone() {
    let api = Api::new();
    let path = format!("{MAPS}/a");
    let object = |finalizers: &[&str], data: &str| json!({"metadata": {"name": "a", "finalizers": finalizers}, "data": {"v": data}});
    let mut with_time = object(&["ref.dev/a"], "1");
    with_time["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
    let created = api.ok("POST", MAPS, with_time.clone()).await;
    assert_eq!(created.at("/metadata/deletionTimestamp"), Value::Null);
    let mut watch = api.watch(&format!("{MAPS}?watch=1&resourceVersion={}", created.revision())).await;
    api.refused("PUT", &path, with_time, (422, "Invalid", "ConfigMap \"a\" is invalid: metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable")).await;
    let deleting = api.ok("DELETE", &path, Value::Null).await;
    assert_eq!(
        (deleting.at("/metadata/deletionTimestamp"), deleting.at("/metadata/deletionGracePeriodSeconds")),
        (json!("2026-01-01T00:00:00Z"), json!(0))
    );
    tokio::time::advance(std::time::Duration::from_secs(2)).await;
    assert_eq!(api.ok("DELETE", &path, Value::Null).await.body, deleting.body);
    api.refused("PUT", &path, object(&["ref.dev/a", "ref.dev/b"], "1"), (422, "Invalid", "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"ref.dev/b\"}")).await;
    let changed = api.ok("PUT", &path, object(&["ref.dev/a"], "2")).await;
    assert_eq!(changed.at("/metadata/deletionTimestamp"), deleting.at("/metadata/deletionTimestamp"));
    api.refused(
        "POST",
        MAPS,
        object(&[], "1"),
        (409, "AlreadyExists", "object is being deleted: configmaps \"a\" already exists"),
    )
    .await;
    api.ok("PUT", &path, object(&[], "2")).await;
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(
        watch.now("/object/metadata/finalizers").await,
        ["MODIFIED [\"ref.dev/a\"]", "MODIFIED [\"ref.dev/a\"]", "DELETED [\"ref.dev/a\"]"]
    );
}

#[tokio::test]
async fn a_collection_is_deleted_by_selection() {
    let api = Api::new();
    for name in ["a", "b", "c"] {
        api.ok("POST", MAPS, json!({"metadata": {"name": name, "labels": {"l": name}}})).await;
    }
    let deleted = api.ok("DELETE", &format!("{MAPS}?labelSelector=l%20in%20(a,b)"), Value::Null).await;
    assert_eq!(
        (deleted.text("/kind"), deleted.names()),
        ("ConfigMapList".to_owned(), vec!["a".to_owned(), "b".into()])
    );
    assert_eq!(api.get(MAPS).await.names(), ["c"]);
}

#[tokio::test]
async fn a_collection_is_deleted_page_by_page() {
    let api = Api::new();
    for name in ["a", "b", "c"] {
        api.ok("POST", MAPS, json!({"metadata": {"name": name}})).await;
    }
    let first = api.ok("DELETE", &format!("{MAPS}?limit=1"), Value::Null).await;
    assert_eq!((first.names(), first.at("/metadata/remainingItemCount")), (vec!["a".to_owned()], json!(2)));
    assert_eq!(api.get(MAPS).await.names(), ["b", "c"]);
    let next = first.text("/metadata/continue");
    let second = api.ok("DELETE", &format!("{MAPS}?limit=1&continue={next}"), Value::Null).await;
    assert_eq!((second.names(), second.revision()), (vec!["b".to_owned()], first.revision()));
    assert_eq!(api.get(MAPS).await.names(), ["c"]);
    assert_eq!(api.send("DELETE", &format!("{MAPS}?continue=x"), Value::Null).await.code, 400);
}

#[tokio::test]
async fn system_namespaces_stay() {
    let api = Api::new();
    for name in ["default", "kube-system", "kube-public"] {
        let message = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        api.refused("DELETE", &format!("/api/v1/namespaces/{name}"), Value::Null, (403, "Forbidden", &message)).await;
    }
}
