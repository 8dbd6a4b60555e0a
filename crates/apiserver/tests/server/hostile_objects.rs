//! Requests that are fine as HTTP and hostile in what they say.

use std::time::Duration;

use bytes::Bytes;
use controller_runtime_apiserver::{ApiServer, Tls};
use http::Request;
use http_body_util::Full;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{Door, local};
use crate::cluster::{Cluster, MAPS, map, settle};

const PATIENCE: Duration = Duration::from_secs(30);
const DEEP: usize = 100_000;

async fn check(method: &str, path: &str, content_type: &str, body: impl Into<Bytes>, expect: &[u16]) {
    let server = ApiServer::builder().build();
    let door = Door::InProcess(server.service());
    let post = |body: Bytes| Request::post(MAPS).body(Full::new(body)).unwrap();
    door.send(post(Bytes::from(json!({"metadata": {"name": "a"}}).to_string()))).await;
    let request = Request::builder().method(method).uri(path).header("content-type", content_type);
    let answer = door.send(request.body(Full::new(body.into())).unwrap()).await;
    let code = answer.code.as_u16();
    assert!(expect.contains(&code), "{method} {path} {content_type}: {code} {:.300}", answer.text());
    assert!(answer.body.len() < 100_000, "{method} {path}: the answer is {} bytes long", answer.body.len());
    assert_eq!(door.get(&format!("{MAPS}/a"), None).await.code, 200, "{method} {path}: the server goes on");
    server.shutdown().await;
}

#[tokio::test]
async fn deep_nesting_is_refused() {
    let one = format!("{MAPS}/a");
    let arrays = "[".repeat(DEEP);
    let objects = "{\"a\":".repeat(DEEP);
    let data = format!("{{\"metadata\":{{\"name\":\"x\"}},\"data\":{objects}");
    let closed = format!("{{\"data\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP));
    let flow = format!("data: {}{}", "{a: ".repeat(DEEP), "}".repeat(DEEP));
    let lines: Vec<String> = (0..1500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let block = lines.concat();
    let sequences = format!("data: {}", "- ".repeat(DEEP));
    for body in [&arrays, &objects, &data, &closed] {
        check("POST", MAPS, "application/json", body.clone(), &[400]).await;
        check("PUT", &one, "application/json", body.clone(), &[400]).await;
        check("DELETE", &one, "application/json", body.clone(), &[400]).await;
        check("PATCH", &one, "application/merge-patch+json", body.clone(), &[400]).await;
        check("PATCH", &one, "application/json-patch+json", body.clone(), &[400]).await;
        check("PATCH", &one, "application/strategic-merge-patch+json", body.clone(), &[400]).await;
    }
    for body in [&arrays, &flow, &block, &sequences] {
        check("POST", MAPS, "application/yaml", body.clone(), &[400]).await;
        check("PATCH", &format!("{one}?fieldManager=m"), "application/apply-patch+yaml", body.clone(), &[400]).await;
    }
}

#[tokio::test]
async fn yaml_that_grows_is_refused() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, of) in [('b', 'a'), ('c', 'b'), ('d', 'c'), ('e', 'd'), ('f', 'e'), ('g', 'f'), ('h', 'g'), ('i', 'h')] {
        let items = vec![format!("*{of}"); 9].join(",");
        bomb.extend([&format!("{name}: &{name} [{items}]\n")].map(String::as_str));
    }
    check("POST", MAPS, "application/yaml", bomb, &[400]).await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let one = format!("{MAPS}/a");
    for content_type in ["application/json", "application/yaml"] {
        check("POST", MAPS, content_type, &b"{\"metadata\":{\"name\":\"\xff\xfe\"}}"[..], &[400, 422]).await;
        check("POST", MAPS, content_type, &b"\0\0\0\0"[..], &[400]).await;
        check("POST", MAPS, content_type, "", &[400, 422]).await;
    }
    check("PATCH", &one, "application/merge-patch+json", &b"\xff"[..], &[400]).await;
    check("POST", MAPS, "application/vnd.kubernetes.protobuf", &b"k8s\0\xff\xff"[..], &[400, 415]).await;
    check("POST", MAPS, "no media type", "{}", &[400, 415]).await;
}

