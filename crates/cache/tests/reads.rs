//! Reads from the cache, and reads after own writes.

mod scripted;

use std::time::Duration;

use controller_runtime_cache::{CacheError, CacheOptions, DelegatingClient, ListQuery};
use controller_runtime_client::{ErrorClass, Selector};
use controller_runtime_scheme::{Kind, ObjectKey};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use scripted::{Scripted, bookmark, data, names, object, object_in, settle};
use serde_json::{Value, json};
use tokio::time::Instant;

fn typed(value: Value) -> ConfigMap {
    serde_json::from_value(value).expect("it is a ConfigMap")
}

fn labelled(mut value: Value, app: &str) -> Value {
    value["metadata"]["labels"] = json!({"app": app});
    value
}

fn app(object: &ConfigMap) -> Vec<String> {
    object.metadata.labels.iter().flatten().filter(|(key, _)| *key == "app").map(|(_, value)| value.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_does_not_run_says_so() {
    let mut scripted = Scripted::stopped(CacheOptions::new());
    let read = async |scripted: &Scripted| {
        scripted.cache.get_opt::<ConfigMap>(("ns", "a")).await.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(read(&scripted).await.unwrap_err(), "cannot read ConfigMap/v1 from the cache: the cache is not started");
    scripted.run();
    settle().await;
    assert!(matches!(scripted.cache.run(scripted.cancel.clone()).await, Err(CacheError::AlreadyStarted)));
    let waiting = {
        let cache = scripted.cache.clone();
        scripted
            .cache
            .client()
            .ambient()
            .clone()
            .spawn("read", async move { cache.get::<ConfigMap>(("ns", "a")).await })
    };
    settle().await;
    scripted.stop().await;
    assert!(matches!(waiting.await.unwrap(), Err(CacheError::Stopped { .. })));
    assert_eq!(read(&scripted).await.unwrap_err(), "cannot read ConfigMap/v1 from the cache: the cache is stopped");
}

#[tokio::test(start_paused = true)]
async fn reads_share_what_the_cache_holds() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    scripted.server.list("5", &[object("a", "1", "x")]);
    let first = scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap();
    let listed = scripted.cache.list::<ConfigMap>(&ListQuery::all()).await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &listed[0]));
    let error = scripted.cache.get::<ConfigMap>(("ns", "b")).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.class()), ("ConfigMap/v1 ns/b is not found", ErrorClass::NotFound));
    assert!(scripted.cache.get_opt::<ConfigMap>(("ns", "b")).await.unwrap().is_none());
    assert_eq!(
        scripted.cache.get::<ConfigMap>(ObjectKey::cluster("a")).await.unwrap_err().to_string(),
        "a cannot be the key of a ConfigMap/v1: the kind is namespaced"
    );
    assert_eq!(
        scripted.cache.get::<Namespace>(("ns", "a")).await.unwrap_err().to_string(),
        "ns/a cannot be the key of a Namespace/v1: the kind is cluster-scoped"
    );
}

