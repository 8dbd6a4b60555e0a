//! Gives the embedded server the requests that the reference was given, and compares the answers.
//!
//! `cargo xtask codegen` asks the reference again. What differs from run to run is replaced by words in both. Where a
//! step says `"texts": "differ"`, the reference prints a Go struct or a list of changes, and only places and reasons of
//! errors are compared.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fmt::Write as _;

use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::ApiServer;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt;

mod normal;

/// Replays a recording and tells what differs, step by step.
async fn replay(name: &str, text: &str) -> String {
    let server = ApiServer::builder().ambient(Ambient::seeded(1)).build();
    let namespace = format!("recorded-{}", name.replace('_', "-"));
    let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    ask(&server, "POST", "/api/v1/namespaces", "application/json", &made.to_string()).await;
    let mut differences = String::new();
    let steps: Vec<Value> = serde_json::from_str(text).unwrap();
    for step in steps {
        let request = &step["request"];
        let part = |key: &str| request[key].as_str().unwrap_or_default();
        let media_type = request["contentType"].as_str().unwrap_or("application/json");
        let body = if request["body"].is_null() { String::new() } else { request["body"].to_string() };
        let path = part("path").replace("{namespace}", &namespace);
        let (code, mut answer) = ask(&server, part("method"), &path, media_type, &body).await;
        normal::blank(&mut answer, &namespace);
        normal::sort_causes(&mut answer, step["texts"] == "differ");
        let answer = json!({"code": code, "body": answer});
        normal::compare(&step["answer"], &answer, "", &mut |place, expected, found| {
            writeln!(differences, "{name}, {}: {place}\n  expected {expected}\n  found    {found}", step["name"])
                .unwrap();
        });
    }
    server.shutdown().await;
    differences
}

async fn ask(server: &ApiServer, method: &str, path: &str, media_type: &str, body: &str) -> (u16, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("user-agent", "recorded")
        .header("accept", "application/json")
        .header("content-type", media_type)
        .body(Full::new(Bytes::from(body.to_owned())))
        .unwrap();
    let response = server.service().oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes);
    (code, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{method} {path}: {error}: {text}")))
}

macro_rules! recordings {
    ($($name:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let text = include_str!(concat!(stringify!($name), ".json"));
            let differences = replay(stringify!($name), text).await;
            assert!(differences.is_empty(), "\n{differences}");
        }
    )*};
}

recordings! {
    batch,
    config_map_and_secret,
    daemon_set,
    deployment,
    lease_and_event,
    others,
    pod,
    rbac,
    replica_set,
    service,
    stateful_set,
}
