//! What a hostile or broken client sends: the server answers or hangs up, and goes on serving the others.

use std::fmt::Write as _;

use controller_runtime_apiserver::{ApiServer, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};

use crate::client::{Door, local};

const PATIENCE: Duration = Duration::from_secs(20);

/// Sends raw bytes and gives back what comes until the server hangs up or falls silent after a whole head.
async fn exchange(port: u16, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    // A server that refuses a large request may close before all of it is written.
    let _ = stream.write_all(bytes).await;
    let mut got = Vec::new();
    let mut buffer = [0; 4096];
    let read = async {
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            got.extend_from_slice(&buffer[..read]);
            if got.windows(4).any(|window| window == b"\r\n\r\n") {
                break;
            }
        }
    };
    timeout(PATIENCE, read).await.expect("the server answers or hangs up");
    String::from_utf8_lossy(&got).lines().next().unwrap_or_default().to_owned()
}

async fn check(request: impl AsRef<[u8]>, expect: &[&str]) {
    let server = ApiServer::builder().token("t").build();
    let listener = server.listen(local(Tls::Off)).await.unwrap();
    let got = exchange(listener.local_addr().port(), request.as_ref()).await;
    assert!(expect.contains(&got.as_str()), "{got:?}, expected one of {expect:?}");
    assert_eq!(Door::Http1(listener).get("/healthz", None).await.text(), "ok", "the server goes on");
    server.shutdown().await;
}

#[tokio::test]
async fn garbage_is_refused() {
    check("garbage\r\n\r\n", &["HTTP/1.1 400 Bad Request"]).await;
    check([0_u8; 64], &["HTTP/1.1 400 Bad Request"]).await;
    check("GET /healthz HTTP/9.9\r\n\r\n", &["HTTP/1.1 400 Bad Request"]).await;
    check("GET / /healthz HTTP/1.1\r\n\r\n", &["HTTP/1.1 400 Bad Request"]).await;
    check(b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n", &["HTTP/1.1 400 Bad Request", "HTTP/1.1 403 Forbidden"]).await;
    check(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", &["HTTP/1.1 400 Bad Request"]).await;
    check(
        "POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        &["HTTP/1.1 400 Bad Request"],
    )
    .await;
    check(
        "POST /x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        &["HTTP/1.1 400 Bad Request"],
    )
    .await;
}

#[tokio::test]
async fn broken_http2_is_hung_up_on() {
    let server = ApiServer::builder().token("t").build();
    let listener = server.listen(local(Tls::Off)).await.unwrap();
    let mut stream = TcpStream::connect(listener.local_addr()).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ngarbage that is no frame").await.unwrap();
    let mut frames = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut frames)).await.expect("the server hangs up");
    assert_eq!(Door::Http2(listener).get("/healthz", None).await.text(), "ok");
    server.shutdown().await;
}

#[tokio::test]
async fn odd_but_legal_requests_are_answered() {
    check("GET /healthz HTTP/1.0\r\n\r\n", &["HTTP/1.0 200 OK"]).await;
    check(b"GET /healthz HTTP/1.1\r\nHost: x\r\nUser-Agent: \xff\xfe\r\n\r\n", &["HTTP/1.1 200 OK"]).await;
    check("GET /%ff%fe/%zz HTTP/1.1\r\nHost: x\r\n\r\n", &["HTTP/1.1 403 Forbidden"]).await;
    check(b"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\r\n\r\n", &["HTTP/1.1 401 Unauthorized"])
        .await;
}

#[tokio::test]
async fn heads_are_bounded() {
    let mut many = String::from("GET /healthz HTTP/1.1\r\nHost: x\r\n");
    for number in 0..5000 {
        let _ = write!(many, "X-{number}: y\r\n");
    }
    check(many + "\r\n", &["HTTP/1.1 431 Request Header Fields Too Large"]).await;
    let huge = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(2 << 20));
    check(huge, &["HTTP/1.1 431 Request Header Fields Too Large", ""]).await;
    let giant = format!("GET /healthz?{} HTTP/1.1\r\nHost: x\r\n\r\n", "q".repeat(2 << 20));
    check(giant, &["HTTP/1.1 431 Request Header Fields Too Large", "HTTP/1.1 414 URI Too Long", ""]).await;
    let long = format!("GET /healthz?{} HTTP/1.1\r\nHost: x\r\n\r\n", "q=1&".repeat(10_000));
    check(long, &["HTTP/1.1 200 OK"]).await;
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused_however_they_come() {
    let head = "POST /nope HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n";
    let announced = format!("{head}Content-Length: 99999999999\r\n\r\n");
    check(announced, &["HTTP/1.1 413 Payload Too Large"]).await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", chunk.repeat(4));
    check(chunked, &["HTTP/1.1 413 Payload Too Large", ""]).await;
    let unread = format!("POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", 99 << 20);
    check(unread, &["HTTP/1.1 403 Forbidden"]).await;
}

#[tokio::test]
async fn half_open_and_idle_connections_hold_nobody_up() {
    let server = ApiServer::builder().token("t").build();
    let listener = server.listen(local(Tls::Off)).await.unwrap();
    let mut idle = Vec::new();
    for number in 0..300 {
        let mut stream = TcpStream::connect(listener.local_addr()).await.unwrap();
        match number % 3 {
            0 => {}
            1 => stream.write_all(b"GET /healthz HT").await.unwrap(),
            _ => {
                let head = b"POST /nope HTTP/1.1\r\nAuthorization: Bearer t\r\nContent-Length: 10\r\n\r\nab";
                stream.write_all(head).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        }
        idle.push(stream);
    }
    let door = Door::Http1(listener);
    assert_eq!(timeout(PATIENCE, door.get("/healthz", None)).await.expect("it answers").text(), "ok");
    timeout(PATIENCE, server.shutdown()).await.expect("it ends");
}

/// With time paused, tokio jumps to the next timer as soon as nothing else can happen.
#[tokio::test(start_paused = true)]
async fn slow_clients_are_cut_off() {
    let server = ApiServer::builder().token("t").build();
    let plain = server.listen(local(Tls::Off)).await.unwrap().local_addr().port();
    let tls = server.listen(local(Tls::SelfSigned)).await.unwrap().local_addr().port();
    let head = "POST /nope HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n";
    let slow_body = format!("{head}Content-Length: 10\r\n\r\nab");
    let slow_chunks = format!("{head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    for (port, bytes, expect) in [
        (plain, "", ""),
        (plain, "G", ""),
        (plain, "GET /healthz HTTP/1.1\r\nHost: x\r\n", ""),
        (plain, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        (plain, slow_body.as_str(), "HTTP/1.1 504 Gateway Timeout"),
        (plain, slow_chunks.as_str(), "HTTP/1.1 504 Gateway Timeout"),
        (tls, "", ""),
        (tls, "\x16\x03\x01", ""),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut got = Vec::new();
        let _ = stream.read_to_end(&mut got).await;
        let got = String::from_utf8_lossy(&got);
        let first = if got.starts_with("HTTP/1") { got.lines().next().unwrap_or_default() } else { "" };
        assert_eq!(first, expect, "{bytes:?}");
    }
    server.shutdown().await;
}
