//! The life of informers: who starts and ends them, who hears of what, and which errors say what is missing.

mod scripted;

use std::sync::{Arc, Weak};
use std::time::Duration;

use controller_runtime_cache::{
    Bounds, CacheError, CacheOptions, DelegatingClient, Informer, KindOptions, ListQuery, ScopeOptions, Selection,
    Transform,
};
use controller_runtime_client::{ErrorClass, Expression, Selector, Verb};
use controller_runtime_metrics::Format;
use controller_runtime_scheme::{Kind, ObjectKey};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use parking_lot::Mutex;
use scripted::{Scripted, data, listen, names, next, object, object_in, settle};
use serde_json::json;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn b31_not_started_and_no_informer_are_distinct_errors() {
    let mut scripted = Scripted::stopped(CacheOptions::builder().reads_start_informers(false).build());
    let read = async |scripted: &Scripted| scripted.cache.get_opt::<ConfigMap>(("ns", "a")).await.unwrap_err();
    let error = read(&scripted).await;
    assert!(matches!(error, CacheError::NotStarted { .. }), "{error}");
    scripted.run();
    let error = read(&scripted).await;
    assert_eq!(error.to_string(), "cannot read ConfigMap/v1 from the cache: it has no informer, and reads start none");
    assert!(matches!(error, CacheError::NoInformer { .. }) && error.class() == ErrorClass::Terminal);

    // Somebody wants the informer: reads use it.
    let _informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.list("5", &[object("a", "1", "x")]);
    assert_eq!(data(&scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap()), "x");
}

