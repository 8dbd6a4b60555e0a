//! What goes over the wire, and what becomes of the answers, with a scripted server in the process.

mod scripted;

use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_client::{
    ClientError, ClientOptions, DeleteOptions, ErrorClass, FieldValidation, ListOptions, Patch, Propagation, Upsert,
};
use controller_runtime_metrics::{Format, Registry};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, Scope};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use scripted::{config_map, scripted, scripted_with, status, typed};
use serde_json::json;

#[tokio::test]
async fn writes_as_they_are_sent() {
    let answer = || (200, config_map("a", "1", "5"));
    let (client, log) = scripted((0..6).map(|_| answer()).collect());
    let object = typed(config_map("a", "1", "4"));
    client.create(&object).await.unwrap();
    client.clone().dry_run().with_field_validation(FieldValidation::Strict).update(&object).await.unwrap();
    client.apply(&object).await.unwrap();
    let json_patch = serde_json::from_value(json!([{"op": "remove", "path": "/data/k"}])).unwrap();
    client.patch::<ConfigMap>(("ns", "a"), &Patch::Json(json_patch)).await.unwrap();
    client.patch_status::<ConfigMap>(("ns", "a"), &Patch::Strategic(json!({"data": null}))).await.unwrap();
    let options = DeleteOptions::new().propagation(Propagation::Foreground).uid("u1").resource_version("5");
    let deletion = client.api(Kind::<ConfigMap>::typed()).delete_with(("ns", "a"), &options).await.unwrap();
    assert_eq!(deletion.uid(), Some("u1"));
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    POST /api/v1/namespaces/ns/configmaps?fieldManager=test application/json {"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","resourceVersion":"4","uid":"u1"}}
    PUT /api/v1/namespaces/ns/configmaps/a?dryRun=All&fieldManager=test&fieldValidation=Strict application/json {"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","resourceVersion":"4","uid":"u1"}}
    PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=test&force=true application/apply-patch+yaml {"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","resourceVersion":"4","uid":"u1"}}
    PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=test application/json-patch+json [{"op":"remove","path":"/data/k"}]
    PATCH /api/v1/namespaces/ns/configmaps/a/status?fieldManager=test application/strategic-merge-patch+json {"data":null}
    DELETE /api/v1/namespaces/ns/configmaps/a application/json {"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"resourceVersion":"5","uid":"u1"},"propagationPolicy":"Foreground"}
    "#);
}

#[tokio::test]
async fn an_error_names_the_verb_and_the_object() {
    let (client, _) = scripted(vec![
        (404, status(404, "NotFound", "a")),
        (409, status(409, "Conflict", "a")),
        (404, json!("404 page not found")),
        (500, json!({"unexpected": true})),
    ]);
    let error = client.get::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.class()),
        ("cannot get ConfigMap/v1 ns/a: NotFound a", ErrorClass::NotFound)
    );
    let error = client.update(&typed(config_map("a", "1", "1"))).await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.class()),
        ("cannot update ConfigMap/v1 ns/a: Conflict a", ErrorClass::Conflict)
    );
    let error = client.list::<Namespace>(&ListOptions::all()).await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.class()),
        ("cannot list Namespace/v1: \"404 page not found\"", ErrorClass::KindNotServed)
    );
    let error = client.create(&typed(config_map("a", "1", ""))).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot create ConfigMap/v1 ns/a: {\"unexpected\":true}");
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: None });
}

