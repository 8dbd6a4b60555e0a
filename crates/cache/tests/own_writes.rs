//! What reads show after writes whose outcome is unclear, or whose answer doesn't say what the cache must show. They
//! need a server that fails on purpose, and a watch that comes late, so they can't run on a real one.

mod scripted;

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Task;
use controller_runtime_cache::{CacheError, CacheOptions, DelegatingClient, ListQuery, ScopeOptions};
use controller_runtime_client::{DeleteOptions, Expression, ListOptions, Patch};
use k8s_openapi::api::core::v1::ConfigMap;
use scripted::{Feed, Scripted, data, object, object_in, settle};
use serde_json::{Value, json};
use tokio::time::Instant;

type Read = Task<Result<Option<Arc<ConfigMap>>, CacheError>>;

/// A running cache with `a` in version 5, its watch, and a client on it.
async fn delegating(scripted: &mut Scripted) -> (DelegatingClient, Feed) {
    scripted.server.list("5", &[object("a", "5", "old")]);
    scripted.cache.get::<ConfigMap>(("ns", "a")).await.expect("it is listed");
    let feed = scripted.server.watch();
    settle().await;
    for _ in 0..2 {
        scripted.server.request().await;
    }
    (DelegatingClient::new(scripted.cache.client().clone(), scripted.cache.clone()), feed)
}

fn typed(value: Value) -> ConfigMap {
    serde_json::from_value(value).expect("it is a ConfigMap")
}

fn named(code: u16, reason: &str, name: &str) -> Value {
    let mut status = scripted::status(code, reason);
    status["details"] = json!({"name": name});
    status
}

fn gone(name: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"name": name, "uid": format!("uid-{name}")}})
}

fn read(scripted: &Scripted, client: &DelegatingClient, name: &'static str) -> Read {
    let client = client.clone();
    let ambient = scripted.cache.client().ambient().clone();
    ambient.spawn("read", async move { client.get_opt::<ConfigMap>(("ns", name)).await })
}

async fn found(read: Read) -> Option<String> {
    read.await.expect("it does not panic").expect("it can be read").map(|object| data(&object).to_owned())
}

/// The look-up that a read makes to find out what became of a write.
const LOOK_UP: &str = "GET /api/v1/configmaps?fieldSelector=metadata.name%3Da&limit=500";

async fn look_up(scripted: &mut Scripted) -> String {
    let request = scripted.server.request().await;
    let line = request.split_once(' ').map(|(_, line)| line.to_owned()).expect("time, method and URL");
    line.replace("/namespaces/ns/", "/")
}

#[tokio::test(start_paused = true)]
async fn a_write_that_timed_out_is_looked_up_and_waited_for() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, mut feed) = delegating(&mut scripted).await;
    client.update(&typed(object("a", "5", "new"))).await.expect_err("nothing answers");
    scripted.server.request().await;
    scripted.server.list("9", &[object("a", "8", "new")]);
    let reading = read(&scripted, &client, "a");
    // The update that nobody answered still holds the script's first answer.
    settle().await;
    assert_eq!(look_up(&mut scripted).await, LOOK_UP);
    assert!(!reading.is_finished(), "the cache has not seen the write");
    feed.send("MODIFIED", object("a", "8", "new")).await;
    assert_eq!(found(reading).await.as_deref(), Some("new"));
    // It is known now: nothing is asked again.
    assert_eq!(found(read(&scripted, &client, "a")).await.as_deref(), Some("new"));
}

