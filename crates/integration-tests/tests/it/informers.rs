//! Caches of some namespaces, and kinds that come late: what a cache says of what it doesn't have.

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{CancellationToken, Task};
use controller_runtime_cache::{Cache, CacheError, CacheOptions, ListQuery, ObjectEvent, ScopeOptions};
use controller_runtime_client::{Client, Expression, Selector};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectExt, ObjectKey, Scope, Unstructured};
use integration_tests::Fixture;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::ClusterRole;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// A cache while it runs.
struct Running {
    cache: Cache,
    cancel: CancellationToken,
    task: Task<Result<(), CacheError>>,
}

impl Running {
    fn start(fixture: &Fixture, options: CacheOptions) -> Self {
        let cache = Cache::new(fixture.env().client(), options);
        let cancel = CancellationToken::new();
        let task = fixture.env().ambient().spawn("cache", cache.run(cancel.clone()));
        Self { cache, cancel, task }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.join().await.unwrap().unwrap();
    }
}

async fn create(client: &Client, namespace: &str, name: &str, labels: &[(&str, &str)]) {
    let labels: serde_json::Map<_, _> = labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    let metadata = json!({"namespace": namespace, "name": name, "labels": labels});
    let map: ConfigMap = serde_json::from_value(json!({"metadata": metadata, "data": {"key": name}})).unwrap();
    client.create(&map).await.unwrap();
}

/// A selector of the objects that the test made, so that it can share a server.
fn of_test(fixture: &Fixture) -> Selector {
    Selector::from_iter([Expression::Equal("test".to_owned(), fixture.namespace().to_owned())])
}

fn keys<K: controller_runtime_scheme::Object>(objects: &[Arc<K>]) -> Vec<ObjectKey> {
    objects.iter().map(|object| object.key()).collect()
}

#[tokio::test]
async fn b33_an_unknown_namespace_is_an_error_and_not_not_found() {
    let fixture = Fixture::start("b33").await;
    let other = fixture.env().namespace("b33-other").await.unwrap();
    create(&fixture.env().client(), &other, "there", &[]).await;
    let running = Running::start(&fixture, CacheOptions::builder().namespaces([fixture.namespace()]).build());
    for name in ["there", "absent"] {
        let error = running.cache.get_opt::<ConfigMap>((other.as_str(), name)).await.unwrap_err();
        assert!(matches!(&error, CacheError::UnknownNamespace { namespace, .. } if *namespace == other), "{error}");
        assert!(!error.is_not_found());
    }
    let error = running.cache.list::<ConfigMap>(&ListQuery::in_namespace(&other)).await.unwrap_err();
    assert!(matches!(error, CacheError::UnknownNamespace { .. }), "{error}");
    assert!(running.cache.get_opt::<ConfigMap>((fixture.namespace(), "absent")).await.unwrap().is_none());
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn b34_all_namespaces_and_a_special_one_hold_no_object_twice() {
    let fixture = Fixture::start("b34").await;
    let client = fixture.env().client();
    let (special, other) = (fixture.namespace(), fixture.env().namespace("b34-other").await.unwrap());
    let mine = ("test", fixture.namespace());
    create(&client, special, "chosen", &[mine, ("chosen", "yes")]).await;
    create(&client, special, "ignored", &[mine]).await;
    create(&client, &other, "plain", &[mine]).await;

    let mut chosen = of_test(&fixture);
    chosen.extend([Expression::Equal("chosen".to_owned(), "yes".to_owned())]);
    let options = CacheOptions::builder()
        .labels(of_test(&fixture))
        .other_namespaces(ScopeOptions::default())
        .namespace(special, ScopeOptions::builder().labels(chosen).build());
    let running = Running::start(&fixture, options.build());
    let (sender, mut events) = mpsc::unbounded_channel();
    let informer = running.cache.informer::<ConfigMap>();
    informer.add_index("key", |map| map.data.iter().flat_map(|data| data.values().cloned()).collect()).unwrap();
    let registration = informer.add_handler(move |event| {
        if let ObjectEvent::Added { .. } = event {
            sender.send(event.key()).unwrap();
        }
    });
    registration.wait_for_sync(Duration::from_secs(30)).await.unwrap();

    let mut expected = [ObjectKey::namespaced(special, "chosen"), ObjectKey::namespaced(&other, "plain")];
    expected.sort();
    assert_eq!(keys(&running.cache.list::<ConfigMap>(&ListQuery::all()).await.unwrap()), expected);
    let by_index = ListQuery::by_index("key", "chosen");
    assert_eq!(keys(&running.cache.list::<ConfigMap>(&by_index).await.unwrap()).len(), 1);
    let mut heard = [events.recv().await.unwrap(), events.recv().await.unwrap()];
    heard.sort();
    assert_eq!((heard, events.try_recv().ok()), (expected, None));

    // What is written later comes once, too, and only from where it is selected.
    create(&client, special, "ignored-later", &[mine]).await;
    create(&client, special, "chosen-later", &[mine, ("chosen", "yes")]).await;
    create(&client, &other, "plain-later", &[mine]).await;
    let mut heard = [events.recv().await.unwrap(), events.recv().await.unwrap()].map(|key| key.name);
    heard.sort();
    assert_eq!((heard.each_ref().map(String::as_str), events.try_recv().ok()), (["chosen-later", "plain-later"], None));
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn o18_a_cache_of_some_namespaces_has_the_cluster_and_its_indexes() {
    let fixture = Fixture::start("o18").await;
    let client = fixture.env().client();
    let ns1 = fixture.namespace().to_owned();
    let ns2 = fixture.env().namespace("o18-two").await.unwrap();
    let ns3 = fixture.env().namespace("o18-three").await.unwrap();
    let role = json!({"metadata": {"name": ns1, "labels": {"test": ns1}}, "rules": []});
    client.create::<ClusterRole>(&serde_json::from_value(role).unwrap()).await.unwrap();
    for (namespace, name) in [(&ns1, "x"), (&ns2, "y"), (&ns3, "z")] {
        create(&client, namespace, name, &[("test", &ns1)]).await;
    }
    // The server puts objects of its own into each namespace.
    let options = CacheOptions::builder().namespaces([&ns1, &ns2]).labels(of_test(&fixture)).build();
    let running = Running::start(&fixture, options);
    let cache = &running.cache;
    let by_key = |map: &ConfigMap| map.data.iter().flat_map(|data| data.values().cloned()).collect();
    cache.informer::<ConfigMap>().add_index("byKey", by_key).unwrap();

    let found = cache.get::<ClusterRole>(ObjectKey::cluster(&*ns1)).await.unwrap();
    assert_eq!(found.metadata.name.as_deref(), Some(ns1.as_str()));
    assert_eq!(keys(&cache.list::<ClusterRole>(&ListQuery::all()).await.unwrap()), [ObjectKey::cluster(&*ns1)]);
    let mut expected = [ObjectKey::namespaced(&*ns1, "x"), ObjectKey::namespaced(&*ns2, "y")];
    expected.sort();
    assert_eq!(keys(&cache.list::<ConfigMap>(&ListQuery::all()).await.unwrap()), expected);
    let error = cache.get::<ConfigMap>((ns3.as_str(), "z")).await.unwrap_err();
    assert!(error.to_string().starts_with("unknown namespace for the cache"), "{error}");
    assert!(!error.is_not_found());
    let everywhere = ListQuery::by_index("byKey", "x");
    for query in [everywhere.clone(), everywhere.clone().within(&*ns1)] {
        let found = cache.list::<ConfigMap>(&query).await.unwrap();
        assert_eq!(keys(&found), [ObjectKey::namespaced(&*ns1, "x")], "{query:?}");
    }
    assert!(cache.list::<ConfigMap>(&everywhere.within(&*ns2)).await.unwrap().is_empty());
    let error = cache.list::<ConfigMap>(&ListQuery::by_index("byColor", "x")).await.unwrap_err();
    assert!(matches!(&error, CacheError::MissingIndex { index, .. } if index == "byColor"), "{error}");
    assert!(error.to_string().contains("byColor"), "{error}");

    client.delete::<ClusterRole>(ObjectKey::cluster(&*ns1)).await.unwrap();
    running.stop().await;
    fixture.stop().await;
}

/// The kind `Widget` of the fixture's group, installed or not.
fn widget(fixture: &Fixture) -> Kind<Unstructured> {
    let kind = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, "widgets"), Scope::Namespaced)
}

