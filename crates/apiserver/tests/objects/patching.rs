use serde_json::{Value, json};

use crate::api::{Answer, Api};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

const MAP: &str = "/api/v1/namespaces/default/configmaps/a";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/d";

async fn patch(api: &Api, path: &str, content_type: &str, change: &Value) -> Answer {
    api.send_as("PATCH", path, content_type, &change.to_string()).await
}

async fn with_map() -> Api {
    let api = Api::new();
    let map = json!({"metadata": {"name": "a", "labels": {"y": "2"}}, "data": {"k": "v", "l": "w"}});
    api.ok("POST", "/api/v1/namespaces/default/configmaps", map).await;
    api
}

#[tokio::test]
async fn merge_patches_delete_with_null() {
    let api = with_map().await;
    let change = json!({"metadata": {"labels": {"x": "1", "y": null}}, "data": {"k": null, "m": "n"}});
    let answer = patch(&api, MAP, MERGE, &change).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(answer.at("/data"), json!({"l": "w", "m": "n"}));
    assert_eq!(answer.at("/metadata/labels"), json!({"x": "1"}));
}

#[tokio::test]
async fn a_patch_that_changes_nothing_is_no_new_version() {
    let api = with_map().await;
    let before = api.get(MAP).await;
    for (content_type, change) in [
        (MERGE, json!({"data": {"k": "v"}})),
        (STRATEGIC, json!({})),
        (JSON_PATCH, json!([{"op": "test", "path": "/data/k", "value": "v"}])),
    ] {
        let answer = patch(&api, MAP, content_type, &change).await;
        assert_eq!((answer.code, answer.body), (200, before.body.clone()), "{content_type}");
    }
}

