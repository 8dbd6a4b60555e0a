use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::api::Api;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn with(names: &[&str]) -> Api {
    let api = Api::new();
    for name in names {
        api.ok("POST", MAPS, json!({"metadata": {"name": name, "labels": {"l": name}}})).await;
    }
    api
}

#[tokio::test]
async fn pages_show_one_revision() {
    let api = with(&["a", "b", "c", "d", "e"]).await;
    let first = api.ok("GET", &format!("{MAPS}?limit=2"), Value::Null).await;
    assert_eq!((first.names(), first.at("/metadata/remainingItemCount")), (vec!["a".into(), "b".into()], json!(3)));
    api.ok("DELETE", &format!("{MAPS}/c"), Value::Null).await;
    api.ok("POST", MAPS, json!({"metadata": {"name": "bb"}})).await;
    let next = first.text("/metadata/continue");
    let second = api.ok("GET", &format!("{MAPS}?limit=2&continue={next}"), Value::Null).await;
    assert_eq!((second.names(), second.revision()), (vec!["c".to_owned(), "d".into()], first.revision()));
    let last = second.text("/metadata/continue");
    let third = api.ok("GET", &format!("{MAPS}?limit=2&continue={last}"), Value::Null).await;
    assert_eq!((third.names(), third.at("/metadata/continue")), (vec!["e".to_owned()], Value::Null));
    let exact = format!("{MAPS}?resourceVersionMatch=Exact&resourceVersion={}", first.revision());
    assert_eq!(api.ok("GET", &exact, Value::Null).await.names(), ["a", "b", "c", "d", "e"]);
}

#[tokio::test]
async fn selectors_choose() {
    let api = with(&["a", "b"]).await;
    for (query, expected) in [
        ("labelSelector=l%3Da", vec!["a"]),
        ("labelSelector=l!%3Da", vec!["b"]),
        ("fieldSelector=metadata.name%3Da", vec!["a"]),
        ("fieldSelector=metadata.name!%3Da,metadata.namespace%3Ddefault", vec!["b"]),
        ("fieldSelector=metadata.namespace%3Dother", vec![]),
        ("limit=-1", vec!["a", "b"]),
    ] {
        assert_eq!(api.ok("GET", &format!("{MAPS}?{query}"), Value::Null).await.names(), expected, "{query}");
    }
}

#[tokio::test]
async fn bad_parameters_are_refused() {
    let api = with(&[]).await;
    for (query, expected) in [
        (
            "resourceVersion=abc",
            (400, "BadRequest", "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint"),
        ),
        ("resourceVersion=99999999", (504, "Timeout", "Timeout: Too large resource version: 99999999, current: ")),
        (
            "resourceVersionMatch=Exact",
            (
                422,
                "Invalid",
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
        ),
        (
            "resourceVersionMatch=Foo&resourceVersion=0",
            (
                422,
                "Invalid",
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            ),
        ),
        ("limit=abc", (400, "BadRequest", "strconv.ParseInt: parsing \"abc\": invalid syntax")),
        ("continue=abc", (400, "BadRequest", "invalid continue token: continue key is not valid: ")),
        (
            "labelSelector=a%20b",
            (400, "BadRequest", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ),
        (
            "fieldSelector=a.b%3Dx",
            (
                400,
                "BadRequest",
                "\"a.b\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            ),
        ),
        ("fieldSelector=a.b", (400, "BadRequest", "invalid selector: 'a.b'; can't understand 'a.b'")),
        (
            "sendInitialEvents=true",
            (
                422,
                "Invalid",
                "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            ),
        ),
        (
            "watch=1&sendInitialEvents=true",
            (
                422,
                "Invalid",
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ),
        ),
    ] {
        api.refused("GET", &format!("{MAPS}?{query}"), Value::Null, expected).await;
    }
}

#[tokio::test]
async fn the_answer_has_the_form_that_is_accepted() {
    let api = with(&["a"]).await;
    for (path, accept, expected) in [
        (MAPS.to_owned(), "application/yaml", "apiVersion: v1\nitems:"),
        (
            MAPS.to_owned(),
            "application/vnd.kubernetes.protobuf,application/json",
            "k8s\0\n\x13\n\x02v1\x12\rConfigMapList\x12",
        ),
        (
            MAPS.to_owned(),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":"#,
        ),
        (
            format!("{MAPS}/a"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#,
        ),
        (format!("{MAPS}/a"), "application/json", r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":"#),
        (MAPS.to_owned(), "text/html", r#"{"apiVersion":"v1","code":406"#),
    ] {
        let request = Request::get(&path).header("accept", accept).body(Full::new(bytes::Bytes::new())).unwrap();
        let response = api.server.service().oneshot(request).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body);
        assert!(text.starts_with(expected), "{path} {accept}: {text}");
    }
}