#[tokio::test(start_paused = true)]
async fn lists_go_by_index_namespace_and_labels() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    informer.add_index("app", app).unwrap();
    scripted.server.list(
        "5",
        &[
            labelled(object_in("ns2", "a", "1", "x"), "web"),
            labelled(object_in("ns1", "b", "2", "x"), "web"),
            labelled(object_in("ns1", "a", "3", "x"), "db"),
            object_in("ns1", "c", "4", "x"),
        ],
    );
    let mut feed = scripted.server.watch();
    let list = async |query: ListQuery| {
        let found = scripted.cache.list::<ConfigMap>(&query).await.unwrap();
        found.iter().map(|object| ObjectKey::of(&**object).to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(ListQuery::all()).await, ["ns1/a", "ns1/b", "ns1/c", "ns2/a"]);
    assert_eq!(list(ListQuery::in_namespace("ns1")).await, ["ns1/a", "ns1/b", "ns1/c"]);
    assert_eq!(list(ListQuery::by_index("app", "web")).await, ["ns1/b", "ns2/a"]);
    assert_eq!(list(ListQuery::by_index("app", "web").within("ns2")).await, ["ns2/a"]);
    assert_eq!(list(ListQuery::all().label("app", "db")).await, ["ns1/a"]);
    assert_eq!(list(ListQuery::in_namespace("ns2").labels(Selector::default())).await, ["ns2/a"]);
    assert_eq!(list(ListQuery::by_index("app", "none")).await, [""; 0]);

    // A late index covers what is there, and both follow changes.
    informer.add_index("data", |object| vec![data(object).to_owned()]).unwrap();
    assert_eq!(list(ListQuery::by_index("data", "x")).await.len(), 4);
    feed.send("MODIFIED", labelled(object_in("ns2", "a", "6", "y"), "db")).await;
    feed.send("DELETED", labelled(object_in("ns1", "a", "7", "x"), "db")).await;
    settle().await;
    assert_eq!(list(ListQuery::by_index("app", "web")).await, ["ns1/b"]);
    assert_eq!(list(ListQuery::by_index("app", "db")).await, ["ns2/a"]);
    assert_eq!(list(ListQuery::by_index("data", "x")).await, ["ns1/b", "ns1/c"]);

    let missing = scripted.cache.list::<ConfigMap>(&ListQuery::by_index("nope", "x")).await.unwrap_err();
    assert_eq!(missing.to_string(), "the cache of ConfigMap/v1 has no index \"nope\"");
    assert_eq!(
        informer.add_index("app", app).unwrap_err().to_string(),
        "the cache of ConfigMap/v1 has an index \"app\" already"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cache_of_some_namespaces_knows_only_these_and_the_cluster() {
    let mut scripted = Scripted::start(CacheOptions::builder().namespaces(["ns2", "ns1"]).build()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    informer.add_index("data", |object| vec![data(object).to_owned()]).unwrap();
    let mut requests = Vec::new();
    for name in ["x", "y"] {
        let request = scripted.server.request().await;
        let namespace = if request.contains("/ns1/") { "ns1" } else { "ns2" };
        requests.push(request);
        scripted.server.list("5", &[object_in(namespace, name, "1", "d")]);
        let _request = settle().await;
        assert_eq!(informer.has_synced(), name == "y");
    }
    insta::assert_snapshot!(requests.join("\n"), @r#"
    0.0 GET /api/v1/namespaces/ns1/configmaps?limit=500
    0.0 GET /api/v1/namespaces/ns2/configmaps?limit=500
    "#);
    assert_eq!(names(&scripted.cache.list::<ConfigMap>(&ListQuery::all()).await.unwrap()), ["x", "y"]);
    assert_eq!(names(&scripted.cache.list::<ConfigMap>(&ListQuery::by_index("data", "d")).await.unwrap()), ["x", "y"]);
    let one = ListQuery::by_index("data", "d").within("ns1");
    assert_eq!(scripted.cache.list::<ConfigMap>(&one).await.unwrap().len(), 1);
    let _watches = [scripted.server.watch(), scripted.server.watch()];
    scripted.server.list("5", &[json!({"metadata": {"name": "ns3", "uid": "u3", "resourceVersion": "2"}})]);
    assert_eq!(names(&scripted.cache.list::<Namespace>(&ListQuery::all()).await.unwrap()), ["ns3"]);
    assert_eq!(
        scripted.cache.get::<ConfigMap>(("ns3", "z")).await.unwrap_err().to_string(),
        "unknown namespace for the cache: \"ns3\", asked for ConfigMap/v1"
    );
}

/// A running cache with `a` in version 5, its watch, and a client on it.
async fn delegating(scripted: &Scripted) -> (DelegatingClient, scripted::Feed) {
    scripted.server.list("5", &[object("a", "5", "old")]);
    scripted.cache.get::<ConfigMap>(("ns", "a")).await.expect("it is listed");
    let feed = scripted.server.watch();
    settle().await;
    (DelegatingClient::new(scripted.cache.client().clone(), scripted.cache.clone()), feed)
}

#[tokio::test(start_paused = true)]
async fn a_read_after_a_write_sees_it() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (client, mut feed) = delegating(&scripted).await;
    let start = Instant::now();
    assert_eq!(data(&client.get::<ConfigMap>(("ns", "a")).await.unwrap()), "old");

    scripted.server.answer(200, &object("a", "8", "new"));
    client.apply(&typed(object("a", "5", "new"))).await.unwrap();
    let reading = {
        let client = client.clone();
        scripted
            .cache
            .client()
            .ambient()
            .clone()
            .spawn("read", async move { client.get::<ConfigMap>(("ns", "a")).await })
    };
    settle().await;
    assert!(!reading.is_finished(), "the cache has not seen the write");
    feed.send("MODIFIED", object("b", "7", "other")).await;
    settle().await;
    assert!(!reading.is_finished(), "an older version is not enough");
    feed.send("MODIFIED", object("a", "8", "new")).await;
    assert_eq!(data(&reading.await.unwrap().unwrap()), "new");
    assert!(start.elapsed() < Duration::from_secs(1));

    // A later version of anything of the kind is as good, and so is a bookmark.
    scripted.server.answer(200, &object("c", "9", "new"));
    client.create(&typed(object("c", "", "new"))).await.unwrap();
    feed.send("BOOKMARK", bookmark("12")).await;
    assert_eq!(client.list::<ConfigMap>(&ListQuery::all()).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_cannot_see_the_write_is_an_error() {
    let scripted = Scripted::start(CacheOptions::builder().write_timeout(Duration::from_secs(3)).build()).await;
    let (client, _feed) = delegating(&scripted).await;
    scripted.server.answer(201, &object("c", "9", "new"));
    client.create(&typed(object("c", "", "new"))).await.unwrap();
    let start = Instant::now();
    let error = client.get::<ConfigMap>(("ns", "c")).await.unwrap_err();
    assert_eq!(error.to_string(), "the cache of ConfigMap/v1 has not seen our last write within 3s");
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: None });
}

#[tokio::test(start_paused = true)]
async fn a_read_after_a_delete_does_not_find_the_object() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (client, mut feed) = delegating(&scripted).await;
    let gone =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"name": "a", "uid": "uid-a"}});
    scripted.server.answer(200, &gone);
    client.delete::<ConfigMap>(("ns", "a")).await.unwrap();
    let reading = {
        let client = client.clone();
        scripted
            .cache
            .client()
            .ambient()
            .clone()
            .spawn("read", async move { client.get_opt::<ConfigMap>(("ns", "a")).await })
    };
    settle().await;
    assert!(!reading.is_finished());
    feed.send("DELETED", object("a", "9", "old")).await;
    assert!(reading.await.unwrap().unwrap().is_none());

    // With a finalizer the object stays, and its deletion timestamp must be seen.
    let deleting = |version: &str| {
        let mut deleting = object("b", version, "x");
        deleting["metadata"]["finalizers"] = json!(["ref.dev/f"]);
        deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        deleting
    };
    feed.send("ADDED", object("b", "10", "x")).await;
    scripted.server.answer(200, &deleting("11"));
    client.delete::<ConfigMap>(("ns", "b")).await.unwrap();
    feed.send("MODIFIED", deleting("11")).await;
    let b = client.get::<ConfigMap>(("ns", "b")).await.unwrap();
    assert!(b.metadata.deletion_timestamp.is_some());

    // Removing the last finalizer removes the object.
    let mut last = deleting("11");
    last["metadata"]["finalizers"] = json!([]);
    scripted.server.answer(200, &last);
    client.remove_finalizer(&*b, "ref.dev/f").await.unwrap();
    feed.send("DELETED", deleting("12")).await;
    assert!(client.get_opt::<ConfigMap>(("ns", "b")).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn versions_that_are_not_numbers_are_waited_for_by_equality() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (client, mut feed) = delegating(&scripted).await;
    scripted.server.answer(200, &object("a", "v-two", "new"));
    client.update(&typed(object("a", "5", "new"))).await.unwrap();
    let reading = {
        let client = client.clone();
        scripted
            .cache
            .client()
            .ambient()
            .clone()
            .spawn("read", async move { client.get::<ConfigMap>(("ns", "a")).await })
    };
    feed.send("MODIFIED", object("a", "v-one", "between")).await;
    settle().await;
    assert!(!reading.is_finished());
    feed.send("MODIFIED", object("a", "v-two", "new")).await;
    assert_eq!(data(&reading.await.unwrap().unwrap()), "new");
}

