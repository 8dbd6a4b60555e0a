//! What the wrappers of a client do: bind it to a namespace, limit, intercept and repeat its requests.

mod scripted;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_client::{
    ClientError, ClientOptions, DeleteOptions, ErrorClass, FieldValidation, Interception, Interceptor, ListOptions,
    Patch, RateLimit, Status, Verb, WarningHandler,
};
use controller_runtime_scheme::{Kind, ObjectKey};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use parking_lot::Mutex;
use scripted::{REFUSED, config_map, scripted, scripted_with, typed};
use serde_json::{Value, json};
use tokio::time::Instant;

fn found() -> (u16, Value) {
    (200, config_map("a", "1", "5"))
}

#[tokio::test]
async fn a_bound_client_stays_in_its_namespace() {
    let list = json!({"metadata": {"resourceVersion": "1"}, "items": []});
    let namespace = json!({"metadata": {"name": "other"}});
    let (client, log) = scripted(vec![found(), found(), (200, list.clone()), (200, list), (200, namespace)]);
    let bound = client.in_namespace("ns");
    assert_eq!(bound.namespace(), Some("ns"));
    let mut object = typed(config_map("a", "1", ""));
    object.metadata.namespace = None;
    bound.create(&object).await.unwrap();
    bound.get::<ConfigMap>(ObjectKey::cluster("a")).await.unwrap();
    bound.list::<ConfigMap>(&ListOptions::all()).await.unwrap();
    bound.delete_all::<ConfigMap>(&ListOptions::all(), &DeleteOptions::new()).await.unwrap();
    bound.get::<Namespace>(ObjectKey::cluster("other")).await.unwrap();

    let error = bound.get::<ConfigMap>(("other", "a")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot get ConfigMap/v1 other/a: the client is bound to the namespace \"ns\"");
    for error in [
        bound.list::<ConfigMap>(&ListOptions::in_namespace("other")).await.unwrap_err(),
        bound.delete::<ConfigMap>(("other", "a")).await.unwrap_err(),
        bound.patch::<ConfigMap>(("other", "a"), &Patch::Merge(json!({}))).await.unwrap_err(),
        bound.api(Kind::<ConfigMap>::typed()).scale(("other", "a"), 1).await.unwrap_err(),
    ] {
        assert_eq!(error.class(), ErrorClass::Terminal, "{error}");
    }
    insta::assert_snapshot!(log.lock().join("\n"), @r#"
    POST /api/v1/namespaces/ns/configmaps?fieldManager=test application/json {"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"","uid":"u1"}}
    GET /api/v1/namespaces/ns/configmaps/a
    GET /api/v1/namespaces/ns/configmaps?limit=500
    DELETE /api/v1/namespaces/ns/configmaps application/json {"apiVersion":"v1","kind":"DeleteOptions"}
    GET /api/v1/namespaces/other
    "#);
}

#[tokio::test]
async fn wrappers_compose_in_any_order() {
    let (client, log) = scripted(vec![found(), found()]);
    let object = typed(config_map("a", "1", "4"));
    let one = client.clone().in_namespace("ns").dry_run().with_field_manager("me");
    let other = client.with_field_manager("me").dry_run().in_namespace("ns");
    for client in [one, other] {
        client.with_field_validation(FieldValidation::Strict).update(&object).await.unwrap();
    }
    let log = log.lock();
    assert_eq!(log[0], log[1]);
    assert!(
        log[0].starts_with("PUT /api/v1/namespaces/ns/configmaps/a?dryRun=All&fieldManager=me&fieldValidation=Strict ")
    );
}

#[tokio::test(start_paused = true)]
async fn an_interceptor_fails_delays_and_observes() {
    let (client, log) = scripted(vec![found(), found()]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let interceptor = {
        let told = told.clone();
        let conflict = || Box::new(Status::failure("not now", "Conflict").with_code(409));
        Interceptor::new()
            .on(Verb::Update, move |_| async move { Interception::Fail(conflict()) })
            .on(Verb::Create, move |_| async move { Interception::SendAndFail(conflict()) })
            .on(Verb::Delete, |_| async { std::future::pending().await })
            .on_any(|_| async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Interception::Send
            })
            .observe(move |request, result| {
                told.lock().push(format!("{} {:?}", request.verb, result.map_err(ClientError::class).err()));
            })
    };
    let client = client.with_interceptor(interceptor);
    let object = typed(config_map("a", "1", ""));
    let start = Instant::now();
    client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert!(client.update(&object).await.unwrap_err().is_conflict());
    assert!(client.create(&object).await.unwrap_err().is_conflict());
    let error = client.with_timeout(Duration::from_secs(3)).delete::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot delete ConfigMap/v1 ns/a: no answer within 3s");
    let methods: Vec<_> = log.lock().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(methods, ["GET", "POST"], "what fails without being sent is not sent");
    let told = told.lock();
    assert_eq!(
        *told,
        ["get None", "update Some(Conflict)", "create Some(Conflict)", "delete Some(Transient { retry_after: None })"]
    );
}

#[tokio::test(start_paused = true)]
async fn clones_share_a_rate_limit() {
    let (client, _) = scripted((0..8).map(|_| found()).collect());
    let limited = client.clone().with_rate_limit(RateLimit::builder().per_second(10).burst(2).build());
    let (one, two) = (limited.clone(), limited);
    let start = Instant::now();
    for client in [&one, &two, &one, &two] {
        client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::from_millis(200));
    for _ in 0..4 {
        client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::from_millis(200), "the client below is not limited");
}

#[tokio::test(start_paused = true)]
async fn requests_wait_for_their_turn() {
    let options = ClientOptions::builder().ambient(Ambient::seeded(1)).concurrent_requests(2).build();
    let (client, log) = scripted_with(Vec::new(), options);
    let client = client.with_timeout(Duration::from_secs(1));
    // The server never answers.
    let requests = (0..3).map(|_| client.get::<ConfigMap>(("ns", "a")));
    let errors = futures::future::join_all(requests).await;
    assert_eq!(log.lock().len(), 2, "the third is not sent");
    assert!(errors.iter().all(|result| matches!(result, Err(ClientError::Timeout { .. }))));
    // Those that gave up leave their places, and a watch takes none.
    let api = client.api(Kind::<ConfigMap>::typed());
    let (default, gets) = (controller_runtime_client::WatchOptions::default(), (0..2));
    let gets = futures::future::join_all(gets.map(|_| client.get::<ConfigMap>(("ns", "a"))));
    let (watch, _) = futures::join!(api.watch(&default), gets);
    assert!(watch.is_err());
    assert_eq!(log.lock().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_is_repeated() {
    let (client, log) = scripted(vec![(REFUSED, Value::Null), (REFUSED, Value::Null), found()]);
    client.create(&typed(config_map("a", "1", ""))).await.unwrap();
    assert_eq!(log.lock().len(), 3);

    let (client, log) = scripted((0..9).map(|_| (REFUSED, Value::Null)).collect());
    let error = client.create(&typed(config_map("a", "1", ""))).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: None });
    assert_eq!(log.lock().len(), 4, "the first and three more");
}

#[tokio::test(start_paused = true)]
async fn a_server_may_not_ask_for_any_wait() {
    let options = ClientOptions::builder()
        .ambient(Ambient::seeded(1))
        .timeout(Duration::MAX)
        .longest_retry_after(Duration::from_secs(5))
        .build();
    let (client, log) = scripted_with(vec![(429, json!({"retryAfter": 5})), (429, json!({"retryAfter": 6}))], options);
    let start = Instant::now();
    let error = client.get::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: Some(Duration::from_secs(6)) });
    assert_eq!((start.elapsed(), log.lock().len()), (Duration::from_secs(5), 2));
}

