use std::time::Duration;

use serde_json::{Value, json};

use crate::api::Api;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn put(api: &Api, name: &str, app: &str, v: u32) -> String {
    let path = format!("{MAPS}/{name}");
    let body = json!({"metadata": {"name": name, "labels": {"app": app}}, "data": {"v": v.to_string()}});
    let (method, path) = if api.get(&path).await.code == 404 { ("POST", MAPS) } else { ("PUT", path.as_str()) };
    api.ok(method, path, body).await.revision()
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_entered_and_left() {
    let api = Api::new();
    let start = api.get(MAPS).await.revision();
    let mut watch = api.watch(&format!("{MAPS}?watch=1&labelSelector=app%3Dweb&resourceVersion={start}")).await;
    put(&api, "a", "web", 1).await;
    put(&api, "a", "web", 2).await;
    let relabelled = put(&api, "a", "db", 3).await;
    put(&api, "a", "db", 4).await;
    put(&api, "a", "web", 5).await;
    api.ok("DELETE", &format!("{MAPS}/a"), Value::Null).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        let event = watch.next().await.unwrap();
        let object = &event["object"];
        seen.push(
            format!("{} v{} {}", event["type"], object["data"]["v"], object["metadata"]["labels"]["app"])
                .replace('"', ""),
        );
        if seen.len() == 3 {
            assert_eq!(object["metadata"]["resourceVersion"], *relabelled);
        }
    }
    assert_eq!(seen, ["ADDED v1 web", "MODIFIED v2 web", "DELETED v2 web", "ADDED v5 web", "DELETED v5 web"]);
    assert!(watch.now("/object/data/v").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_where_a_list_ended() {
    let api = Api::new();
    put(&api, "b", "x", 1).await;
    let list = api.get(MAPS).await.revision();
    put(&api, "b", "x", 2).await;
    api.ok("DELETE", &format!("{MAPS}/b"), Value::Null).await;
    put(&api, "c", "x", 1).await;
    let mut resumed = api.watch(&format!("{MAPS}?watch=1&resourceVersion={list}")).await;
    assert_eq!(resumed.now("/object/metadata/name").await, ["MODIFIED b", "DELETED b", "ADDED c"]);
    for revision in ["", "&resourceVersion=0"] {
        let mut fresh = api.watch(&format!("{MAPS}?watch=1{revision}")).await;
        assert_eq!(fresh.now("/object/metadata/name").await, ["ADDED c"]);
    }
    let mut short = api.watch(&format!("{MAPS}?watch=1&timeoutSeconds=2&resourceVersion={list}")).await;
    let started = tokio::time::Instant::now();
    let mut events = 0;
    while short.next().await.is_some() {
        events += 1;
    }
    assert_eq!((events, started.elapsed().as_secs()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_ends_with_a_bookmark() {
    let api = Api::new();
    put(&api, "c", "x", 1).await;
    let last = put(&api, "d", "x", 1).await;
    let query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let mut watch = api.watch(&format!("{MAPS}?{query}&allowWatchBookmarks=true")).await;
    assert_eq!(watch.next().await.unwrap()["object"]["metadata"]["name"], "c");
    assert_eq!(watch.next().await.unwrap()["object"]["metadata"]["name"], "d");
    assert_eq!(
        watch.next().await.unwrap(),
        json!({"type": "BOOKMARK", "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {
            "resourceVersion": last, "annotations": {"k8s.io/initial-events-end": "true"}}}})
    );
    put(&api, "e", "x", 1).await;
    assert_eq!(watch.now("/object/metadata/name").await, ["ADDED e"]);
    let mut without = api.watch(&format!("{MAPS}?{query}")).await;
    assert_eq!(without.now("/object/metadata/name").await, ["ADDED c", "ADDED d", "ADDED e"]);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_and_before_the_end() {
    let api = Api::new();
    let revision = put(&api, "c", "x", 1).await;
    let query = "watch=1&allowWatchBookmarks=true&timeoutSeconds=90";
    let mut watch = api.watch(&format!("{MAPS}?{query}&resourceVersion={revision}")).await;
    let started = tokio::time::Instant::now();
    let mut seen = Vec::new();
    while let Some(event) = watch.next().await {
        seen.push(format!(
            "{} {} at {}",
            event["type"],
            event["object"]["metadata"]["resourceVersion"],
            started.elapsed().as_secs()
        ));
    }
    let expected = |at: u32| format!("\"BOOKMARK\" \"{revision}\" at {at}");
    assert_eq!(seen, [expected(60), expected(88)]);
    assert_eq!(started.elapsed(), Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_server_is_the_end_of_its_watches() {
    let api = Api::new();
    let mut watch = api.watch(&format!("{MAPS}?watch=1")).await;
    let (event, ()) = tokio::join!(watch.next(), api.server.shutdown());
    assert_eq!(event, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_compacted_has_expired() {
    let api = Api::new();
    let old = put(&api, "c", "x", 1).await;
    put(&api, "c", "x", 2).await;
    let page = api.get("/api/v1/namespaces?limit=1").await.text("/metadata/continue");
    let mut open = api.watch(&format!("{MAPS}?watch=1&resourceVersion={old}")).await;
    assert_eq!(open.now("/object/data/v").await, ["MODIFIED 2"]);
    put(&api, "c", "x", 3).await;
    api.server.compact();
    put(&api, "c", "x", 4).await;
    let mut late = api.watch(&format!("{MAPS}?watch=1&resourceVersion={old}")).await;
    let event = late.next().await.unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["code"], &event["object"]["reason"]),
        (&json!("ERROR"), &json!(410), &json!("Expired"))
    );
    assert_eq!(late.next().await, None);
    let exact = format!("{MAPS}?resourceVersion={old}&resourceVersionMatch=Exact");
    api.refused("GET", &exact, Value::Null, (410, "Expired", "The resourceVersion for the provided list is too old."))
        .await;
    let expired = api
        .refused(
            "GET",
            &format!("/api/v1/namespaces?limit=1&continue={page}"),
            Value::Null,
            (410, "Expired", "The provided continue parameter is too old to display a consistent list result."),
        )
        .await;
    let next = expired.text("/metadata/continue");
    assert_eq!(
        api.ok("GET", &format!("/api/v1/namespaces?limit=1&continue={next}"), Value::Null).await.names(),
        ["kube-node-lease"]
    );
}
