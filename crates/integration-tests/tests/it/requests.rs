//! What holds of every request, whatever it is about.

use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use integration_tests::Fixture;
use kube_client::client::Body;
use serde_json::json;

/// Reads; returns code, headers and body.
async fn ask(fixture: &Fixture, path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, Vec<u8>) {
    send(fixture, Method::GET, path, headers, "").await
}

async fn send(
    fixture: &Fixture,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, HeaderMap, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.as_bytes().to_vec())).unwrap();
    let response = fixture.env().kube_client().send(request).await.unwrap();
    let (code, headers) = (response.status().as_u16(), response.headers().clone());
    (code, headers, response.into_body().collect().await.unwrap().to_bytes().to_vec())
}

#[tokio::test]
async fn large_answers_are_compressed_and_watches_never() {
    let fixture = Fixture::start("compressed").await;
    let path = fixture.core("configmaps");
    let large = json!({"metadata": {"name": "large"}, "data": {"key": "x".repeat(140_000)}});
    fixture.post(&path, &large).await.expect(201);
    let small = json!({"metadata": {"name": "small"}, "data": {"key": "x".repeat(100_000)}});
    fixture.post(&path, &small).await.expect(201);
    let watch = "?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dlarge";
    for (path, encoding, compressed) in [
        (format!("{path}/large"), "gzip", true),
        (format!("{path}/large"), "br, gzip", true),
        (format!("{path}/large"), "gzip;q=0", false),
        (format!("{path}/large"), "*", false),
        (format!("{path}/small"), "gzip", false),
        (path.clone(), "gzip", true),
        (format!("{path}{watch}"), "gzip", false),
    ] {
        let (code, headers, body) = ask(&fixture, &path, &[("accept-encoding", encoding)]).await;
        let given = headers.get("content-encoding").map(|value| value.to_str().unwrap());
        assert_eq!((code, given), (200, compressed.then_some("gzip")), "{path} as {encoding}");
        assert_eq!(body.len() < 10_000, compressed, "{path} as {encoding}: {} bytes", body.len());
        assert_eq!(body.starts_with(b"\x1f\x8b"), compressed);
    }
    fixture.stop().await;
}

#[tokio::test]
async fn every_answer_has_an_audit_id() {
    let fixture = Fixture::start("audit-id").await;
    let missing = fixture.core("configmaps/none");
    let id = |headers: HeaderMap| headers["audit-id"].to_str().unwrap().to_owned();
    let (_, first, _) = ask(&fixture, "/version", &[]).await;
    let (code, second, _) = ask(&fixture, &missing, &[]).await;
    assert_eq!(code, 404);
    let (first, second) = (id(first), id(second));
    assert_eq!((first.len(), second.len()), (36, 36));
    assert_ne!(first, second);
    let (_, given, _) = ask(&fixture, &missing, &[("audit-id", "mine")]).await;
    assert_eq!(id(given), "mine");
    fixture.stop().await;
}

#[tokio::test]
async fn a_timeout_is_a_duration() {
    let fixture = Fixture::start("timeout").await;
    let path = fixture.core("configmaps");
    let invalid = "invalid timeout specified in the request URL - time: ";
    for (timeout, why) in [
        ("1s", None),
        ("0", None),
        ("-1s", None),
        ("1h30m", None),
        ("999999h", None),
        ("", None),
        ("1", Some("missing unit in duration \"1\"")),
        ("abc", Some("invalid duration \"abc\"")),
        ("%201s", Some("invalid duration \" 1s\"")),
        ("1x", Some("unknown unit \"x\" in duration \"1x\"")),
    ] {
        let answer = fixture.get(&format!("{path}?timeout={timeout}")).await;
        match why {
            None => _ = answer.expect(200),
            Some(why) => {
                assert_eq!(answer.refused(400, "BadRequest")["message"], format!("{invalid}{why}"), "{timeout}");
            }
        }
    }
    fixture.get("/version?timeout=abc").await.refused(400, "BadRequest");
    fixture.get(&format!("{path}?watch=true&timeoutSeconds=1&timeout=abc")).await.expect(200);
    fixture.stop().await;
}

#[tokio::test]
async fn unknown_and_duplicate_fields_are_told_as_go_finds_them() {
    let fixture = Fixture::start("strict").await;
    let built_in = r#"{"apiVersion":"v1","kind":"ConfigMap","zzz":1,"metadata":{"name":"a","name":"b","aaa":1},
        "data":{"a":"1","a":"2"},"bar":{"x":1},"zzz":2}"#;
    let widgets = fixture.install_widgets().await;
    let custom = format!(
        r#"{{"apiVersion":"{}/v1","kind":"Widget","zzz":1,"metadata":{{"name":"a","qq":1,"name":"b","bb":2}},
        "spec":{{"color":"red","color":"blue","z":1,"y":2}},"aaa":1,"zzz":2}}"#,
        fixture.group()
    );
    for (path, body, handled, expected) in [
        (
            fixture.core("configmaps"),
            built_in,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap",
            vec![
                "unknown field \"zzz\"",
                "duplicate field \"metadata.name\"",
                "unknown field \"metadata.aaa\"",
                "duplicate field \"data.a\"",
                "unknown field \"bar\"",
            ],
        ),
        (
            widgets,
            custom.as_str(),
            "Widget in version \"v1\" cannot be handled as a Widget",
            vec![
                "duplicate field \"metadata.name\"",
                "duplicate field \"spec.color\"",
                "duplicate field \"zzz\"",
                "unknown field \"metadata.bb\"",
                "unknown field \"metadata.qq\"",
                "unknown field \"aaa\"",
                "unknown field \"spec.y\"",
                "unknown field \"spec.z\"",
                "unknown field \"zzz\"",
            ],
        ),
    ] {
        let json = [("content-type", "application/json")];
        let strict = format!("{path}?dryRun=All&fieldValidation=Strict");
        let (code, _, body_of_error) = send(&fixture, Method::POST, &strict, &json, body).await;
        let status: serde_json::Value = serde_json::from_slice(&body_of_error).unwrap();
        let message = format!("{handled}: strict decoding error: {}", expected.join(", "));
        assert_eq!((code, &status["message"]), (400, &json!(message)));
        let (code, headers, _) = send(&fixture, Method::POST, &format!("{path}?dryRun=All"), &json, body).await;
        let warnings: Vec<_> = headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
        let expected: Vec<_> = expected.iter().map(|text| format!("299 - {}", json!(text))).collect();
        assert_eq!((code, warnings), (201, expected.iter().map(String::as_str).collect()));
    }
    fixture.stop().await;
}