#[tokio::test]
async fn warnings_reach_their_handler() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let handler = WarningHandler::new(move |request, text| told.lock().push(format!("{} {text}", request.kind)));
    let options = ClientOptions::builder().ambient(Ambient::seeded(1)).warning_handler(handler).build();
    let mut answer = config_map("a", "1", "5");
    answer["warnings"] = json!(["unknown field \"spec.colour\"", "v1beta1 is deprecated"]);
    let (client, _) = scripted_with(vec![(201, answer)], options);
    client.create(&typed(config_map("a", "1", ""))).await.unwrap();
    assert_eq!(*seen.lock(), ["ConfigMap/v1 unknown field \"spec.colour\"", "ConfigMap/v1 v1beta1 is deprecated"]);
}

#[tokio::test]
async fn metadata_is_not_written_whole() {
    let (client, log) = scripted(vec![found()]);
    let api = client.api(Kind::<ConfigMap>::typed().metadata_only());
    let read = api.get(("ns", "a")).await.unwrap();
    assert_eq!(read.types.as_ref().unwrap().kind, "ConfigMap");
    for result in [api.update(&read).await, api.create(&read).await, api.update_status(&read).await] {
        assert!(result.unwrap_err().to_string().ends_with("cannot be written whole: patch or apply it"));
    }
    assert_eq!(log.lock().len(), 1);
}

#[tokio::test]
async fn a_missing_subresource_is_not_a_missing_kind() {
    let missing = || (404, json!({"kind": "Status", "message": "not found", "reason": "NotFound", "details": {}}));
    let (client, _) = scripted(vec![missing(), missing()]);
    let error = client.patch_status::<ConfigMap>(("ns", "a"), &Patch::Merge(json!({}))).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::SubresourceNotServed);
    let error = client.patch::<ConfigMap>(("ns", "a"), &Patch::Merge(json!({}))).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::KindNotServed);
}