#[tokio::test(start_paused = true)]
async fn throttled_requests_wait_as_long_as_the_server_asks() {
    let throttled = || (429, json!({"retryAfter": 2}));
    let metrics = Registry::new();
    let options = ClientOptions::builder().ambient(Ambient::seeded(1)).metrics(metrics.clone()).build();
    let (client, log) = scripted_with(vec![throttled(), throttled(), (201, config_map("a", "1", "5"))], options);
    let start = tokio::time::Instant::now();
    client.create(&typed(config_map("a", "1", ""))).await.unwrap();
    assert_eq!((start.elapsed(), log.lock().len()), (Duration::from_secs(4), 3));
    insta::assert_snapshot!(metrics.encode(Format::PrometheusText).unwrap(), @r#"
    # HELP rest_client_requests_total Requests sent to the API server, by response code, method and host.
    # TYPE rest_client_requests_total counter
    rest_client_requests_total{code="201",method="POST",host="test:443"} 1
    rest_client_requests_total{code="429",method="POST",host="test:443"} 2
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_is_left_to_the_caller() {
    let (client, log) = scripted(vec![(429, json!({"retryAfter": 60}))]);
    let start = tokio::time::Instant::now();
    let error = client.get::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: Some(Duration::from_mins(1)) });
    assert_eq!((start.elapsed(), log.lock().len()), (Duration::ZERO, 1));
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_too_long_for_the_clock() {
    let (client, _) = scripted(vec![(503, json!({"retryAfter": u64::MAX}))]);
    let error = client.get::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: Some(Duration::from_secs(u64::MAX)) });

    let options = ClientOptions::builder().ambient(Ambient::seeded(1)).timeout(Duration::MAX).build();
    let (client, log) = scripted_with(vec![(429, json!({"retryAfter": 1})), (200, config_map("a", "1", "5"))], options);
    client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    assert_eq!(log.lock().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_may_have_happened_is_not_repeated() {
    let (client, log) = scripted(vec![(503, json!({})), (503, json!({})), (200, config_map("a", "1", "5"))]);
    client.create(&typed(config_map("a", "1", ""))).await.unwrap_err();
    client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    assert_eq!(log.lock().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_meets_the_deadline() {
    let (client, _) = scripted(Vec::new());
    let start = tokio::time::Instant::now();
    let error = client.get::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot get ConfigMap/v1 ns/a: no answer within 30s");
    assert_eq!(start.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
async fn a_list_is_read_in_pages_and_again_when_it_expires() {
    let page = |names: &[&str], token: &str| {
        let items: Vec<_> = names.iter().map(|name| config_map(name, "1", "1")).collect();
        (200, json!({"kind": "ConfigMapList", "metadata": {"resourceVersion": "9", "continue": token}, "items": items}))
    };
    let names = |list: controller_runtime_client::List<ConfigMap>| -> Vec<String> {
        list.into_iter().filter_map(|object| object.metadata.name).collect()
    };
    let (client, log) = scripted(vec![
        page(&["a", "b"], "t1"),
        page(&["c"], ""),
        page(&["a"], "t2"),
        (410, status(410, "Expired", "")),
        page(&["a", "b", "c"], ""),
    ]);
    let options = ListOptions::in_namespace("ns").label("app", "web");
    assert_eq!(names(client.list(&options).await.unwrap()), ["a", "b", "c"]);
    assert_eq!(names(client.list(&options).await.unwrap()), ["a", "b", "c"]);
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    GET /api/v1/namespaces/ns/configmaps?labelSelector=app%3Dweb&limit=500
    GET /api/v1/namespaces/ns/configmaps?labelSelector=app%3Dweb&limit=500&continue=t1
    GET /api/v1/namespaces/ns/configmaps?labelSelector=app%3Dweb&limit=500
    GET /api/v1/namespaces/ns/configmaps?labelSelector=app%3Dweb&limit=500&continue=t2
    GET /api/v1/namespaces/ns/configmaps?labelSelector=app%3Dweb
    "#);
}

#[tokio::test]
async fn a_status_change_writes_only_what_changed() {
    let kind = Kind::<Namespace>::typed();
    let live = json!({"metadata": {"name": "a", "uid": "u1", "resourceVersion": "3"}, "status": {"phase": "Active"}});
    let (client, log) = scripted(vec![(200, live.clone())]);
    let object: Namespace = serde_json::from_value(live).unwrap();
    let set = |phase: &str| {
        let phase = phase.to_owned();
        move |object: &mut Namespace| object.status.get_or_insert_default().phase = Some(phase)
    };
    let api = client.api(kind);
    api.change_status_of(&object, set("Active")).await.unwrap();
    assert!(log.lock().is_empty());
    api.change_status_of(&object, set("Terminating")).await.unwrap();
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    PATCH /api/v1/namespaces/a/status?fieldManager=test application/merge-patch+json {"metadata":{"uid":"u1"},"status":{"phase":"Terminating"}}
    "#);
}

#[tokio::test]
async fn b46_create_or_update_says_what_it_did() {
    let (client, log) = scripted(vec![
        (404, status(404, "NotFound", "a")),
        (201, config_map("a", "1", "5")),
        (200, config_map("a", "1", "5")),
        (200, config_map("a", "1", "5")),
        (200, config_map("a", "2", "6")),
        (200, config_map("a", "2", "6")),
    ]);
    let set = |value: &'static str| {
        move |object: &mut ConfigMap| {
            object.data.get_or_insert_default().insert("k".to_owned(), value.to_owned());
            Ok(())
        }
    };
    let start = || ConfigMap {
        metadata: ObjectMeta { namespace: Some("ns".to_owned()), name: Some("a".to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    for (value, expected) in [("1", Upsert::Created), ("1", Upsert::Unchanged), ("2", Upsert::Updated)] {
        assert_eq!(client.create_or_update(start(), set(value)).await.unwrap().1, expected);
    }
    let renamed = client.create_or_update(start(), |object: &mut ConfigMap| {
        object.metadata.name = Some("b".to_owned());
        Ok(())
    });
    assert_eq!(
        renamed.await.unwrap_err().to_string(),
        "cannot update ConfigMap/v1 ns/a: the mutation changed the object's name or namespace to ns/b"
    );
    assert_eq!(log.lock().len(), 6);
}

#[tokio::test]
async fn finalizers_are_guarded_by_the_version() {
    let (client, log) = scripted(vec![(200, config_map("a", "1", "5"))]);
    let api = client.api(Kind::<ConfigMap>::typed());
    let object = typed(config_map("a", "1", "4"));
    api.add_finalizer(&object, "ref.dev/f").await.unwrap();
    api.remove_finalizer(&object, "ref.dev/f").await.unwrap();
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=test application/merge-patch+json {"metadata":{"finalizers":["ref.dev/f"],"resourceVersion":"4","uid":"u1"}}
    "#);
    let mut unread = object;
    unread.metadata.resource_version = None;
    assert_eq!(
        api.add_finalizer(&unread, "ref.dev/f").await.unwrap_err().to_string(),
        "cannot patch ConfigMap/v1 ns/a: the object has no resourceVersion to guard the change with"
    );
}

#[tokio::test]
async fn unstructured_objects_know_what_they_are() {
    let kind = Kind::dynamic(ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap")), Scope::Namespaced);
    let (client, _) =
        scripted(vec![(200, json!({"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "a"}}]}))]);
    let list = client.api(kind.clone()).list(&ListOptions::all()).await.unwrap();
    assert_eq!(list.items[0].types, Some(kind.type_meta()));
}

#[tokio::test]
async fn discovery_finds_where_a_kind_is_served() {
    let resources = json!({"kind": "APIResourceList", "groupVersion": "ref.dev/v1", "resources": [
        {"name": "oxen/status", "singularName": "", "namespaced": true, "kind": "Ox", "verbs": []},
        {"name": "oxen", "singularName": "ox", "namespaced": true, "kind": "Ox", "verbs": []},
    ]});
    let (client, _) = scripted(vec![(200, resources.clone()), (200, resources), (404, json!("404 page not found"))]);
    let found = client.discover(&GroupVersionKind::gvk("ref.dev", "v1", "Ox")).await.unwrap();
    assert_eq!((found.resource().plural.as_str(), found.is_namespaced()), ("oxen", true));
    for group in ["ref.dev", "nope.dev"] {
        let error: ClientError = client.discover(&GroupVersionKind::gvk(group, "v1", "Cow")).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the server serves no kind Cow of {group}/v1"));
        assert!(error.is_kind_not_served());
    }
}

/// kube-apiserver refuses times with other than six digits in these fields.
#[tokio::test]
async fn micro_times_have_six_digits() {
    let (client, log) = scripted((0..3).map(|_| (201, json!({"metadata": {"name": "l"}}))).collect());
    for nanoseconds in [0, 180_000_000, 123_456_789] {
        let time = jiff::Timestamp::new(1_767_225_600, nanoseconds).unwrap();
        let lease = Lease {
            metadata: ObjectMeta {
                namespace: Some("ns".to_owned()),
                name: Some("l".to_owned()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec { renew_time: Some(MicroTime(time)), ..LeaseSpec::default() }),
        };
        client.create(&lease).await.unwrap();
    }
    let log = log.lock();
    for (line, expected) in log.iter().zip(["000000", "180000", "123456"]) {
        assert!(line.contains(&format!("\"renewTime\":\"2026-01-01T00:00:00.{expected}Z\"")), "{line}");
    }
}
