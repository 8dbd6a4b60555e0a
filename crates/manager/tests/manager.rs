//! A manager of a server that knows nothing.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_controller::{Action, AddError, Context, Controller, Host, Reconciler, Result, Runnable};
use controller_runtime_manager::{Check, Manager, ManagerBuilder, ManagerError};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::client::Body;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::time::Instant;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn builder() -> ManagerBuilder {
    let service = tower::service_fn(|_: http::Request<Body>| async {
        let mut response = http::Response::new(Body::empty());
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        Ok::<_, Infallible>(response)
    });
    Manager::builder(kube_client::Client::new(service, "default")).ambient(Ambient::seeded(0))
}

async fn manager() -> Manager {
    builder().build().await.expect("nothing is bound")
}

type Log = Arc<Mutex<Vec<String>>>;

/// Logs its start and, `linger` after the stop, its end.
fn logged(log: &Log, name: &str, linger: Duration) -> Runnable {
    let (log, shown) = (log.clone(), name.to_owned());
    Runnable::new(name, move |token: CancellationToken| async move {
        log.lock().push(format!("+{shown}"));
        token.cancelled().await;
        tokio::time::sleep(linger).await;
        log.lock().push(format!("-{shown}"));
        Ok::<(), ManagerError>(())
    })
}

async fn get(address: std::net::SocketAddr, path: &str) -> (u16, String) {
    let stream = TcpStream::connect(address).await.expect("it listens");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("http");
    let _connection = Ambient::system().spawn("connection", async move { drop(connection.await) });
    let request = http::Request::get(path).header("host", "test").body(Empty::<Bytes>::new()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test(start_paused = true)]
async fn runnables_start_and_stop_with_the_manager() {
    let (manager, log, token) = (manager().await, Log::default(), CancellationToken::new());
    manager.add(logged(&log, "a", ms(10))).expect("it is new");
    let running = {
        let (manager, token) = (manager.clone(), token.clone());
        Ambient::system().spawn("manager", async move { manager.start(token).await })
    };
    tokio::time::sleep(ms(5)).await;
    manager.add(logged(&log, "late", ms(0))).expect("it starts at once");
    tokio::time::sleep(ms(5)).await;
    assert_eq!(*log.lock(), ["+a", "+late"]);
    token.cancel();
    tokio::time::sleep(ms(5)).await;
    let during = manager.add(logged(&log, "too late", ms(0)));
    assert_eq!(during, Err(AddError::Stopping { name: "too late".to_owned() }));
    running.await.expect("no panic").expect("no error");
    assert_eq!(*log.lock(), ["+a", "+late", "-late", "-a"]);
    assert!(matches!(manager.start(token).await, Err(ManagerError::AlreadyStarted)));
}

#[tokio::test(start_paused = true)]
async fn names_are_unique_in_a_manager_only() {
    let (one, other, log) = (manager().await, manager().await, Log::default());
    one.add(logged(&log, "a", ms(0))).expect("it is new");
    assert_eq!(one.add(logged(&log, "a", ms(0))), Err(AddError::Duplicate { name: "a".to_owned() }));
    other.add(logged(&log, "a", ms(0))).expect("it is new there");
}

#[tokio::test(start_paused = true)]
async fn a_failure_stops_everything_and_is_the_error() {
    let (manager, log) = (manager().await, Log::default());
    manager.add(logged(&log, "other", ms(0))).expect("it is new");
    let failing = Runnable::new("bad", |_| async {
        tokio::time::sleep(ms(10)).await;
        Err("out of luck")
    });
    manager.add(failing).expect("it is new");
    let error = manager.start(CancellationToken::new()).await.expect_err("it fails");
    assert_eq!(error.to_string(), "bad failed: out of luck");
    assert_eq!(*log.lock(), ["+other", "-other"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure() {
    let manager = manager().await;
    let panics = Runnable::new("bad", |_| async {
        assert_eq!(1, 2, "as asked");
        Ok::<(), ManagerError>(())
    });
    manager.add(panics).expect("it is new");
    let error = manager.start(CancellationToken::new()).await.expect_err("it fails");
    assert!(error.to_string().starts_with("bad failed: panic: "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn who_is_late_is_aborted_and_named() {
    async fn check(timeout: Duration, linger: Duration, took: Duration, error: Option<&str>) {
        let manager = builder().graceful_timeout(timeout).build().await.expect("nothing is bound");
        let log = Log::default();
        manager.add(logged(&log, "slow", linger)).expect("it is new");
        manager.add(logged(&log, "quick", ms(0))).expect("it is new");
        let token = CancellationToken::new();
        let stop = {
            let token = token.clone();
            Ambient::system().spawn("stop", async move {
                tokio::time::sleep(ms(10)).await;
                token.cancel();
            })
        };
        let before = Instant::now();
        let result = manager.start(token).await;
        stop.await.expect("no panic");
        assert_eq!(before.elapsed(), ms(10) + took);
        assert_eq!(result.err().map(|error| error.to_string()).as_deref(), error);
    }
    let second = Duration::from_secs(1);
    check(second, ms(999), ms(999), None).await;
    check(second, Duration::from_hours(1), second, Some("still running 1s after the stop: slow")).await;
    check(Duration::ZERO, Duration::from_hours(1), Duration::ZERO, None).await;
    check(Duration::MAX, Duration::from_hours(1), Duration::from_hours(1), None).await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_aborts_everything() {
    let (manager, log) = (manager().await, Log::default());
    let held = log.clone();
    manager
        .add(Runnable::new("holds", move |_| async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok::<(), ManagerError>(())
        }))
        .expect("it is new");
    tokio::time::timeout(ms(10), manager.start(CancellationToken::new())).await.expect_err("it runs");
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&log), 1);
    assert!(matches!(manager.add(logged(&log, "late", ms(0))), Err(AddError::Stopping { .. })));
}

struct Nothing;

impl Reconciler<ConfigMap> for Nothing {
    async fn reconcile(&self, _cx: &Context, _object: Arc<ConfigMap>) -> Result<Action> {
        Ok(Action::done())
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_there_ends_the_manager_in_time() {
    let (manager, log) = (manager().await, Log::default());
    manager.add(logged(&log, "other", ms(0))).expect("it is new");
    let controller = Controller::for_kind::<ConfigMap>().cache_sync_timeout(Duration::from_secs(2));
    controller.run(Nothing, &manager).expect("it is new");
    let again = Controller::for_kind::<ConfigMap>().run(Nothing, &manager);
    assert_eq!(again, Err(AddError::Duplicate { name: "controller configmap".to_owned() }));
    let before = Instant::now();
    let error = manager.start(CancellationToken::new()).await.expect_err("it fails");
    assert_eq!(
        error.to_string(),
        "controller configmap failed: timed out waiting for cache of ConfigMap/v1 after 2s: the \
         server does not serve the kind"
    );
    assert_eq!(before.elapsed(), Duration::from_secs(2));
    assert_eq!(*log.lock(), ["+other", "-other"]);
}

#[tokio::test]
async fn probes_and_scrapes_are_answered_while_it_runs() {
    let manager =
        builder().health_address("127.0.0.1:0").metrics_address("127.0.0.1:0").build().await.expect("free ports");
    manager.add_ready_check("bad", Check::new(|| async { Err::<(), _>("not yet") }));
    Controller::for_kind::<ConfigMap>().named("greeter").run(Nothing, &manager).expect("it is new");
    let (health, metrics) = (manager.health_address().expect("on"), manager.metrics_address().expect("on"));
    let token = CancellationToken::new();
    let running = {
        let (manager, token) = (manager.clone(), token.clone());
        Ambient::system().spawn("manager", async move { manager.start(token).await })
    };
    assert_eq!(get(health, "/healthz").await, (200, "ok".to_owned()));
    assert_eq!(get(health, "/readyz?exclude=bad").await, (200, "ok".to_owned()));
    let failed = "[-]bad failed: reason withheld\nreadyz check failed\n".to_owned();
    assert_eq!(get(health, "/readyz").await, (500, failed));
    assert_eq!(get(health, "/metrics").await.0, 404);
    let (status, text) = get(metrics, "/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains(r#"controller_runtime_max_concurrent_reconciles{controller="greeter"} 1"#), "{text}");
    assert_eq!(get(metrics, "/healthz").await.0, 404);
    token.cancel();
    running.await.expect("no panic").expect("no error");
    assert!(TcpStream::connect(health).await.is_err(), "it has ended");
}

#[tokio::test]
async fn one_address_serves_both_and_a_taken_one_is_an_error() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = free.local_addr().expect("bound").to_string();
    let error = builder().health_address(&address).build().await.expect_err("it is taken");
    assert!(error.to_string().starts_with(&format!("cannot serve health at {address}: ")), "{error}");
    drop(free);
    let manager = builder().health_address(&address).metrics_address(&address).build().await.expect("it is free");
    assert_eq!(manager.health_address(), manager.metrics_address());
    let off = builder().health_address("0").metrics_address("").build().await.expect("nothing is bound");
    assert_eq!((off.health_address(), off.metrics_address()), (None, None));
}
