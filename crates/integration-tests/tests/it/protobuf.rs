//! Protocol buffers, as Go clients send and read built-in kinds.

use http::{Method, Request};
use http_body_util::BodyExt;
use integration_tests::Fixture;
use kube_client::client::Body;
use serde_json::json;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What a server answered, as bytes.
struct Answer {
    code: u16,
    content_type: String,
    body: Vec<u8>,
}

async fn ask(fixture: &Fixture, method: Method, path: &str, accept: &str, body: Option<Vec<u8>>) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("accept", accept);
    if body.is_some() {
        request = request.header("content-type", PROTOBUF);
    }
    let request = request.body(Body::from(body.unwrap_or_default())).unwrap();
    let response = fixture.env().kube_client().send(request).await.unwrap();
    let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let code = response.status().as_u16();
    Answer { code, content_type, body: response.into_body().collect().await.unwrap().to_bytes().to_vec() }
}

/// A field of bytes, of less than 128.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

/// An object in Kubernetes' envelope.
fn enveloped(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), field(1, &meta), field(2, message), field(3, b""), field(4, b"")].concat()
}

/// A ConfigMap with one key.
fn config_map(name: &str, value: &str) -> Vec<u8> {
    let data = [field(1, b"key"), field(2, value.as_bytes())].concat();
    enveloped("v1", "ConfigMap", &[field(1, &field(1, name.as_bytes())), field(2, &data)].concat())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn objects_are_written_and_read() {
    let fixture = Fixture::start("protobuf-objects").await;
    let path = fixture.core("configmaps");
    let one = format!("{path}/one");

    let created = ask(&fixture, Method::POST, &path, PROTOBUF, Some(config_map("one", "a"))).await;
    assert_eq!((created.code, created.content_type.as_str()), (201, PROTOBUF));
    assert!(created.body.starts_with(b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12"), "{:?}", created.body);
    assert_eq!(fixture.get(&one).await.expect(200)["data"], json!({"key": "a"}));

    let replaced = ask(&fixture, Method::PUT, &one, "application/json", Some(config_map("one", "b"))).await;
    assert_eq!((replaced.code, replaced.content_type.as_str()), (200, "application/json"));
    assert_eq!(fixture.get(&one).await.expect(200)["data"], json!({"key": "b"}));

    let read = ask(&fixture, Method::GET, &one, PROTOBUF, None).await;
    let data = [field(1, b"key"), field(2, b"b")].concat();
    assert!(contains(&read.body, &field(2, &data)), "{:?}", read.body);
    assert!(read.body.ends_with(b"\x1a\0\x22\0"), "{:?}", read.body);

    let listed = ask(&fixture, Method::GET, &path, PROTOBUF, None).await;
    assert!(listed.body.starts_with(b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dConfigMapList\x12"), "{:?}", listed.body);
    assert!(contains(&listed.body, &field(2, &data)), "{:?}", listed.body);

    // The options are protocol buffers too: a precondition that does not hold.
    let options = enveloped("v1", "DeleteOptions", &field(2, &field(1, b"other")));
    let refused = ask(&fixture, Method::DELETE, &one, PROTOBUF, Some(options)).await;
    assert_eq!((refused.code, refused.content_type.as_str()), (409, PROTOBUF));
    assert!(contains(&refused.body, b"the UID in the precondition (other)"), "{:?}", refused.body);
    let deleted = ask(&fixture, Method::DELETE, &one, PROTOBUF, Some(enveloped("v1", "DeleteOptions", b""))).await;
    assert_eq!((deleted.code, deleted.content_type.as_str()), (200, PROTOBUF));
    assert!(contains(&deleted.body, b"\x12\x07Success"), "{:?}", deleted.body);
    fixture.gone(&one).await;
    fixture.stop().await;
}

#[tokio::test]
async fn errors_and_malformed_bodies_are_statuses() {
    let fixture = Fixture::start("protobuf-errors").await;
    let path = fixture.core("configmaps");
    let missing = ask(&fixture, Method::GET, &format!("{path}/none"), PROTOBUF, None).await;
    let expected = [
        b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12\x55\x0a\x06\x0a\0\x12\0\x1a\0\x12\x07Failure".to_vec(),
        field(3, b"configmaps \"none\" not found"),
        field(4, b"NotFound"),
        field(5, &[field(1, b"none"), field(2, b""), field(3, b"configmaps"), b"\x28\0\x32\0".to_vec()].concat()),
        b"\x30\x94\x03\x1a\0\x22\0".to_vec(),
    ];
    assert_eq!((missing.code, missing.body), (404, expected.concat()));

    let unrecognized = |rest: &str| format!("the object provided is unrecognized (must be of type ConfigMap): {rest}");
    let handled = |rest: &str| format!("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: {rest}");
    let prefix = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
    for (body, message) in [
        (b"{\"a\":1}".to_vec(), unrecognized(&format!("{prefix} ({{\"a\":1}})"))),
        (b"k8s\0".to_vec(), unrecognized("empty body (6b387300)")),
        (enveloped("v1", "ConfigMap", b"\x0a\x05ab"), handled("unexpected EOF")),
        (enveloped("v1", "ConfigMap", b"\x08\x05"), handled("proto: wrong wireType = 0 for field ObjectMeta")),
        (enveloped("v1", "ConfigMap", b"\0\0"), handled("proto: ConfigMap: illegal tag 0 (wire type 0)")),
    ] {
        let answer = ask(&fixture, Method::POST, &path, "application/json", Some(body)).await;
        let status: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.code, &status["message"]), (400, &json!(message)));
    }
    fixture.stop().await;
}

#[tokio::test]
async fn watches_are_frames_with_their_length() {
    let fixture = Fixture::start("protobuf-watch").await;
    let path = fixture.core("configmaps");
    ask(&fixture, Method::POST, &path, PROTOBUF, Some(config_map("one", "a"))).await;
    let watch = format!("{path}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Done");
    let partial = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    for (accept, kind) in [(PROTOBUF, "ConfigMap"), (partial.as_str(), "PartialObjectMetadata")] {
        let answer = ask(&fixture, Method::GET, &watch, accept, None).await;
        assert_eq!((answer.code, answer.content_type), (200, format!("{PROTOBUF};stream=watch")));
        let (length, frame) = answer.body.split_first_chunk().unwrap();
        assert_eq!(u32::from_be_bytes(*length) as usize, frame.len());
        assert!(frame.starts_with(b"\x0a\x05ADDED\x12"), "{frame:?}");
        assert!(contains(frame, b"k8s\0") && contains(frame, kind.as_bytes()), "{frame:?}");
        assert_eq!(contains(frame, b"\x0a\x03key"), kind == "ConfigMap", "{frame:?}");
    }
    let yaml = ask(&fixture, Method::GET, &watch, "application/yaml", None).await;
    assert_eq!(yaml.code, 406);
    fixture.stop().await;
}

#[tokio::test]
async fn the_best_encoding_that_there_is_is_chosen() {
    let fixture = Fixture::start("protobuf-choice").await;
    let path = fixture.core("configmaps");
    let widgets = fixture.install_widgets().await;
    let as_table = "as=Table;g=meta.k8s.io;v=v1";
    let as_list = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    for (path, accept, code, content_type) in [
        (&path, format!("{PROTOBUF},application/json"), 200, PROTOBUF),
        (&path, format!("application/json;q=0.2,{PROTOBUF};q=0.3"), 200, PROTOBUF),
        (&path, format!("{PROTOBUF};q=0.2,application/json"), 200, "application/json"),
        (&path, format!("{PROTOBUF};{as_table}"), 406, "application/json"),
        (&path, format!("{PROTOBUF};{as_table},application/json;{as_table}"), 200, "application/json"),
        (&path, format!("{PROTOBUF};{as_list}"), 200, PROTOBUF),
        (&path, "text/html".to_owned(), 406, "application/json"),
        (&widgets, PROTOBUF.to_owned(), 406, PROTOBUF),
        (&widgets, format!("{PROTOBUF},application/json"), 200, "application/json"),
        (&widgets, format!("{PROTOBUF};{as_list}"), 200, PROTOBUF),
    ] {
        let answer = ask(&fixture, Method::GET, path, &accept, None).await;
        assert_eq!((answer.code, answer.content_type.as_str()), (code, content_type), "{path} as {accept}");
    }
    let (path, accept) = (format!("{widgets}/none"), format!("{PROTOBUF},application/json"));
    let missing = ask(&fixture, Method::GET, &path, &accept, None).await;
    assert_eq!((missing.code, missing.content_type.as_str()), (404, PROTOBUF));
    fixture.stop().await;
}
