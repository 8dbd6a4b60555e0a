//! How a cache reads everything as the start of a watch, and what it does when a server can't.

mod scripted;

use std::time::Duration;

use controller_runtime_cache::{CacheOptions, ListQuery};
use k8s_openapi::api::core::v1::ConfigMap;
use scripted::{Scripted, bookmark, initial_end, listen, names, next, object, settle, status};
use serde_json::json;

/// The requests so far, without what is the same in all.
async fn requests(scripted: &mut Scripted, count: usize) -> Vec<String> {
    let mut seen = Vec::new();
    for _ in 0..count {
        let request = scripted.server.request().await;
        let query = request.split_once('?').map_or("", |(_, query)| query);
        let telling = ["sendInitialEvents", "resourceVersion", "resourceVersionMatch", "allowWatchBookmarks", "limit"];
        let parts = query.split('&').filter(|part| telling.iter().any(|name| part.split('=').next() == Some(name)));
        seen.push(parts.collect::<Vec<_>>().join(" "));
    }
    seen
}

const STREAM: &str = "allowWatchBookmarks=true sendInitialEvents=true resourceVersionMatch=NotOlderThan";
const PAGES: &str = "limit=500";

fn watch(version: &str) -> String {
    format!("resourceVersion={version} allowWatchBookmarks=true")
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_appears_at_once_and_its_watch_goes_on() {
    let mut scripted = Scripted::streaming(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    let mut feed = scripted.server.watch();
    feed.send("ADDED", object("a", "1", "x")).await;
    feed.send("ADDED", object("b", "2", "x")).await;
    feed.send("ADDED", object("c", "3", "x")).await;
    // Changes that come while the list is streamed are in it, and a bookmark of another kind doesn't end it.
    feed.send("MODIFIED", object("a", "6", "y")).await;
    feed.send("DELETED", object("c", "7", "x")).await;
    feed.send("BOOKMARK", bookmark("7")).await;
    settle().await;
    assert!(informer.is_empty() && !informer.has_synced());
    feed.send("BOOKMARK", initial_end("8")).await;
    assert_eq!(next(&mut events).await, ["initial a y", "initial b x"]);
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    feed.send("MODIFIED", object("b", "9", "y")).await;
    assert_eq!(next(&mut events).await, ["update b x -> y"]);
    drop(feed);
    let _feed = scripted.server.watch();
    assert_eq!(requests(&mut scripted, 2).await, [STREAM, &watch("9")]);
}

/// The versions v1 of a, b and c are known; during a gap a changes, b is deleted and d is made.
async fn check_gap(expire: impl AsyncFnOnce(&Scripted, scripted::Feed)) {
    let mut scripted = Scripted::streaming(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    let mut feed = scripted.server.watch();
    for (name, version) in [("a", "1"), ("b", "2"), ("c", "3")] {
        feed.send("ADDED", object(name, version, "v1")).await;
    }
    feed.send("BOOKMARK", initial_end("5")).await;
    next::<3>(&mut events).await;
    expire(&scripted, feed).await;
    let mut feed = scripted.server.watch();
    feed.send("ADDED", object("a", "11", "v2")).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let everything = || informer.list(&ListQuery::all()).expect("it needs no index");
    assert_eq!(names(&everything()), ["a", "b", "c"], "a gap never empties the cache");
    feed.send("ADDED", object("c", "3", "v1")).await;
    feed.send("ADDED", object("d", "12", "v1")).await;
    feed.send("BOOKMARK", initial_end("20")).await;
    assert_eq!(next(&mut events).await, ["update a v1 -> v2", "delete b v1 (final state unknown)", "add d v1"]);
    assert_eq!(names(&everything()), ["a", "c", "d"]);
    drop(feed);
    let _feed = scripted.server.watch();
    let mut seen = requests(&mut scripted, 4).await;
    seen.dedup();
    assert_eq!(seen.last(), Some(&watch("20")));
    assert!(seen.iter().filter(|request| *request == STREAM).count() >= 1, "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn o17_an_expired_event_is_met_by_a_streaming_list() {
    check_gap(async |scripted, mut feed| {
        feed.send("ERROR", status(410, "Expired")).await;
        drop(feed);
        // The same answer to one that isn't in the script: a streaming list may expire, too.
        scripted.server.fail(410, "Expired");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn o17_an_expired_answer_is_met_by_a_streaming_list() {
    check_gap(async |scripted, feed| {
        drop(feed);
        scripted.server.fail(410, "Gone");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_to_stream_is_asked_for_pages_from_then_on() {
    for (code, reason) in [(422, "Invalid"), (400, "BadRequest"), (405, "MethodNotAllowed")] {
        let mut scripted = Scripted::streaming(CacheOptions::new()).await;
        let (mut events, _registration) = listen(&scripted.cache.informer());
        scripted.server.fail(code, reason);
        scripted.server.list("5", &[object("a", "1", "x")]);
        scripted.server.fail(410, "Expired");
        scripted.server.list("9", &[object("a", "8", "y")]);
        let _feed = scripted.server.watch();
        assert_eq!(next(&mut events).await, ["initial a x", "update a x -> y"], "{code}");
        assert_eq!(requests(&mut scripted, 5).await, [STREAM, PAGES, &watch("5"), PAGES, &watch("9")], "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_end_its_stream_is_asked_for_pages() {
    let mut scripted = Scripted::streaming(CacheOptions::new()).await;
    let (mut events, _registration) = listen(&scripted.cache.informer());
    let mut endless = scripted.server.watch();
    endless.send("ADDED", object("a", "1", "x")).await;
    scripted.server.list("5", &[object("b", "2", "x")]);
    assert_eq!(next(&mut events).await, ["initial b x"]);
    assert_eq!(requests(&mut scripted, 2).await, [STREAM, PAGES]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_is_followed_by_pages_once() {
    let mut scripted = Scripted::streaming(CacheOptions::new()).await;
    let (mut events, _registration) = listen(&scripted.cache.informer());
    let mut feed = scripted.server.watch();
    feed.send("ADDED", object("a", "1", "x")).await;
    drop(feed);
    scripted.server.list("5", &[object("a", "1", "x"), object("b", "2", "x")]);
    scripted.server.fail(410, "Expired");
    let mut feed = scripted.server.watch();
    feed.send("ADDED", object("a", "1", "x")).await;
    feed.send("BOOKMARK", initial_end("9")).await;
    assert_eq!(next(&mut events).await, ["initial a x", "initial b x", "delete b x (final state unknown)"]);
    assert_eq!(requests(&mut scripted, 4).await, [STREAM, PAGES, &watch("5"), STREAM]);
}

#[tokio::test(start_paused = true)]
async fn pages_are_asked_for_where_that_is_configured() {
    let options = CacheOptions::builder().streaming_lists(false).bookmarks(false).page_size(7).build();
    let mut scripted = Scripted::streaming(options).await;
    let _informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.list("5", &[]);
    let _feed = scripted.server.watch();
    assert_eq!(requests(&mut scripted, 2).await, ["limit=7", "resourceVersion=5"]);
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_in_a_stream_is_skipped_and_harms_no_other() {
    let scripted = Scripted::streaming(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    let bad = |name: &str, version: &str| {
        let mut bad = object(name, version, "x");
        bad["data"] = json!({"k": 1});
        bad
    };
    let mut feed = scripted.server.watch();
    feed.send("ADDED", bad("bad", "1")).await;
    feed.send("ADDED", object("b", "2", "x")).await;
    feed.send("BOOKMARK", initial_end("5")).await;
    assert_eq!(next(&mut events).await, ["initial b x"]);
    let error = scripted.cache.get::<ConfigMap>(("ns", "bad")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read ConfigMap/v1 ns/bad from the cache: it does not fit its type");
    feed.send("ERROR", status(410, "Expired")).await;
    let mut feed = scripted.server.watch();
    feed.send("ADDED", object("bad", "6", "y")).await;
    feed.send("ADDED", bad("b", "7")).await;
    feed.send("BOOKMARK", initial_end("8")).await;
    assert_eq!(next(&mut events).await, ["add bad y"]);
    assert_eq!(names(&informer.list(&ListQuery::all()).unwrap()), ["b", "bad"]);
}