#[tokio::test]
async fn json_patches_are_all_or_nothing() {
    let api = with_map().await;
    let before = api.get(MAP).await.body;
    for (operations, code, reason) in [
        (json!([{"op": "remove", "path": "/data/k"}, {"op": "test", "path": "/data/l", "value": "x"}]), 422, "Invalid"),
        (json!([{"op": "add", "path": "invalid", "value": 1}]), 422, "Invalid"),
        (json!([{"op": "remove", "path": "/data/nope"}]), 422, "Invalid"),
        (json!({"op": "x"}), 400, "BadRequest"),
        (json!([{"op": "replace", "path": "/metadata/name", "value": "b"}]), 400, "BadRequest"),
        (json!([{"op": "replace", "path": "/metadata/uid", "value": "b"}]), 422, "Invalid"),
        (json!([{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]), 409, "Conflict"),
        (json!([{"op": "replace", "path": "/data", "value": 5}]), 422, "Invalid"),
    ] {
        let answer = patch(&api, MAP, JSON_PATCH, &operations).await;
        assert_eq!((answer.code, answer.text("/reason").as_str()), (code, reason), "{operations}");
    }
    assert_eq!(api.get(MAP).await.body, before);
}

#[tokio::test]
async fn patches_that_cannot_be_read_are_refused() {
    let api = with_map().await;
    let force = format!("{MAP}?force=true");
    let manager = format!("{MAP}?fieldManager={}", "x".repeat(129));
    let missing = "/api/v1/namespaces/default/configmaps/none";
    for (path, content_type, body, code, message) in [
        (MAP, JSON_PATCH, "{notjson", 400, "invalid JSON patch"),
        (MAP, MERGE, "{notjson", 400, "invalid JSON patch"),
        (MAP, "application/json", "{}", 415, "415: Unsupported Media Type"),
        (missing, MERGE, "{}", 404, "configmaps \"none\" not found"),
        (
            force.as_str(),
            MERGE,
            "{}",
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch",
        ),
        (
            manager.as_str(),
            MERGE,
            "{}",
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more than 128 bytes",
        ),
    ] {
        let answer = api.send_as("PATCH", path, content_type, body).await;
        assert_eq!((answer.code, answer.text("/message").as_str()), (code, message), "{path} {body}");
    }
}

async fn with_deployment() -> Api {
    let api = Api::new();
    let containers = ["c1", "c2", "c3"].map(|name| json!({"name": name, "image": "i"}));
    let deployment = json!({
        "metadata": {"name": "d", "finalizers": ["ref.dev/a", "ref.dev/b", "ref.dev/c"], "labels": {"a": "1"}},
        "spec": {
            "selector": {"matchLabels": {"app": "x"}},
            "template": {
                "metadata": {"labels": {"app": "x"}},
                "spec": {"containers": containers, "tolerations": [{"key": "k1", "operator": "Exists"}]},
            },
        },
    });
    api.ok("POST", "/apis/apps/v1/namespaces/default/deployments", deployment).await;
    api
}

#[tokio::test]
async fn strategic_patches_follow_their_directives() {
    let api = with_deployment().await;
    let of_pod = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let cases = [
        (
            json!({"metadata": {
                "$deleteFromPrimitiveList/finalizers": ["ref.dev/a"],
                "$setElementOrder/finalizers": ["ref.dev/c", "ref.dev/b"],
                "finalizers": ["ref.dev/c"],
            }}),
            "/metadata/finalizers",
            json!(["ref.dev/c", "ref.dev/b"]),
        ),
        (
            of_pod(json!({"containers": [{"name": "c1", "image": "new"}]})),
            "/spec/template/spec/containers/0/image",
            json!("new"),
        ),
        (
            of_pod(json!({
                "$setElementOrder/containers": [{"name": "c3"}, {"name": "c1"}],
                "containers": [{"name": "c2", "$patch": "delete"}],
            })),
            "/spec/template/spec/containers/1/name",
            json!("c1"),
        ),
        (
            of_pod(json!({"tolerations": [{"key": "k2", "operator": "Exists"}]})),
            "/spec/template/spec/tolerations",
            json!([{"key": "k2", "operator": "Exists"}]),
        ),
        (json!({"metadata": {"labels": {"$patch": "replace", "c": "3"}}}), "/metadata/labels", json!({"c": "3"})),
    ];
    for (change, pointer, expected) in cases {
        let answer = patch(&api, DEPLOYMENT, STRATEGIC, &change).await;
        assert_eq!((answer.code, answer.at(pointer)), (200, expected), "{change}: {}", answer.body);
    }
    let keyless = patch(&api, DEPLOYMENT, STRATEGIC, &of_pod(json!({"containers": [{"image": "x"}]}))).await;
    let message = "map: map[image:x] does not contain declared merge key: name";
    assert_eq!((keyless.code, keyless.text("/message").as_str()), (500, message));
}

#[tokio::test]
async fn scales_are_patched_and_their_owners_known() {
    let api = with_deployment().await;
    let scale = format!("{DEPLOYMENT}/scale");
    let answer = patch(&api, &format!("{scale}?fieldManager=s1"), MERGE, &json!({"spec": {"replicas": 3}})).await;
    assert_eq!((answer.code, answer.text("/kind").as_str(), answer.at("/spec/replicas")), (200, "Scale", json!(3)));
    let stored = api.get(DEPLOYMENT).await;
    assert_eq!(stored.at("/spec/replicas"), json!(3));
    let entries = stored.at("/metadata/managedFields");
    let owner = entries.as_array().unwrap().iter().find(|entry| entry["subresource"] == "scale").unwrap();
    assert_eq!(owner["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!((&owner["manager"], &owner["apiVersion"]), (&json!("s1"), &json!("apps/v1")));

    let config = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 4},
    });
    let path = format!("{scale}?fieldManager=m2");
    let refused = patch(&api, &path, "application/apply-patch+yaml", &config).await;
    let message = "Apply failed with 1 conflict: conflict with \"s1\" with subresource \"scale\" using autoscaling/v1: \
                   .spec.replicas";
    assert_eq!((refused.code, refused.text("/message").as_str()), (409, message));
    let forced = patch(&api, &format!("{path}&force=true"), "application/apply-patch+yaml", &config).await;
    assert_eq!((forced.code, forced.at("/spec/replicas")), (200, json!(4)), "{}", forced.body);
}