#[tokio::test(start_paused = true)]
async fn a_new_object_whose_version_is_not_a_number_is_waited_for() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (client, mut feed) = delegating(&scripted).await;
    scripted.server.answer(201, &object("c", "v-one", "new"));
    client.create(&typed(object("c", "", "new"))).await.unwrap();
    let reading = {
        let client = client.clone();
        let ambient = scripted.cache.client().ambient().clone();
        ambient.spawn("read", async move { client.get_opt::<ConfigMap>(("ns", "c")).await })
    };
    settle().await;
    assert!(!reading.is_finished(), "the cache has not seen the write");
    feed.send("ADDED", object("c", "v-one", "new")).await;
    assert_eq!(data(&reading.await.unwrap().unwrap().unwrap()), "new");

    // Somebody deletes it before the next version is seen: no read waits for that any more.
    scripted.server.answer(200, &object("c", "v-two", "newer"));
    client.update(&typed(object("c", "v-one", "newer"))).await.unwrap();
    feed.send("DELETED", object("c", "v-three", "newer")).await;
    assert!(client.get_opt::<ConfigMap>(("ns", "c")).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_read_of_one_namespace_does_not_forget_the_deletes_of_another() {
    let scripted = Scripted::start(CacheOptions::builder().namespaces(["one", "two"]).build()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.list("5", &[]);
    scripted.server.list("5", &[]);
    settle().await;
    let (_one, mut two) = (scripted.server.watch(), scripted.server.watch());
    settle().await;
    assert!(informer.has_synced());
    let client = DelegatingClient::new(scripted.cache.client().clone(), scripted.cache.clone());
    scripted.server.answer(201, &object_in("two", "c", "8", "new"));
    client.create(&typed(object_in("two", "c", "", "new"))).await.unwrap();
    let gone =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"name": "c", "uid": "uid-c"}});
    scripted.server.answer(200, &gone);
    client.delete::<ConfigMap>(("two", "c")).await.unwrap();
    assert!(client.get_opt::<ConfigMap>(("one", "c")).await.unwrap().is_none());

    two.send("ADDED", object_in("two", "c", "8", "new")).await;
    let reading = {
        let client = client.clone();
        let ambient = scripted.cache.client().ambient().clone();
        ambient.spawn("read", async move { client.get_opt::<ConfigMap>(("two", "c")).await })
    };
    settle().await;
    assert!(!reading.is_finished(), "the cache has not seen the delete");
    two.send("DELETED", object_in("two", "c", "9", "new")).await;
    assert!(reading.await.unwrap().unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_relist_shows_all_earlier_writes() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (client, mut feed) = delegating(&scripted).await;
    scripted.server.answer(201, &object("c", "900", "new"));
    client.create(&typed(object("c", "", "new"))).await.unwrap();
    settle().await;
    // The server was restored from a backup: its versions are lower now.
    feed.send("ERROR", scripted::status(410, "Expired")).await;
    scripted.server.list("7", &[object("c", "6", "new")]);
    assert_eq!(data(&client.get::<ConfigMap>(("ns", "c")).await.unwrap()), "new");
}