#[tokio::test(start_paused = true)]
async fn a_cache_is_started_when_run_returns() {
    let scripted = Scripted::stopped(CacheOptions::new());
    let running = scripted.cache.run(scripted.cancel.clone());
    // Nobody has polled `running` yet.
    let read = scripted.cache.reader(&Kind::<ConfigMap>::typed()).with_timeout(Duration::from_secs(1));
    let error = read.get(("ns", "a")).await.unwrap_err();
    assert!(matches!(error, CacheError::SyncTimeout { .. }), "{error}");
    drop(running);
    let error = read.get(("ns", "a")).await.unwrap_err();
    assert!(matches!(error, CacheError::Stopped { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_removed_informer_ends_and_reads_start_anew() {
    let mut scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    scripted.server.list("5", &[object("a", "1", "x")]);
    let reader = scripted.cache.reader(&Kind::<ConfigMap>::typed());
    assert_eq!(data(&reader.get(("ns", "a")).await.unwrap()), "x");
    assert_eq!(next(&mut events).await, ["initial a x"]);
    let mut feed = scripted.server.watch();
    settle().await;

    assert!(scripted.cache.remove_informer(&informer));
    assert!(!scripted.cache.remove_informer(&informer), "it is gone already");
    settle().await;
    assert!(!feed.is_open().await, "the watch has ended");
    let error = informer.wait_for_sync(Duration::ZERO).await;
    assert!(error.is_ok(), "what it had it has");

    // Both ways to read start a new informer.
    scripted.server.list("9", &[object("a", "8", "y")]);
    assert_eq!(data(&reader.get(("ns", "a")).await.unwrap()), "y");
    assert_eq!(data(&scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap()), "y");
    assert_eq!(data(&informer.get(&("ns", "a").into()).unwrap()), "x", "the old one does not change");
    let mut requests = Vec::new();
    for _ in 0..3 {
        let request = scripted.server.request().await;
        requests.push(
            request.split('?').next().unwrap_or_default().to_owned()
                + if request.contains("watch=") { " watch" } else { "" },
        );
    }
    insta::assert_snapshot!(requests.join("\n"), @r#"
    0.0 GET /api/v1/configmaps
    0.0 GET /api/v1/configmaps watch
    0.0 GET /api/v1/configmaps
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_waits_goes_on_with_the_next_informer() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let cache = scripted.cache.clone();
    let ambient = cache.client().ambient().clone();
    let reading = ambient.spawn("read", async move { cache.get::<ConfigMap>(("ns", "a")).await });
    settle().await;
    let informer = scripted.cache.informer::<ConfigMap>();
    assert!(scripted.cache.remove_informer(&informer));
    let error = informer.wait_for_sync(Duration::from_secs(1)).await.unwrap_err();
    assert!(matches!(error, CacheError::Removed { .. }), "{error}");
    // The first answer goes to the request of the informer that nobody waits for any more.
    scripted.server.list("5", &[object("a", "1", "x")]);
    scripted.server.list("5", &[object("a", "1", "x")]);
    assert_eq!(data(&reading.await.unwrap().unwrap()), "x");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_registration_lets_its_handler_go_at_once() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let held = Arc::new(());
    let registration = informer.add_handler({
        let held = held.clone();
        move |_| drop(held.clone())
    });
    assert!(!registration.has_synced());
    scripted.server.list("5", &[object("a", "1", "x")]);
    registration.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    assert!(registration.has_synced());
    drop(registration);
    assert_eq!(Arc::strong_count(&held), 1, "no event had to come first");
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_drop_its_own_registration() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let own = Arc::new(Mutex::new(None));
    let heard = Arc::new(Mutex::new(0));
    let registration = informer.add_handler({
        let (own, heard): (Weak<Mutex<Option<_>>>, _) = (Arc::downgrade(&own), heard.clone());
        move |_| {
            *heard.lock() += 1;
            drop(own.upgrade().and_then(|own| own.lock().take()));
        }
    });
    *own.lock() = Some(registration);
    scripted.server.list("5", &[object("a", "1", "x"), object("b", "2", "x")]);
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    assert_eq!(*heard.lock(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_rbac_refuses_is_named_at_once() {
    let scripted = Scripted::start(CacheOptions::builder().streaming_lists(false).namespaces(["shop"]).build()).await;
    let start = Instant::now();
    scripted.server.fail(403, "Forbidden");
    let error = scripted.cache.get::<ConfigMap>(("shop", "a")).await.unwrap_err();
    assert!(start.elapsed() < Duration::from_millis(100), "nobody waits for it");
    assert_eq!(
        error.to_string(),
        "the cache of ConfigMap/v1 may not list configmaps in namespace shop: scripted Forbidden"
    );
    let CacheError::Forbidden(denial) = &error else { panic!("{error}") };
    assert_eq!(
        (denial.verb, denial.resource.as_str(), denial.namespace.as_deref()),
        (Verb::List, "configmaps", Some("shop"))
    );
    assert_eq!(error.class(), ErrorClass::Forbidden);

    // Once it is allowed, it goes on by itself.
    scripted.server.list("5", &[object_in("shop", "a", "1", "x")]);
    scripted.cache.informer::<ConfigMap>();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(data(&scripted.cache.get::<ConfigMap>(("shop", "a")).await.unwrap()), "x");
}

#[tokio::test(start_paused = true)]
async fn waits_may_be_as_long_as_can_be() {
    let options = CacheOptions::builder().sync_timeout(Duration::MAX).write_timeout(Duration::MAX);
    let options = options.watch_timeout(Duration::MAX).idle_timeout(Duration::MAX).resync(Duration::MAX);
    let options = options.min_backoff(Duration::MAX).max_backoff(Duration::MAX);
    let scripted = Scripted::start(options.build()).await;
    scripted.server.list("5", &[object("a", "1", "x")]);
    let informer = scripted.cache.informer::<ConfigMap>();
    scripted.cache.wait_for_sync(Duration::MAX).await.unwrap();
    informer.wait_for_sync(Duration::MAX).await.unwrap();
    assert_eq!(data(&scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap()), "x");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_cannot_be_meant_is_an_error() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let list = async |query: ListQuery| scripted.cache.list::<ConfigMap>(&query).await.unwrap_err().to_string();
    assert_eq!(
        list(ListQuery::in_namespace("")).await,
        "cannot list ConfigMap/v1 in namespace \"\": the name is empty"
    );
    let of_cluster = scripted.cache.list::<Namespace>(&ListQuery::in_namespace("a")).await.unwrap_err();
    assert_eq!(of_cluster.to_string(), "cannot list Namespace/v1 in namespace \"a\": the kind is cluster-scoped");
    let informer: Informer<Namespace> = scripted.cache.informer();
    assert!(matches!(informer.list(&ListQuery::in_namespace("a")), Err(CacheError::WrongNamespace { .. })));
    for key in [ObjectKey::namespaced("", "a"), ObjectKey::cluster("a")] {
        let error = scripted.cache.get::<ConfigMap>(key).await.unwrap_err();
        assert!(matches!(error, CacheError::WrongScope { namespaced: true, .. }), "{error}");
    }
    let error = scripted.cache.get::<Namespace>(("", "a")).await.unwrap_err();
    assert!(matches!(error, CacheError::WrongScope { namespaced: false, .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn requests_carry_the_settings_of_their_namespace() {
    let level = |name: &str| Selector::from_iter([Expression::Equal("level".to_owned(), name.to_owned())]);
    let options = CacheOptions::builder()
        .streaming_lists(false)
        .labels(level("default"))
        .other_namespaces(ScopeOptions::builder().fields("metadata.name!=x").build())
        .namespace("special", ScopeOptions::builder().labels(level("special")).build())
        .kind_of::<ConfigMap>(KindOptions::builder().page_size(7).bookmarks(false).build())
        .transform(Transform::of_metadata(|meta| meta.annotations = None));
    let mut scripted = Scripted::start(options.build()).await;
    let informer =
        scripted.cache.informer_selecting(&Kind::<ConfigMap>::typed(), &Selection::fields("metadata.name!=y"));
    let mut requests = vec![scripted.server.request().await, scripted.server.request().await];
    let mut annotated = object_in("special", "a", "1", "x");
    annotated["metadata"]["annotations"] = json!({"k": "v"});
    let answers = if requests[0].contains("/special/") {
        [[annotated], [object("b", "1", "x")]]
    } else {
        [[object("b", "1", "x")], [annotated]]
    };
    for objects in answers {
        scripted.server.list("5", &objects);
    }
    requests.push(scripted.server.request().await);
    requests.sort();
    insta::assert_snapshot!(requests.join("\n").replace("%3D", "=").replace("%21", "!").replace("%2C", ","), @r#"
    0.0 GET /api/v1/configmaps?labelSelector=level=default&fieldSelector=metadata.name!=x,metadata.name!=y,metadata.namespace!=special&limit=7
    0.0 GET /api/v1/configmaps?watch=true&labelSelector=level=default&fieldSelector=metadata.name!=x,metadata.name!=y,metadata.namespace!=special&resourceVersion=5&timeoutSeconds=428
    0.0 GET /api/v1/namespaces/special/configmaps?labelSelector=level=special&fieldSelector=metadata.name!=y&limit=7
    "#);
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    let objects = informer.list(&ListQuery::all()).unwrap();
    assert_eq!(names(&objects), ["b", "a"]);
    assert!(objects.iter().all(|object| object.metadata.annotations.is_none()));
}

/// A running cache that holds few ConfigMaps for a while.
async fn bounded() -> (Scripted, DelegatingClient) {
    let bounds = Bounds::builder().max_entries(2).max_age(Duration::from_mins(1)).build();
    let options = CacheOptions::builder().kind_of::<ConfigMap>(KindOptions::builder().bounds(bounds).build());
    let scripted = Scripted::start(options.namespaces(["ns"]).build()).await;
    let client = DelegatingClient::new(scripted.cache.client().clone(), scripted.cache.clone());
    (scripted, client)
}

#[tokio::test(start_paused = true)]
async fn a_bounded_cache_reads_what_it_lacks_and_refuses_lists() {
    let (mut scripted, client) = bounded().await;
    let mut read = async |name: &str, asks: bool| {
        if asks {
            scripted.server.answer(200, &object(name, "1", "x"));
        }
        let got = client.get::<ConfigMap>(("ns", name)).await.unwrap();
        assert_eq!(got.metadata.name.as_deref(), Some(name));
        if asks {
            let request = scripted.server.request().await;
            assert!(request.ends_with(&format!("GET /api/v1/namespaces/ns/configmaps/{name}")), "{request}");
        }
    };
    read("a", true).await;
    read("b", true).await;
    read("a", false).await;
    // The bound on entries: what was read the longest ago goes.
    read("c", true).await;
    read("a", false).await;
    read("b", true).await;
    // The bound on age.
    tokio::time::sleep(Duration::from_secs(61)).await;
    read("a", true).await;
    read("a", false).await;

    let error = client.list::<ConfigMap>(&ListQuery::all()).await.unwrap_err();
    assert!(matches!(error, CacheError::ListRefused { .. }), "{error}");
    let error = client.get::<ConfigMap>(("elsewhere", "a")).await.unwrap_err();
    assert!(matches!(error, CacheError::UnknownNamespace { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_bounded_cache_sees_our_own_writes() {
    let (scripted, client) = bounded().await;
    scripted.server.answer(200, &object("a", "1", "old"));
    let old = client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    scripted.server.answer(200, &object("a", "2", "new"));
    client.update(&*old).await.unwrap();
    scripted.server.answer(200, &object("a", "2", "new"));
    assert_eq!(data(&client.get::<ConfigMap>(("ns", "a")).await.unwrap()), "new");
    scripted.server.fail(404, "NotFound");
    client.delete::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(data(&client.get::<ConfigMap>(("ns", "a")).await.unwrap()), "new", "nothing was written");
}

#[tokio::test(start_paused = true)]
async fn metrics_say_what_a_cache_holds() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let objects: Vec<_> = (0..1000).map(|n| object(&format!("m{n:03}"), "1", "x")).collect();
    scripted.server.list("5", &objects);
    let mut feed = scripted.server.watch();
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    feed.send("BOOKMARK", scripted::bookmark("9")).await;
    settle().await;
    let gauges = || {
        let text = scripted.cache.client().metrics().encode(Format::PrometheusText).unwrap();
        let names = ["cache_objects{", "cache_bytes{", "cache_resource_version{"];
        let lines = text.lines().filter(|line| names.iter().any(|name| line.contains(name)));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(gauges(), @r#"
    controller_runtime_cache_objects{group="",version="v1",kind="ConfigMap"} 1000
    controller_runtime_cache_bytes{group="",version="v1",kind="ConfigMap"} 138000
    controller_runtime_cache_resource_version{group="",version="v1",kind="ConfigMap"} 9
    "#);
    scripted.cache.remove_informer(&informer);
    assert_eq!(gauges(), "");
}

#[tokio::test(start_paused = true)]
async fn reads_of_a_selection_wait_for_own_writes_that_concern_it() {
    let ours = Expression::Equal("app".to_owned(), "ours".to_owned());
    let scripted = Scripted::start(CacheOptions::builder().labels(ours).build()).await;
    let client = DelegatingClient::new(scripted.cache.client().clone(), scripted.cache.clone());
    let labelled = |name: &str, version: &str, app: &str| {
        let mut labelled = object(name, version, "x");
        labelled["metadata"]["labels"] = json!({"app": app});
        labelled
    };
    let typed = |value: serde_json::Value| serde_json::from_value::<ConfigMap>(value).unwrap();
    scripted.server.list("5", &[labelled("a", "1", "ours")]);
    client.get::<ConfigMap>(("ns", "a")).await.unwrap();
    let mut feed = scripted.server.watch();
    settle().await;

    // It never comes, and nobody waits for it.
    scripted.server.answer(201, &labelled("b", "6", "theirs"));
    client.create(&typed(labelled("b", "", "theirs"))).await.unwrap();
    assert!(client.get_opt::<ConfigMap>(("ns", "b")).await.unwrap().is_none());

    // It leaves the selection: the server tells of a deletion.
    scripted.server.answer(200, &labelled("a", "7", "theirs"));
    client.update(&typed(labelled("a", "1", "theirs"))).await.unwrap();
    let reading = {
        let (client, ambient) = (client.clone(), scripted.cache.client().ambient().clone());
        ambient.spawn("read", async move { client.get_opt::<ConfigMap>(("ns", "a")).await })
    };
    settle().await;
    assert!(!reading.is_finished(), "the cache has not seen that it left");
    feed.send("DELETED", labelled("a", "7", "ours")).await;
    assert!(reading.await.unwrap().unwrap().is_none());
}
