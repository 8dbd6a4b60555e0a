//! What helps with single objects: changes of status that lose nothing, creating or changing, finalizers.

mod scripted;

use std::sync::Arc;

use controller_runtime_client::{Classify, ClientError, ErrorClass, Finalization, FinalizeError, Finalizers, Upsert};
use controller_runtime_scheme::Kind;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use scripted::{config_map, scripted, status, typed};
use serde_json::{Value, json};

fn condition(name: &str, value: &str) -> Value {
    json!({"type": name, "status": value})
}

fn namespace(version: &str, uid: &str, status: &Value) -> Value {
    json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": version}, "status": status})
}

fn add_ready(object: &mut Namespace) {
    let ready = serde_json::from_value(condition("Ready", "True")).expect("it is a condition");
    object.status.get_or_insert_default().conditions.get_or_insert_default().push(ready);
}

fn read(value: Value) -> Namespace {
    serde_json::from_value(value).expect("it is a namespace")
}

#[tokio::test(start_paused = true)]
async fn two_writers_of_conditions_lose_nothing() {
    let theirs = json!({"phase": "Active", "conditions": [condition("Theirs", "True")]});
    let (client, log) = scripted(vec![
        (409, status(409, "Conflict", "a")),
        (200, namespace("4", "u1", &theirs)),
        (200, namespace("5", "u1", &theirs)),
    ]);
    let object = read(namespace("3", "u1", &json!({"phase": "Active"})));
    let changed = client.api(Kind::<Namespace>::typed()).change_status_of(&object, add_ready).await.unwrap();
    assert_eq!(changed.metadata.resource_version.as_deref(), Some("5"));
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    PATCH /api/v1/namespaces/a/status?fieldManager=test application/merge-patch+json {"metadata":{"resourceVersion":"3","uid":"u1"},"status":{"conditions":[{"status":"True","type":"Ready"}]}}
    GET /api/v1/namespaces/a
    PATCH /api/v1/namespaces/a/status?fieldManager=test application/merge-patch+json {"metadata":{"resourceVersion":"4","uid":"u1"},"status":{"conditions":[{"status":"True","type":"Theirs"},{"status":"True","type":"Ready"}]}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_status_of_another_object_is_left_alone() {
    let (client, log) =
        scripted(vec![(409, status(409, "Conflict", "a")), (200, namespace("9", "u2", &json!({"phase": "Active"})))]);
    let object = read(namespace("3", "u1", &json!({})));
    let error = client.api(Kind::<Namespace>::typed()).change_status_of(&object, add_ready).await.unwrap_err();
    assert!(error.is_conflict());
    assert_eq!(log.lock().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_status_that_always_changes_is_a_conflict_in_the_end() {
    let lost = || [(409, status(409, "Conflict", "a")), (200, namespace("9", "u1", &json!({})))];
    let (client, log) = scripted((0..5).flat_map(|_| lost()).collect());
    let object = read(namespace("3", "u1", &json!({})));
    let error = client.api(Kind::<Namespace>::typed()).change_status_of(&object, add_ready).await.unwrap_err();
    assert!(error.is_stale_write());
    assert_eq!(log.lock().len(), 9, "five writes, and four reads between them");
}

type Change<'a> = &'a dyn Fn(&mut Namespace);

#[tokio::test]
async fn b46_create_or_patch_says_what_it_did() {
    let active = || namespace("5", "u1", &json!({"phase": "Active"}));
    let (client, log) = scripted(vec![
        (404, status(404, "NotFound", "a")),
        (201, active()),
        (200, active()),
        (200, active()),
        (200, active()),
        (200, active()),
        (200, active()),
        (200, active()),
        (200, active()),
        (200, active()),
    ]);
    let label = |object: &mut Namespace| {
        object.metadata.labels.get_or_insert_default().insert("k".to_owned(), "v".to_owned());
    };
    let terminate = |object: &mut Namespace| {
        object.status.get_or_insert_default().phase = Some("Terminating".to_owned());
    };
    let cases: [(Change<'_>, Upsert); 5] = [
        (&label, Upsert::Created),
        (&|_| {}, Upsert::Unchanged),
        (&label, Upsert::Updated),
        (&terminate, Upsert::StatusUpdated),
        (
            &|object| {
                label(object);
                terminate(object);
            },
            Upsert::UpdatedWithStatus,
        ),
    ];
    for (change, expected) in cases {
        let mut start = Namespace::default();
        start.metadata.name = Some("a".to_owned());
        let (_, done) = client
            .create_or_patch(start, |object| {
                change(object);
                Ok(())
            })
            .await
            .unwrap();
        assert_eq!(done, expected);
    }
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    GET /api/v1/namespaces/a
    POST /api/v1/namespaces?fieldManager=test application/json {"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"k":"v"},"name":"a"}}
    GET /api/v1/namespaces/a
    GET /api/v1/namespaces/a
    PATCH /api/v1/namespaces/a?fieldManager=test application/merge-patch+json {"metadata":{"labels":{"k":"v"},"uid":"u1"}}
    GET /api/v1/namespaces/a
    PATCH /api/v1/namespaces/a/status?fieldManager=test application/merge-patch+json {"metadata":{"uid":"u1"},"status":{"phase":"Terminating"}}
    GET /api/v1/namespaces/a
    PATCH /api/v1/namespaces/a?fieldManager=test application/merge-patch+json {"metadata":{"labels":{"k":"v"},"uid":"u1"}}
    PATCH /api/v1/namespaces/a/status?fieldManager=test application/merge-patch+json {"metadata":{"uid":"u1"},"status":{"phase":"Terminating"}}
    "#);
}

#[tokio::test]
async fn b46_a_renaming_patch_is_an_error() {
    let (client, log) = scripted(vec![(200, config_map("a", "1", "5"))]);
    let error = client
        .create_or_patch(typed(config_map("a", "1", "")), |object| {
            object.metadata.namespace = Some("other".to_owned());
            Ok(())
        })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot patch ConfigMap/v1 ns/a: the mutation changed the object's name or namespace to other/a"
    );
    assert_eq!(log.lock().len(), 1);
}

#[tokio::test]
async fn finalizers_are_written_once_and_failures_are_told() {
    let deleting = |version: &str, finalizers: Value| {
        let mut object = config_map("a", "1", version);
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        object["metadata"]["finalizers"] = finalizers;
        object
    };
    let (client, log) = scripted(vec![
        (200, config_map("a", "1", "5")),
        (200, deleting("7", json!(["a.dev/fails"]))),
        (409, status(409, "Conflict", "a")),
    ]);
    let api = client.api(Kind::<ConfigMap>::typed());
    let finalizers = Finalizers::new()
        .register("a.dev/done", |_: Arc<ConfigMap>| async { Ok(Finalization::Done) })
        .register("a.dev/fails", |_: Arc<ConfigMap>| async { Err("no route".into()) });

    let (_, added) = api.finalize(&typed(config_map("a", "1", "4")), &finalizers).await.unwrap();
    assert_eq!(added.added, ["a.dev/done", "a.dev/fails"]);

    let object = typed(deleting("6", json!(["a.dev/done", "a.dev/fails"])));
    let error = api.finalize(&object, &finalizers).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot finalize ns/a: a.dev/fails: no route");
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: None });
    assert!(matches!(error, FinalizeError::Failed { done, .. } if done.removed == ["a.dev/done"]));

    let stale = api.finalize(&object, &finalizers).await.unwrap_err();
    assert!(stale.is_stale_write() && matches!(stale, FinalizeError::Client(ClientError::Status { .. })));
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=test application/merge-patch+json {"metadata":{"finalizers":["a.dev/done","a.dev/fails"],"resourceVersion":"4","uid":"u1"}}
    PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=test application/merge-patch+json {"metadata":{"finalizers":["a.dev/fails"],"resourceVersion":"6","uid":"u1"}}
    PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=test application/merge-patch+json {"metadata":{"finalizers":["a.dev/fails"],"resourceVersion":"6","uid":"u1"}}
    "#);
}
