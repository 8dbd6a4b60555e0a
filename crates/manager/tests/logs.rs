//! What the log handle and `/debug/log` change. Logs belong to the program, so this test is one.

use std::convert::Infallible;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_manager::{LogFormat, Manager, init_logs};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use kube_client::client::Body;
use tokio::net::TcpStream;

async fn send(address: std::net::SocketAddr, method: &str, path: &str, body: &'static str) -> (u16, String) {
    let stream = TcpStream::connect(address).await.expect("it listens");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("http");
    let _connection = Ambient::system().spawn("connection", async move { drop(connection.await) });
    let request = http::Request::builder().method(method).uri(path).header("host", "test");
    let request = request.body(Full::new(Bytes::from_static(body.as_bytes()))).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn the_log_level_changes_while_the_program_runs() {
    let logs = init_logs(LogFormat::Json).expect("they are not set up yet");
    let is_debug = || tracing::enabled!(tracing::Level::DEBUG);
    assert!(!is_debug());
    logs.set("logs=debug,info").expect("it is understood");
    assert!(is_debug());
    let error = logs.set("logs=loud").expect_err("there is no such level");
    assert!(error.to_string().starts_with("\"logs=loud\" is not understood: "), "{error}");
    assert!(is_debug(), "nothing has changed");

    let service =
        tower::service_fn(|_: http::Request<Body>| async { Ok::<_, Infallible>(http::Response::new(Body::empty())) });
    let manager = Manager::builder(kube_client::Client::new(service, "default")).debug_address("127.0.0.1:0");
    let manager = manager.log_handle(logs.clone()).build().await.expect("a free port");
    let debug = manager.debug_address().expect("on");
    let token = CancellationToken::new();
    let running = Ambient::system().spawn("manager", {
        let token = token.clone();
        async move { manager.start(token).await }
    });
    assert_eq!(
        send(debug, "GET", "/debug/log", "").await,
        (200, format!("{}\n", logs.directives().expect("they live")))
    );
    assert_eq!(send(debug, "PUT", "/debug/log", "warn\n").await, (200, "warn\n".to_owned()));
    assert!(!is_debug());
    assert_eq!(send(debug, "PUT", "/debug/log", "a=b=c").await.0, 400);
    assert_eq!(send(debug, "POST", "/debug/log", "debug").await.0, 405);
    assert_eq!(send(debug, "GET", "/livez", "").await.0, 404);
    assert_eq!(logs.directives().expect("they live"), "warn");
    token.cancel();
    running.await.expect("no panic").expect("no error");
}
