//! The cache against a server: what a read shows, and when.

use std::sync::Arc;

use controller_runtime_ambient::{CancellationToken, Task};
use controller_runtime_cache::{Cache, CacheError, CacheOptions, DelegatingClient, ListQuery, ObjectEvent};
use controller_runtime_client::Patch;
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectExt, Scope, Unstructured};
use integration_tests::Fixture;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use tokio::sync::mpsc;

/// A cache of the fixture's namespace while it runs, and a client that reads from it.
struct Running {
    client: DelegatingClient,
    cancel: CancellationToken,
    task: Task<Result<(), CacheError>>,
}

impl Running {
    fn start(fixture: &Fixture) -> Self {
        let client = fixture.env().client();
        let cache = Cache::new(client.clone(), CacheOptions::builder().namespaces([fixture.namespace()]).build());
        let cancel = CancellationToken::new();
        let run = {
            let (cache, cancel) = (cache.clone(), cancel.clone());
            async move { cache.run(cancel).await }
        };
        let task = fixture.env().ambient().spawn("cache", run);
        Self { client: DelegatingClient::new(client, cache), cancel, task }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.join().await.unwrap().unwrap();
    }
}

fn map(fixture: &Fixture, name: &str, value: &str) -> ConfigMap {
    let metadata = json!({"name": name, "namespace": fixture.namespace(), "labels": {"value": value}});
    serde_json::from_value(json!({"metadata": metadata, "data": {"key": value}})).unwrap()
}

fn value(map: &ConfigMap) -> &str {
    map.data.as_ref().map(|data| data["key"].as_str()).unwrap_or_default()
}

#[tokio::test]
async fn a_read_sees_the_write_before_it() {
    let fixture = Fixture::start("own-writes").await;
    let running = Running::start(&fixture);
    let client = &running.client;
    let one = (fixture.namespace(), "one");
    for round in 0..10 {
        let created = client.create(&map(&fixture, "one", "created")).await.unwrap();
        assert_eq!(*client.get::<ConfigMap>(one).await.unwrap(), created, "round {round}");
        let updated = client.update(&map(&fixture, "one", "updated")).await.unwrap();
        assert_eq!(*client.get::<ConfigMap>(one).await.unwrap(), updated, "round {round}");
        let patch = Patch::Merge(json!({"data": {"key": "patched"}}));
        let patched = client.patch::<ConfigMap>(one, &patch).await.unwrap();
        assert_eq!(*client.get::<ConfigMap>(one).await.unwrap(), patched, "round {round}");
        let applied = client.apply(&map(&fixture, "one", "applied")).await.unwrap();
        let listed = client.list::<ConfigMap>(&ListQuery::all().label("value", "applied")).await.unwrap();
        assert_eq!(listed, [Arc::new(applied)], "round {round}");
        client.delete::<ConfigMap>(one).await.unwrap();
        assert_eq!(client.get_opt::<ConfigMap>(one).await.unwrap(), None, "round {round}");
    }
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn handlers_hear_what_others_write() {
    let fixture = Fixture::start("handlers").await;
    let others = fixture.env().client();
    others.create(&map(&fixture, "before", "a")).await.unwrap();
    let running = Running::start(&fixture);
    let (sender, mut events) = mpsc::unbounded_channel();
    let informer = running.client.cache().informer::<ConfigMap>();
    let _registration = informer.add_handler(move |event| {
        let text = match event {
            ObjectEvent::Added { object, initial } => format!("added {} initial={initial}", value(object)),
            ObjectEvent::Updated { old, new } => format!("updated {} to {}", value(old), value(new)),
            ObjectEvent::Deleted { object, .. } => format!("deleted {}", value(object)),
            other => format!("{other:?}"),
        };
        let name = event.key().name;
        // Other parties put objects into new namespaces.
        if ["before", "one"].contains(&name.as_str()) {
            sender.send(format!("{name}: {text}")).unwrap();
        }
    });
    assert_eq!(events.recv().await.unwrap(), "before: added a initial=true");
    others.create(&map(&fixture, "one", "a")).await.unwrap();
    assert_eq!(events.recv().await.unwrap(), "one: added a initial=false");
    others.update(&map(&fixture, "one", "b")).await.unwrap();
    assert_eq!(events.recv().await.unwrap(), "one: updated a to b");
    others.delete::<ConfigMap>((fixture.namespace(), "one")).await.unwrap();
    assert_eq!(events.recv().await.unwrap(), "one: deleted b");
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn an_index_follows_its_objects() {
    let fixture = Fixture::start("index").await;
    let running = Running::start(&fixture);
    let client = &running.client;
    let informer = client.cache().informer::<ConfigMap>();
    informer.add_index("value", |map| map.data.iter().flat_map(|data| data.values().cloned()).collect()).unwrap();
    for (name, value) in [("one", "a"), ("two", "b"), ("three", "a")] {
        client.create(&map(&fixture, name, value)).await.unwrap();
    }
    let names = async |value: &str| {
        let found = client.list::<ConfigMap>(&ListQuery::by_index("value", value)).await.unwrap();
        found.iter().map(|map| map.metadata.name.clone().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names("a").await, ["one", "three"]);
    client.update(&map(&fixture, "one", "b")).await.unwrap();
    assert_eq!(
        (names("a").await, names("b").await),
        (vec!["three".to_owned()], vec!["one".to_owned(), "two".to_owned()])
    );
    client.delete::<ConfigMap>((fixture.namespace(), "three")).await.unwrap();
    assert_eq!(names("a").await, [""; 0]);
    let missing = client.list::<ConfigMap>(&ListQuery::by_index("absent", "a")).await.unwrap_err();
    assert!(matches!(&missing, CacheError::MissingIndex { index, .. } if index == "absent"), "{missing}");
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn custom_resources_are_cached_once_they_are_served() {
    let fixture = Fixture::start("late-kind").await;
    let running = Running::start(&fixture);
    let kind = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    let kind: Kind<Unstructured> =
        Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, "widgets"), Scope::Namespaced);
    let api = running.client.api(&kind);
    let one = (fixture.namespace(), "one");
    fixture.install_widgets().await;
    let mut object = Unstructured::new("one", kind.resource()).data(json!({"spec": {"color": "red"}}));
    object.metadata.namespace = Some(fixture.namespace().to_owned());
    api.create(&object).await.unwrap();
    assert_eq!(api.get(one).await.unwrap().data["spec"], json!({"color": "red", "replicas": 1}));
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn a_read_sees_a_deletion_that_waits_for_a_finalizer() {
    let fixture = Fixture::start("finalizer").await;
    let running = Running::start(&fixture);
    let client = &running.client;
    let one = (fixture.namespace(), "one");
    let created = client.create(&map(&fixture, "one", "a")).await.unwrap();
    client.add_finalizer(&created, "it.controller-runtime.dev/kept").await.unwrap();
    assert!(client.delete::<ConfigMap>(one).await.unwrap().is_pending());
    let deleting = client.get::<ConfigMap>(one).await.unwrap();
    assert!(deleting.is_deleting());
    client.remove_finalizer(&*deleting, "it.controller-runtime.dev/kept").await.unwrap();
    assert_eq!(client.get_opt::<ConfigMap>(one).await.unwrap(), None);
    running.stop().await;
    fixture.stop().await;
}
