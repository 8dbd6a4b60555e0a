use serde_json::{Value, json};

use crate::api::{Answer, Api};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const APPLY: &str = "application/apply-patch+yaml";

fn map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

async fn apply(api: &Api, parameters: &str, config: &Value) -> Answer {
    api.send_as("PATCH", &format!("{MAPS}/a?{parameters}"), APPLY, &config.to_string()).await
}

/// Who owns the fields, as `manager: set`, by manager.
fn owners(answer: &Answer) -> Vec<String> {
    let entries = answer.at("/metadata/managedFields");
    let text = |entry: &Value| format!("{}: {}", entry["manager"].as_str().unwrap(), entry["fieldsV1"]["f:data"]);
    let mut owners: Vec<String> = entries.as_array().into_iter().flatten().map(text).collect();
    owners.sort();
    owners
}

#[tokio::test]
async fn fields_are_shared_taken_and_given_up() {
    let api = Api::new();
    let created = apply(&api, "fieldManager=m1", &map(&json!({"r": "1", "c": "red"}))).await;
    assert_eq!((created.code, owners(&created)), (201, vec![r#"m1: {"f:c":{},"f:r":{}}"#.to_owned()]));

    let refused = apply(&api, "fieldManager=m2", &map(&json!({"r": "2"}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"m1\": .data.r";
    assert_eq!((refused.code, refused.text("/reason").as_str()), (409, "Conflict"));
    assert_eq!(refused.text("/message"), message);
    let cause = json!([{"reason": "FieldManagerConflict", "message": "conflict with \"m1\"", "field": ".data.r"}]);
    assert_eq!(refused.at("/details/causes"), cause);

    let shared = apply(&api, "fieldManager=m2", &map(&json!({"r": "1"}))).await;
    assert_eq!(owners(&shared), [r#"m1: {"f:c":{},"f:r":{}}"#, r#"m2: {"f:r":{}}"#].map(str::to_owned));
    let again = apply(&api, "fieldManager=m2", &map(&json!({"r": "1"}))).await;
    assert_eq!((again.code, again.body), (200, shared.body));

    let forced = apply(&api, "fieldManager=m2&force=true", &map(&json!({"r": "2"}))).await;
    assert_eq!(forced.at("/data"), json!({"r": "2", "c": "red"}));
    let given_up = apply(&api, "fieldManager=m1", &map(&json!({}))).await;
    assert_eq!(given_up.at("/data"), json!({"r": "2"}));
}

#[tokio::test]
async fn other_writes_own_what_they_change() {
    let api = Api::new();
    apply(&api, "fieldManager=m1", &map(&json!({"c": "red"}))).await;
    api.ok("PUT", &format!("{MAPS}/a?fieldManager=upd"), map(&json!({"c": "green"}))).await;
    let refused = apply(&api, "fieldManager=m1", &map(&json!({"c": "black"}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"upd\" using v1: .data.c";
    assert_eq!((refused.code, refused.text("/message").as_str()), (409, message));
}

#[tokio::test]
async fn tracking_is_off_between_a_reset_and_the_next_apply() {
    let api = Api::new();
    let path = format!("{MAPS}/a");
    api.ok("POST", &format!("{MAPS}?fieldManager=c"), map(&json!({"c": "red"}))).await;
    let mut object = api.get(&path).await.body;
    object["metadata"]["managedFields"] = json!([]);
    let reset = api.ok("PUT", &path, object).await;
    assert_eq!(reset.at("/metadata/managedFields"), Value::Null);
    let untracked = api.ok("PUT", &path, map(&json!({"c": "green"}))).await;
    assert_eq!(untracked.at("/metadata/managedFields"), Value::Null);
    let refused = apply(&api, "fieldManager=m", &map(&json!({"c": "black"}))).await;
    let message = "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.c";
    assert_eq!((refused.code, refused.text("/message").as_str()), (409, message));
}

#[tokio::test]
async fn configurations_that_cannot_be_applied_are_refused() {
    let api = Api::new();
    let with = |field: &str, value: Value| {
        let mut config = map(&json!({"c": "red"}));
        config["metadata"][field] = value;
        config
    };
    let cases = [
        (
            "force=true",
            map(&json!({})),
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ),
        ("fieldManager=m", with("managedFields", json!([])), 400, "metadata.managedFields must be nil"),
        ("fieldManager=m", json!({"metadata": {"name": "a"}}), 400, "invalid object type: /, Kind="),
        (
            "fieldManager=m",
            with("name", json!("b")),
            400,
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            "fieldManager=m",
            map(&json!({"n": 1})),
            500,
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.n: expected string, got \
             &value.valueUnstructured{Value:1}",
        ),
        (
            "fieldManager=m",
            with("uid", json!("u")),
            409,
            "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object specified uid u, \
             and no existing object was found",
        ),
    ];
    for (parameters, config, code, message) in cases {
        let answer = apply(&api, parameters, &config).await;
        assert_eq!((answer.code, answer.text("/message").as_str()), (code, message), "{config}");
    }
    assert_eq!(api.get(&format!("{MAPS}/a")).await.code, 404);
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let api = Api::new();
    let answer = apply(&api, "fieldManager=m&dryRun=All", &map(&json!({"c": "red"}))).await;
    assert_eq!((answer.code, answer.at("/data")), (201, json!({"c": "red"})));
    assert_eq!(api.get(&format!("{MAPS}/a")).await.code, 404);
}

#[tokio::test]
async fn the_status_is_applied_apart() {
    let api = Api::new();
    let path = "/apis/apps/v1/namespaces/default/deployments/d";
    let with = |part: &str, value: Value| {
        let mut config = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}});
        config[part] = value;
        config.to_string()
    };
    let spec = json!({
        "selector": {"matchLabels": {"app": "x"}},
        "template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    });
    let missing =
        api.send_as("PATCH", &format!("{path}/status?fieldManager=s"), APPLY, &with("status", json!({}))).await;
    assert_eq!(missing.code, 404);
    let created = api.send_as("PATCH", &format!("{path}?fieldManager=m"), APPLY, &with("spec", spec)).await;
    assert_eq!(created.code, 201, "{}", created.body);
    let status = with("status", json!({"replicas": 2, "observedGeneration": 1}));
    let applied = api.send_as("PATCH", &format!("{path}/status?fieldManager=s"), APPLY, &status).await;
    assert_eq!((applied.code, applied.at("/status/replicas")), (200, json!(2)), "{}", applied.body);
    assert_eq!(applied.at("/metadata/generation"), json!(1));
    let entries = applied.at("/metadata/managedFields");
    let owner = entries.as_array().unwrap().iter().find(|entry| entry["subresource"] == "status").unwrap();
    assert_eq!(owner["fieldsV1"], json!({"f:status": {"f:observedGeneration": {}, "f:replicas": {}}}));
}