#[tokio::test]
async fn hostile_queries_are_answered() {
    let deep = format!("{MAPS}?labelSelector={}", "a,".repeat(20_000));
    check("GET", &deep, "", "", &[200, 400]).await;
    let open = format!("{MAPS}?labelSelector=a+in+{}", "(".repeat(20_000));
    check("GET", &open, "", "", &[400]).await;
    for (query, expect) in [
        ("limit=-1", &[200, 400, 422][..]),
        ("limit=99999999999999999999", &[400]),
        ("continue=AAAA", &[400, 410]),
        ("continue=%ff%fe", &[400, 410]),
        ("resourceVersion=-5", &[400, 422]),
        ("resourceVersion=18446744073709551615", &[504]),
        ("resourceVersion=99999999999999999999999", &[400, 422]),
        ("fieldSelector=%00", &[400]),
        ("timeoutSeconds=-1", &[200, 400]),
        ("watch=1&timeoutSeconds=x", &[400]),
        ("%zz=%", &[200]),
    ] {
        check("GET", &format!("{MAPS}?{query}"), "", "", expect).await;
    }
    for path in
        ["/api/v1/namespaces//configmaps", "/api/v1//", "//", "/apis/%2f/v1/x", "/api/v1/namespaces/%00/pods/%0a"]
    {
        check("GET", path, "", "", &[200, 301, 400, 404]).await;
    }
    let long = format!("{MAPS}/{}", "n".repeat(20_000));
    check("GET", &long, "", "", &[400, 404]).await;
}

#[tokio::test]
async fn json_patches_do_not_grow_without_end() {
    let mut operations = vec![json!({"op": "add", "path": "/data", "value": {"k": "v".repeat(1000)}})];
    for number in 0..40 {
        operations.push(json!({"op": "copy", "from": "/data", "path": format!("/data/{number}")}));
    }
    let body = json!(operations).to_string();
    check("PATCH", &format!("{MAPS}/a"), "application/json-patch+json", body, &[422]).await;
    let many = json!(vec![json!({"op": "test", "path": "/kind", "value": "ConfigMap"}); 20_000]).to_string();
    check("PATCH", &format!("{MAPS}/a"), "application/json-patch+json", many, &[413]).await;
}

/// Watches whose readers read nothing hold neither writers nor other readers up, and end with the server.
#[tokio::test]
async fn slow_watchers_hold_nobody_up() {
    let server = ApiServer::builder().token("t").build();
    let listener = server.listen(local(Tls::Off)).await.unwrap();
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(listener.local_addr()).await.unwrap();
        let head = format!("GET {MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let door = Door::InProcess(server.service());
    let value = "v".repeat(50_000);
    let write = async {
        for number in 0..200 {
            let object = json!({"metadata": {"name": format!("m{number}")}, "data": {"k": value}});
            let request = Request::post(MAPS).header("content-type", "application/json");
            let answer = door.send(request.body(Full::new(Bytes::from(object.to_string()))).unwrap()).await;
            assert_eq!(answer.code, 201);
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, write).await.expect("writers go on");
    let list = timeout(PATIENCE, door.get(MAPS, None)).await.expect("readers go on").json();
    assert_eq!(list["items"].as_array().map(Vec::len), Some(200));
    timeout(PATIENCE, server.shutdown()).await.expect("the server ends");
    let mut stream = slow.remove(0);
    let mut got = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut got)).await.expect("the watch ends");
    assert!(got.starts_with(b"HTTP/1.1 200 OK"));
}

#[tokio::test(start_paused = true)]
async fn watches_end_when_the_server_stops() {
    let cluster = Cluster::new();
    let watch = format!("{MAPS}?watch=1&resourceVersion=0");
    let stop = async {
        settle().await;
        cluster.server.shutdown().await;
    };
    // All of the body is read: it ends without an error, well before the watch's own time.
    let both = async { tokio::join!(cluster.try_send("GET", &watch, "", &serde_json::Value::Null), stop) };
    let (watched, ()) = timeout(Duration::from_mins(3), both).await.unwrap();
    assert_eq!(watched.code, 200);
}

#[tokio::test(start_paused = true)]
async fn a_name_can_be_used_again_and_again() {
    let cluster = Cluster::new();
    for _ in 0..100 {
        let a = cluster.create(MAPS, map("a", &[])).await;
        cluster.create(MAPS, map("b", &[(&a, true)])).await;
        for policy in ["Foreground", "Background"] {
            let path = format!("{MAPS}/a");
            cluster.try_send("DELETE", &path, "application/json", &json!({"propagationPolicy": policy})).await;
        }
        settle().await;
        cluster.check(&[]).await;
    }
}