#[tokio::test]
async fn o19_a_kind_that_is_not_served_is_named_in_time() {
    let fixture = Fixture::start("o19-never").await;
    let running = Running::start(&fixture, CacheOptions::new());
    let reader = running.cache.reader(&widget(&fixture)).with_timeout(Duration::from_secs(2));
    let began = Instant::now();
    let error = reader.list(&ListQuery::all()).await.unwrap_err();
    let took = began.elapsed();
    assert!((Duration::from_secs(2)..Duration::from_secs(4)).contains(&took), "{took:?}");
    assert!(matches!(error, CacheError::KindNotServed { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("Widget") && text.contains("timed out waiting for cache"), "{text}");
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn o19_a_kind_that_comes_late_is_read_without_a_restart() {
    let fixture = Fixture::start("o19-late").await;
    let running = Running::start(&fixture, CacheOptions::new());
    let began = Instant::now();
    let reader = running.cache.reader(&widget(&fixture)).with_timeout(Duration::from_secs(30));
    let reading = {
        let key = ObjectKey::namespaced(fixture.namespace(), "one");
        let ambient = fixture.env().ambient().clone();
        ambient.spawn("read", async move {
            loop {
                if let Some(found) = reader.get_opt(&key).await.unwrap() {
                    return found;
                }
                tokio::task::yield_now().await;
            }
        })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    let path = fixture.install_widgets().await;
    let object = json!({"apiVersion": format!("{}/v1", fixture.group()), "kind": "Widget",
        "metadata": {"name": "one", "namespace": fixture.namespace()}, "spec": {"color": "red"}});
    fixture.post(&path, &object).await.expect(201);
    let found = reading.join().await.unwrap();
    assert_eq!(found.data["spec"]["color"], "red");
    assert!(began.elapsed() <= Duration::from_secs(15), "{:?}", began.elapsed());
    running.stop().await;
    fixture.stop().await;
}