#[tokio::test(start_paused = true)]
async fn answers_that_tell_that_the_cache_is_behind_are_heeded() {
    for (code, reason) in [(409, "Conflict"), (409, "AlreadyExists"), (404, "NotFound"), (500, "InternalError")] {
        let mut scripted = Scripted::start(CacheOptions::default()).await;
        let (client, mut feed) = delegating(&mut scripted).await;
        scripted.server.answer(code, &named(code, reason, "a"));
        client.update(&typed(object("a", "5", "mine"))).await.expect_err("it fails");
        scripted.server.request().await;
        let is_there = reason != "NotFound";
        let theirs = [object("a", "8", "theirs")];
        scripted.server.list("9", if is_there { &theirs } else { &[] });
        let reading = read(&scripted, &client, "a");
        settle().await;
        assert_eq!(look_up(&mut scripted).await, LOOK_UP, "{reason}");
        assert!(!reading.is_finished(), "{reason}");
        feed.send(if is_there { "MODIFIED" } else { "DELETED" }, object("a", "8", "theirs")).await;
        assert_eq!(found(reading).await.as_deref(), is_there.then_some("theirs"), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_say_nothing_new_cost_no_request() {
    for (code, reason) in [(422, "Invalid"), (403, "Forbidden"), (400, "BadRequest"), (429, "TooManyRequests")] {
        let mut scripted = Scripted::start(CacheOptions::default()).await;
        let (client, _feed) = delegating(&mut scripted).await;
        scripted.server.answer(code, &named(code, reason, "a"));
        client.update(&typed(object("a", "5", "mine"))).await.expect_err("it fails");
        assert_eq!(found(read(&scripted, &client, "a")).await.as_deref(), Some("old"), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_cannot_be_looked_up_is_an_error_that_names_it() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, _feed) = delegating(&mut scripted).await;
    scripted.server.fail(500, "InternalError");
    client.update(&typed(object("a", "5", "new"))).await.expect_err("it fails");
    scripted.server.fail(403, "Forbidden");
    let error = client.get::<ConfigMap>(("ns", "a")).await.expect_err("nobody knows");
    assert_eq!(
        error.to_string(),
        "cannot tell whether the cache of ConfigMap/v1 shows our last write: cannot list ConfigMap/v1 in namespace ns: \
         scripted Forbidden"
    );
    // Reads of other objects are not concerned, and the next read asks again.
    assert!(client.get_opt::<ConfigMap>(("ns", "b")).await.expect("it can be read").is_none());
    scripted.server.list("9", &[object("a", "5", "old")]);
    assert_eq!(data(&client.get::<ConfigMap>(("ns", "a")).await.expect("it is known now")), "old");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_deleted_before_the_cache_knows_it_never_shows() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, mut feed) = delegating(&mut scripted).await;
    scripted.server.answer(200, &gone("c"));
    client.delete::<ConfigMap>(("ns", "c")).await.expect("it is deleted");
    assert_eq!(found(read(&scripted, &client, "c")).await, None);
    // Only now the cache hears that it was made.
    feed.send("ADDED", object("c", "7", "x")).await;
    settle().await;
    let reading = read(&scripted, &client, "c");
    settle().await;
    assert!(!reading.is_finished(), "the cache shows what is gone");
    feed.send("DELETED", object("c", "8", "x")).await;
    assert_eq!(found(reading).await, None);
    // One of the same name that comes later is another object.
    let mut later = object("c", "9", "later");
    later["metadata"]["uid"] = json!("uid-later");
    feed.send("ADDED", later).await;
    settle().await;
    assert_eq!(found(read(&scripted, &client, "c")).await.as_deref(), Some("later"));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_of_many_is_looked_up() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, mut feed) = delegating(&mut scripted).await;
    feed.send("ADDED", object("b", "6", "x")).await;
    feed.send("ADDED", object_in("other", "c", "7", "x")).await;
    settle().await;
    scripted.server.answer(200, &json!({"kind": "Status", "apiVersion": "v1", "status": "Success"}));
    client
        .delete_all::<ConfigMap>(&ListOptions::in_namespace("ns"), &DeleteOptions::new())
        .await
        .expect("they are deleted");
    // Reads of another namespace are not concerned.
    assert_eq!(client.list::<ConfigMap>(&ListQuery::in_namespace("other")).await.expect("it is read").len(), 1);
    // One waits for a finalizer.
    scripted.server.list("12", &[object("b", "11", "deleting")]);
    let listing = {
        let client = client.clone();
        let ambient = scripted.cache.client().ambient().clone();
        ambient.spawn("list", async move { client.list::<ConfigMap>(&ListQuery::in_namespace("ns")).await })
    };
    feed.send("DELETED", object("a", "10", "old")).await;
    settle().await;
    assert!(!listing.is_finished());
    feed.send("MODIFIED", object("b", "11", "deleting")).await;
    let left = listing.await.expect("it does not panic").expect("it can be read");
    assert_eq!(left.iter().map(|object| data(object)).collect::<Vec<_>>(), ["deleting"]);
}

#[tokio::test(start_paused = true)]
async fn a_generated_name_whose_answer_is_lost_is_looked_up_in_the_namespace() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, mut feed) = delegating(&mut scripted).await;
    let mut nameless = typed(object("", "", "new"));
    nameless.metadata.name = None;
    nameless.metadata.generate_name = Some("x-".to_owned());
    scripted.server.fail(500, "InternalError");
    client.create(&nameless).await.expect_err("it fails");
    scripted.server.list("9", &[object("a", "5", "old"), object("x-1", "8", "new")]);
    let reading = read(&scripted, &client, "x-1");
    settle().await;
    assert!(!reading.is_finished());
    feed.send("ADDED", object("x-1", "8", "new")).await;
    assert_eq!(found(reading).await.as_deref(), Some("new"));
}