#[tokio::test(start_paused = true)]
async fn unstructured_and_typed_reads_wait_for_each_others_writes() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (client, mut feed) = delegating(&scripted).await;
    let dynamic = client.api(&Kind::<ConfigMap>::typed().erase());
    scripted.server.list("5", &[object("a", "5", "old")]);
    let unstructured = dynamic.get(("ns", "a")).await.unwrap();
    let mut second = scripted.server.watch();
    settle().await;

    scripted.server.answer(200, &object("a", "8", "new"));
    dynamic.update(&unstructured).await.unwrap();
    let typed_read = {
        let client = client.clone();
        scripted
            .cache
            .client()
            .ambient()
            .clone()
            .spawn("read", async move { client.get::<ConfigMap>(("ns", "a")).await })
    };
    settle().await;
    assert!(!typed_read.is_finished());
    feed.send("MODIFIED", object("a", "8", "new")).await;
    assert_eq!(data(&typed_read.await.unwrap().unwrap()), "new");
    second.send("MODIFIED", object("a", "8", "new")).await;
    assert_eq!(dynamic.get(("ns", "a")).await.unwrap().data["data"]["k"], "new");
}

#[tokio::test(start_paused = true)]
async fn b32_index_values_and_fields_must_all_match() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    informer.add_index("app", app).unwrap();
    informer.add_index("data.k", |object| data(object).split(' ').map(str::to_owned).collect()).unwrap();
    let objects = [
        labelled(object("a", "1", "x y"), "web"),
        labelled(object("b", "2", "y"), "web"),
        labelled(object("c", "3", "x y"), "db"),
        labelled(object_in("other", "d", "4", "x y"), "web"),
    ];
    scripted.server.list("5", &objects);
    let list = async |query: ListQuery| {
        let found = scripted.cache.list::<ConfigMap>(&query).await.map_err(|error| error.to_string())?;
        Ok::<_, String>(names(&found).join(" "))
    };
    assert_eq!(list(ListQuery::by_index("app", "web").indexed("data.k", "x")).await.unwrap(), "a d");
    assert_eq!(list(ListQuery::by_index("app", "web").indexed("data.k", "x").within("ns")).await.unwrap(), "a");
    assert_eq!(list(ListQuery::by_index("data.k", "x").indexed("data.k", "y")).await.unwrap(), "a c d");
    assert_eq!(list(ListQuery::by_index("app", "web").indexed("data.k", "z")).await.unwrap(), "");
    assert_eq!(list(ListQuery::all().fields("app=web,data.k==y")).await.unwrap(), "a b d");
    assert_eq!(list(ListQuery::by_index("app", "db").fields("data.k=y")).await.unwrap(), "c");
    assert_eq!(
        list(ListQuery::all().fields("app=web,data.k!=y")).await.unwrap_err(),
        "the cache of ConfigMap/v1 cannot select by fields: \"data.k!=y\" excludes a value, and an index finds objects \
         only by the values that they have"
    );
    assert_eq!(
        list(ListQuery::all().fields("app=web,spec.x=y")).await.unwrap_err(),
        "the cache of ConfigMap/v1 has no index \"spec.x\""
    );
}
