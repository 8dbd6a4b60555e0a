//! How a cache follows a server: lists, watches, gaps, failures.

mod scripted;

use std::time::Duration;

use controller_runtime_cache::{CacheError, CacheOptions, ListQuery};
use controller_runtime_metrics::Format;
use controller_runtime_scheme::ObjectKey;
use k8s_openapi::api::core::v1::ConfigMap;
use scripted::{Scripted, bookmark, data, listen, names, next, object, settle, status};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn handlers_hear_of_everything_once_and_in_order() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut early, _early) = listen(&informer);
    scripted.server.list("5", &[object("a", "1", "x"), object("b", "2", "x")]);
    let mut feed = scripted.server.watch();
    assert_eq!(next(&mut early).await, ["initial a x", "initial b x"]);
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();

    let (mut late, late_registration) = listen(&informer);
    feed.send("ADDED", object("c", "6", "x")).await;
    feed.send("MODIFIED", object("a", "7", "y")).await;
    feed.send("DELETED", object("b", "8", "x")).await;
    assert_eq!(next(&mut early).await, ["add c x", "update a x -> y", "delete b x"]);
    assert_eq!(next(&mut late).await, ["initial a x", "initial b x", "add c x", "update a x -> y", "delete b x"]);
    assert_eq!(names(&informer.list(&ListQuery::all()).unwrap()), ["a", "c"]);

    drop(late_registration);
    feed.send("DELETED", object("c", "9", "x")).await;
    assert_eq!(next(&mut early).await, ["delete c x"]);
    assert_eq!(late.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_from_the_last_version() {
    let mut scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    scripted.server.list("5", &[]);
    let mut feed = scripted.server.watch();
    feed.send("ADDED", object("a", "6", "x")).await;
    assert_eq!(next(&mut events).await, ["add a x"]);
    feed.send("BOOKMARK", bookmark("9")).await;
    drop(feed);
    let mut feed = scripted.server.watch();
    feed.send("MODIFIED", object("a", "10", "y")).await;
    assert_eq!(next(&mut events).await, ["update a x -> y"]);
    let mut requests = Vec::new();
    for _ in 0..3 {
        requests.push(scripted.server.request().await);
    }
    insta::assert_snapshot!(requests.join("\n"), @r#"
    0.0 GET /api/v1/configmaps?limit=500
    0.0 GET /api/v1/configmaps?watch=true&resourceVersion=5&timeoutSeconds=428&allowWatchBookmarks=true
    0.0 GET /api/v1/configmaps?watch=true&resourceVersion=9&timeoutSeconds=352&allowWatchBookmarks=true
    "#);
}

/// The versions a, b and c are known; during a gap a changes, b is deleted and d is made.
async fn check_gap(expire: impl AsyncFnOnce(&mut Scripted)) {
    let mut scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    scripted.server.list("5", &[object("a", "1", "v1"), object("b", "2", "v1"), object("c", "3", "v1")]);
    next::<3>(&mut events).await;
    expire(&mut scripted).await;
    settle().await;
    assert_eq!(
        names(&informer.list(&ListQuery::all()).expect("it needs no index")),
        ["a", "b", "c"],
        "a gap never empties the cache"
    );
    scripted.server.list("20", &[object("a", "11", "v2"), object("c", "3", "v1"), object("d", "12", "v1")]);
    let mut feed = scripted.server.watch();
    assert_eq!(next(&mut events).await, ["update a v1 -> v2", "delete b v1 (final state unknown)", "add d v1"]);
    assert_eq!(names(&informer.list(&ListQuery::all()).expect("it needs no index")), ["a", "c", "d"]);
    feed.send("DELETED", object("d", "21", "v1")).await;
    assert_eq!(next(&mut events).await, ["delete d v1"]);
    let mut requests = Vec::new();
    for _ in 0..4 {
        requests.push(scripted.server.request().await);
    }
    let again = requests.split_off(2);
    assert!(again[0].ends_with("GET /api/v1/configmaps?limit=500"), "{again:?}");
    assert!(again[1].contains("watch=true&resourceVersion=20"), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn o17_an_expired_event_is_met_by_a_list() {
    check_gap(async |scripted| {
        let mut feed = scripted.server.watch();
        feed.send("ERROR", status(410, "Expired")).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn o17_an_expired_answer_is_met_by_a_list() {
    check_gap(async |scripted| scripted.server.fail(410, "Gone")).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_says_when_to_come_back_and_cannot_say_never() {
    async fn check(asked: u32, expected: std::ops::Range<f64>) {
        let mut scripted = Scripted::start(CacheOptions::new()).await;
        let _informer = scripted.cache.informer::<ConfigMap>();
        let mut busy = status(429, "TooManyRequests");
        busy["details"]["retryAfterSeconds"] = json!(asked);
        scripted.server.answer(429, &busy);
        scripted.server.list("5", &[]);
        scripted.server.request().await;
        let request = scripted.server.request().await;
        let time: f64 = request.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(f64::NAN);
        assert!(expected.contains(&time), "{asked} s: {request}");
    }
    check(0, 0.5..1.2).await;
    check(7, 7.0..7.1).await;
    check(100_000, 30.0..30.1).await;
}

#[tokio::test(start_paused = true)]
async fn durations_without_end_are_borne() {
    let options = CacheOptions::builder()
        .sync_timeout(Duration::MAX)
        .write_timeout(Duration::MAX)
        .watch_timeout(Duration::MAX)
        .idle_timeout(Duration::MAX)
        .min_backoff(Duration::from_secs(1))
        .max_backoff(Duration::MAX)
        .resync(Duration::MAX)
        .build();
    let mut scripted = Scripted::start(options).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.fail(500, "InternalError");
    scripted.server.list("5", &[object("a", "1", "x")]);
    let _feed = scripted.server.watch();
    scripted.cache.wait_for_sync(Duration::MAX).await.unwrap();
    informer.wait_for_sync(Duration::MAX).await.unwrap();
    assert_eq!(data(&scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap()), "x");
    settle().await;
    let requests = [scripted.server.request().await, scripted.server.request().await, scripted.server.request().await];
    assert!(requests[2].contains("timeoutSeconds=4294967295"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn a_resync_repeats_every_object_without_a_request() {
    let options = CacheOptions::builder().resync(Duration::from_secs(100)).idle_timeout(Duration::MAX).build();
    let mut scripted = Scripted::start(options).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    let (sender, mut repetitions) = tokio::sync::mpsc::unbounded_channel();
    let _repetitions = informer.add_handler(move |event| {
        let _ = sender.send(event.is_repetition());
    });
    scripted.server.list("5", &[object("a", "1", "x"), object("b", "2", "x")]);
    let mut feed = scripted.server.watch();
    assert_eq!(next(&mut events).await, ["initial a x", "initial b x"]);
    let began = tokio::time::Instant::now();
    for round in 1..=3 {
        assert_eq!(next(&mut events).await, ["update a x -> x", "update b x -> x"]);
        let seconds = began.elapsed().as_secs_f64();
        assert!((f64::from(round) * 90.0..f64::from(round) * 110.0).contains(&seconds), "{seconds}");
    }
    feed.send("MODIFIED", object("a", "6", "y")).await;
    assert_eq!(next(&mut events).await, ["update a x -> y"]);
    let mut seen = Vec::new();
    for _ in 0..9 {
        seen.push(repetitions.recv().await.unwrap());
    }
    assert_eq!(seen, [true, true, true, true, true, true, true, true, false]);
    let requests = [scripted.server.request().await, scripted.server.request().await];
    assert!(requests[1].contains("watch=true"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn an_object_with_odd_metadata_is_not_taken_for_deleted() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (mut events, _registration) = listen(&scripted.cache.informer());
    scripted.server.list("5", &[object("a", "1", "x"), object("b", "2", "x"), object("c", "3", "x")]);
    assert_eq!(next(&mut events).await, ["initial a x", "initial b x", "initial c x"]);
    // All of its metadata but the name is odd.
    let mut odd = object("b", "6", "y");
    odd["metadata"]["resourceVersion"] = json!(6);
    odd["metadata"]["labels"] = json!([1]);
    scripted.server.fail(410, "Expired");
    scripted.server.list("10", &[object("a", "7", "y"), odd]);
    let mut feed = scripted.server.watch();
    assert_eq!(next(&mut events).await, ["update a x -> y", "delete c x (final state unknown)"]);
    // Nobody knows which object it is: it may be any of those that are missing.
    let mut nameless = object("b", "6", "y");
    nameless["metadata"]["name"] = json!({});
    feed.send("ERROR", status(410, "Expired")).await;
    scripted.server.list("20", &[nameless.clone(), object("d", "11", "x")]);
    let mut feed = scripted.server.watch();
    assert_eq!(next(&mut events).await, ["add d x"]);
    feed.send("MODIFIED", nameless).await;
    feed.send("MODIFIED", object("b", "12", "z")).await;
    assert_eq!(next(&mut events).await, ["update b x -> z"]);
    let text = scripted.cache.client().metrics().encode(Format::PrometheusText).unwrap();
    let counted = r#"controller_runtime_cache_undecodable_objects_total{group="",version="v1",kind="ConfigMap"} 3"#;
    assert!(text.contains(counted), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_server_has_not_reached_is_met_by_a_list() {
    check_gap(async |scripted| {
        let mut too_large = status(504, "Timeout");
        too_large["details"]["causes"] = json!([{"reason": "ResourceVersionTooLarge"}]);
        scripted.server.answer(504, &too_large);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_refused_again_and_again_is_met_by_a_list() {
    let mut scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.list("5", &[object("a", "1", "x")]);
    for _ in 0..3 {
        scripted.server.fail(500, "InternalError");
    }
    scripted.server.list("6", &[object("a", "6", "y")]);
    let (mut events, _registration) = listen(&informer);
    assert_eq!(next(&mut events).await, ["initial a x", "update a x -> y"]);
    let mut requests = Vec::new();
    for _ in 0..5 {
        requests.push(scripted.server.request().await.contains("watch=true"));
    }
    assert_eq!(requests, [false, true, true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn an_object_made_anew_during_a_gap_is_deleted_first() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let (mut events, _registration) = listen(&scripted.cache.informer());
    scripted.server.list("5", &[object("a", "1", "old")]);
    scripted.server.fail(410, "Expired");
    let mut anew = object("a", "9", "new");
    anew["metadata"]["uid"] = json!("another");
    scripted.server.list("10", &[anew]);
    assert_eq!(next(&mut events).await, ["initial a old", "delete a old (final state unknown)", "add a new"]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_opened_again() {
    let mut scripted = Scripted::start(CacheOptions::new()).await;
    let _informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.list("5", &[]);
    let _silent = scripted.server.watch();
    let _next = scripted.server.watch();
    for expected in
        ["0.0 GET /api/v1/configmaps?limit", "0.0 GET /api/v1/configmaps?watch", "120.0 GET /api/v1/configmaps?watch"]
    {
        let request = scripted.server.request().await;
        assert!(request.starts_with(expected), "{request} is not {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_met_with_growing_delays_that_a_seed_repeats() {
    async fn delays() -> Vec<f64> {
        let mut scripted = Scripted::start(CacheOptions::new()).await;
        let _informer = scripted.cache.informer::<ConfigMap>();
        let mut times = Vec::new();
        for _ in 0..9 {
            scripted.server.fail(500, "InternalError");
            let request = scripted.server.request().await;
            times.push(request.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(f64::NAN));
        }
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
    let seen = delays().await;
    for (delay, nominal) in seen.iter().zip([0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]) {
        assert!((nominal * 0.7..nominal * 1.3).contains(delay), "{delay} is not around {nominal}");
    }
    assert_eq!(seen, delays().await);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_yet_is_found_later() {
    let scripted = Scripted::start(CacheOptions::builder().sync_timeout(Duration::from_secs(2)).build()).await;
    for _ in 0..3 {
        scripted.server.answer(404, &json!("404 page not found"));
    }
    let error = scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "timed out waiting for cache of ConfigMap/v1 after 2s: the server does not serve the kind"
    );
    assert!(matches!(error, CacheError::KindNotServed { .. }));
    scripted.server.list("5", &[object("a", "1", "x")]);
    scripted.cache.wait_for_sync(Duration::from_secs(10)).await.unwrap();
    assert_eq!(data(&scripted.cache.get::<ConfigMap>(("ns", "a")).await.unwrap()), "x");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_named_when_the_wait_ends() {
    let scripted = Scripted::start(CacheOptions::builder().sync_timeout(Duration::from_secs(2)).build()).await;
    for _ in 0..3 {
        scripted.server.fail(500, "InternalError");
    }
    assert_eq!(
        scripted.cache.list::<ConfigMap>(&ListQuery::all()).await.unwrap_err().to_string(),
        "timed out waiting for cache of ConfigMap/v1 after 2s: cannot list ConfigMap/v1: scripted InternalError"
    );
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_is_skipped_and_harms_no_other() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let (mut events, _registration) = listen(&informer);
    let bad = |name: &str, version: &str| {
        let mut bad = object(name, version, "x");
        bad["data"] = json!({"k": 1});
        bad
    };
    scripted.server.list("5", &[bad("bad", "1"), object("b", "2", "x"), object("c", "3", "x")]);
    let mut feed = scripted.server.watch();
    feed.send("ADDED", bad("worse", "6")).await;
    feed.send("MODIFIED", bad("b", "7")).await;
    feed.send("MODIFIED", object("c", "8", "y")).await;
    assert_eq!(next(&mut events).await, ["initial b x", "initial c x", "update c x -> y"]);
    // In a relist, too, b exists, so it isn't deleted; bad is readable now.
    feed.send("ERROR", status(410, "Expired")).await;
    scripted.server.list("20", &[object("bad", "9", "z"), bad("b", "7"), object("c", "8", "y")]);
    let mut feed = scripted.server.watch();
    assert_eq!(next(&mut events).await, ["add bad z"]);
    feed.send("DELETED", bad("b", "21")).await;
    assert_eq!(next(&mut events).await, ["delete b x"]);
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_is_not_read_as_absent() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let bad = |name: &str, version: &str| {
        let mut bad = object(name, version, "x");
        bad["data"] = json!({"k": 1});
        bad
    };
    let check = async |name: &str, expected: &str| {
        settle().await;
        let found = match scripted.cache.get_opt::<ConfigMap>(("ns", name)).await {
            Ok(found) => found.map_or("absent".to_owned(), |object| data(&object).to_owned()),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{name}");
    };
    let unfit = |name: &str| format!("cannot read ConfigMap/v1 ns/{name} from the cache: it does not fit its type");
    scripted.server.list("5", &[bad("a", "1"), object("b", "2", "x"), bad("c", "3")]);
    let mut feed = scripted.server.watch();
    check("a", &unfit("a")).await;
    check("b", "x").await;
    check("d", "absent").await;
    feed.send("MODIFIED", object("a", "6", "y")).await;
    feed.send("MODIFIED", bad("b", "7")).await;
    feed.send("DELETED", bad("c", "8")).await;
    check("a", "y").await;
    check("b", &unfit("b")).await;
    check("c", "absent").await;
    feed.send("DELETED", bad("b", "9")).await;
    feed.send("ADDED", bad("d", "10")).await;
    check("b", "absent").await;
    check("d", &unfit("d")).await;
    feed.send("ERROR", status(410, "Expired")).await;
    scripted.server.list("20", &[bad("a", "11")]);
    let _feed = scripted.server.watch();
    tokio::time::sleep(Duration::from_secs(2)).await;
    check("a", &unfit("a")).await;
    check("d", "absent").await;
}

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages_and_appears_at_once() {
    let mut scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    scripted.server.page("5", "t1", &[object("a", "1", "x")]);
    settle().await;
    assert!(informer.is_empty() && !informer.has_synced());
    // The second page is gone, so all is read in one.
    scripted.server.fail(410, "Expired");
    scripted.server.list("6", &[object("a", "1", "x"), object("b", "2", "x")]);
    informer.wait_for_sync(Duration::from_secs(1)).await.unwrap();
    assert_eq!(informer.len(), 2);
    let mut requests = Vec::new();
    for _ in 0..3 {
        requests.push(scripted.server.request().await);
    }
    insta::assert_snapshot!(requests.join("\n"), @r#"
    0.0 GET /api/v1/configmaps?limit=500
    0.0 GET /api/v1/configmaps?limit=500&continue=t1
    0.0 GET /api/v1/configmaps
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_misses_its_event_and_harms_no_other() {
    let scripted = Scripted::start(CacheOptions::new()).await;
    let informer = scripted.cache.informer::<ConfigMap>();
    let _bad = informer.add_handler(|event| assert_ne!(event.key(), ObjectKey::namespaced("ns", "a"), "boom"));
    let (mut events, _good) = listen(&informer);
    scripted.server.list("5", &[object("a", "1", "x"), object("b", "2", "x")]);
    assert_eq!(next(&mut events).await, ["initial a x", "initial b x"]);
    assert_eq!(informer.len(), 2);
}