#[tokio::test(start_paused = true)]
async fn a_subresource_whose_answer_shows_no_object_is_looked_up() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, mut feed) = delegating(&mut scripted).await;
    let api = client.api(&controller_runtime_scheme::Kind::<ConfigMap>::typed());
    scripted.server.answer(200, &json!({}));
    api.patch_subresource::<Value>(("ns", "a"), "any", &Patch::Merge(json!({}))).await.expect("it is written");
    scripted.server.list("9", &[object("a", "8", "new")]);
    let reading = read(&scripted, &client, "a");
    settle().await;
    assert!(!reading.is_finished());
    feed.send("MODIFIED", object("a", "8", "new")).await;
    assert_eq!(found(reading).await.as_deref(), Some("new"));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_begins_after_the_write_tells_its_outcome() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, mut feed) = delegating(&mut scripted).await;
    scripted.server.fail(500, "InternalError");
    client.update(&typed(object("a", "5", "new"))).await.expect_err("it fails");
    settle().await;
    feed.send("ERROR", scripted::status(410, "Expired")).await;
    scripted.server.list("9", &[object("a", "8", "new")]);
    settle().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let _feed = scripted.server.watch();
    assert_eq!(found(read(&scripted, &client, "a")).await.as_deref(), Some("new"));
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_selects_waits_only_for_what_it_will_show() {
    let of_web = Expression::Equal("app".to_owned(), "web".to_owned());
    let options = CacheOptions::builder().labels(of_web).build();
    let scripted = Scripted::start(options).await;
    let labelled = |name: &str, version: &str, app: &str| {
        let mut object = object(name, version, app);
        object["metadata"]["labels"] = json!({"app": app});
        object
    };
    scripted.server.list("5", &[labelled("a", "5", "web")]);
    scripted.cache.get::<ConfigMap>(("ns", "a")).await.expect("it is listed");
    let mut feed = scripted.server.watch();
    settle().await;
    let client = DelegatingClient::new(scripted.cache.client().clone(), scripted.cache.clone());
    let start = Instant::now();
    scripted.server.answer(201, &labelled("b", "6", "db"));
    client.create(&typed(labelled("b", "", "db"))).await.expect("it is created");
    assert_eq!(found(read(&scripted, &client, "b")).await, None, "the cache never shows it");

    scripted.server.answer(201, &labelled("c", "7", "web"));
    client.create(&typed(labelled("c", "", "web"))).await.expect("it is created");
    let reading = read(&scripted, &client, "c");
    settle().await;
    assert!(!reading.is_finished());
    feed.send("ADDED", labelled("c", "7", "web")).await;
    assert_eq!(found(reading).await.as_deref(), Some("web"));

    // One that leaves the selection leaves the cache.
    scripted.server.answer(200, &labelled("a", "8", "db"));
    client.update(&typed(labelled("a", "5", "db"))).await.expect("it is updated");
    let reading = read(&scripted, &client, "a");
    settle().await;
    assert!(!reading.is_finished());
    feed.send("DELETED", labelled("a", "8", "web")).await;
    assert_eq!(found(reading).await, None);
    assert!(start.elapsed() < Duration::from_secs(1), "nothing waited for what never comes");
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_selects_by_fields_asks_the_server() {
    let not_b = ScopeOptions::builder().fields("metadata.name!=b").build();
    let options = CacheOptions::builder().namespace("ns", not_b).build();
    let mut scripted = Scripted::start(options).await;
    let (client, _feed) = delegating(&mut scripted).await;
    scripted.server.answer(201, &object("b", "6", "new"));
    client.create(&typed(object("b", "", "new"))).await.expect("it is created");
    scripted.server.list("6", &[]);
    assert_eq!(found(read(&scripted, &client, "b")).await, None);
    scripted.server.request().await;
    assert_eq!(
        look_up(&mut scripted).await,
        "GET /api/v1/configmaps?fieldSelector=metadata.name%21%3Db%2Cmetadata.name%3Db&limit=500"
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_waits_for_writes_no_longer_than_its_caller_wants() {
    let mut scripted = Scripted::start(CacheOptions::default()).await;
    let (client, _feed) = delegating(&mut scripted).await;
    scripted.server.answer(201, &object("c", "9", "new"));
    client.create(&typed(object("c", "", "new"))).await.expect("it is created");
    let start = Instant::now();
    let kind = controller_runtime_scheme::Kind::<ConfigMap>::typed();
    let reader = client.api(&kind).with_read_timeout(Duration::from_millis(200));
    let error = reader.get(("ns", "c")).await.expect_err("the cache is behind");
    assert!(matches!(error, CacheError::Stale { after, .. } if after == Duration::from_millis(200)), "{error}");
    assert_eq!(start.elapsed(), Duration::from_millis(200));
}
