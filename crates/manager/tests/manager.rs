//! A manager of a server that knows nothing.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::CacheOptions;
use controller_runtime_controller::{Action, AddError, Context, Controller, Host, Reconciler, Result, Runnable, Stage};
use controller_runtime_manager::{Check, Manager, ManagerError, StillRunning};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::client::Body;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::Instant;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The client of a server that knows nothing.
fn client() -> kube_client::Client {
    let service = tower::service_fn(|_: http::Request<Body>| async {
        let mut response = http::Response::new(Body::empty());
        *response.status_mut() = http::StatusCode::NOT_FOUND;
        Ok::<_, Infallible>(response)
    });
    kube_client::Client::new(service, "default")
}

/// A cache that asks for lists, which are easier to script than streams.
fn pages() -> CacheOptions {
    CacheOptions::builder().streaming_lists(false).build()
}

/// A builder of a manager that is to be repeatable.
macro_rules! builder {
    () => {
        Manager::builder(client()).ambient(Ambient::seeded(0))
    };
}

async fn manager() -> Manager {
    builder!().build().await.expect("nothing is bound")
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

/// A manager that runs until its token is cancelled.
struct Running {
    token: CancellationToken,
    task: controller_runtime_ambient::Task<Result<(), ManagerError>>,
}

impl Running {
    fn start(manager: &Manager) -> Self {
        let (manager, token) = (manager.clone(), CancellationToken::new());
        let stop = token.clone();
        Self { token, task: Ambient::system().spawn("manager", async move { manager.start(stop).await }) }
    }

    async fn stop(self) -> Result<(), ManagerError> {
        self.token.cancel();
        self.task.await.expect("no panic")
    }
}

#[tokio::test(start_paused = true)]
async fn b39_adding_after_the_start_starts_at_once_and_during_the_stop_is_an_error() {
    let (manager, log) = (manager().await, Log::default());
    manager.add(logged(&log, "a", ms(10))).expect("it is new");
    let running = Running::start(&manager);
    tokio::time::sleep(ms(5)).await;
    for (name, stage) in [("server", Stage::Servers), ("cache", Stage::Caches), ("other", Stage::Others)] {
        manager.add(logged(&log, name, ms(0)).in_stage(stage)).expect("it starts at once");
    }
    tokio::task::yield_now().await;
    assert_eq!(*log.lock(), ["+a", "+server", "+cache", "+other"]);
    running.token.cancel();
    tokio::time::sleep(ms(5)).await;
    let too_late = |name: &str| manager.add(logged(&log, name, ms(0)));
    assert_eq!(too_late("during"), Err(AddError::Stopping { name: "during".to_owned() }));
    let token = running.token.clone();
    running.stop().await.expect("no error");
    assert_eq!(too_late("after"), Err(AddError::Stopping { name: "after".to_owned() }));
    assert!(matches!(manager.start(token).await, Err(ManagerError::AlreadyStarted)));
}

#[tokio::test(start_paused = true)]
async fn stages_start_in_order_and_stop_those_that_work_first() {
    let (manager, log) = (manager().await, Log::default());
    // Added in another order than the one in which they start.
    let stages = [Stage::Leaders, Stage::WarmUp, Stage::Caches, Stage::Others, Stage::Servers];
    for (stage, linger) in stages.into_iter().zip([30, 20, 0, 10, 0]) {
        manager.add(logged(&log, &format!("{stage:?}"), ms(linger)).in_stage(stage)).expect("it is new");
    }
    let running = Running::start(&manager);
    tokio::time::sleep(ms(5)).await;
    running.stop().await.expect("no error");
    let order = "+Servers +Caches +Others +WarmUp +Leaders -Others -WarmUp -Leaders -Caches -Servers";
    assert_eq!(log.lock().join(" "), order);
}

#[tokio::test(start_paused = true)]
async fn what_reads_starts_when_the_cache_is_synced_or_cannot_be() {
    /// When a runnable of each stage starts while a list of ConfigMaps is answered so.
    async fn check(answer: &'static str, others: Duration) {
        let service = tower::service_fn(move |_: http::Request<Body>| async move {
            tokio::time::sleep(ms(300)).await;
            let status = answer.get(..3).and_then(|status| status.parse::<u16>().ok()).expect("a status");
            let body = Body::from(answer.as_bytes()[3..].to_vec());
            Ok::<_, Infallible>(http::Response::builder().status(status).body(body).expect("a response"))
        });
        let manager = Manager::builder(kube_client::Client::new(service, "default")).ambient(Ambient::seeded(0));
        let manager =
            manager.cache(pages()).cache_sync_timeout(Duration::from_secs(5)).build().await.expect("nothing is bound");
        let _informer = manager.cache().informer::<ConfigMap>();
        let started = Arc::new(Mutex::new(Vec::new()));
        let before = Instant::now();
        for stage in [Stage::Caches, Stage::Others] {
            let started = started.clone();
            let run = move |_| async move {
                started.lock().push(before.elapsed());
                Ok::<(), ManagerError>(())
            };
            manager.add(Runnable::new(format!("{stage:?}"), run).in_stage(stage)).expect("it is new");
        }
        let running = Running::start(&manager);
        tokio::time::sleep(Duration::from_secs(20)).await;
        running.stop().await.expect("no error");
        let started = started.lock().clone();
        assert_eq!(started.first(), Some(&ms(0)), "{answer}");
        let after = started.get(1).copied().expect("it started");
        assert!(after >= others && after < others + ms(200), "{answer}: {after:?}");
    }
    check(r#"200{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}"#, ms(300))
        .await;
    check("404", ms(300)).await;
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
    async fn check(timeout: Option<Duration>, linger: Duration, took: Duration, error: Option<&str>) {
        let manager = builder!().graceful_timeout(timeout).build().await.expect("nothing is bound");
        let log = Log::default();
        manager.add(logged(&log, "slow", linger)).expect("it is new");
        manager.add(logged(&log, "quick", ms(0))).expect("it is new");
        manager.add(logged(&log, "server", ms(0)).in_stage(Stage::Servers)).expect("it is new");
        let running = Running::start(&manager);
        tokio::time::sleep(ms(10)).await;
        let before = Instant::now();
        let result = running.stop().await;
        assert_eq!(before.elapsed(), took);
        assert_eq!(result.err().map(|error| error.to_string()).as_deref(), error);
        let report = manager.shutdown_report().expect("it has stopped");
        assert_eq!((report.reason, report.took), ("cancelled", took));
        let slow = took < linger;
        let late: Vec<_> = report.still_running.iter().map(|late| (late.name.as_str(), late.ended)).collect();
        match timeout {
            Some(Duration::ZERO) => {
                assert_eq!(late, [("slow", true), ("quick", true), ("cache", true), ("server", true)]);
            }
            _ if slow => assert_eq!(late, [("slow", true)]),
            _ => assert_eq!(late, []),
        }
        assert_eq!(Arc::strong_count(&log), 1, "every task has ended");
    }
    let (second, hour) = (Duration::from_secs(1), Duration::from_hours(1));
    check(Some(second), ms(999), ms(999), None).await;
    let error = "not everything ended within the graceful time-out: stopped after 1s (cancelled); aborted: slow";
    check(Some(second), hour, second, Some(error)).await;
    check(Some(Duration::ZERO), hour, Duration::ZERO, None).await;
    check(Some(Duration::MAX), hour, hour, None).await;
    check(None, hour, hour, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_blocks_its_thread_is_reported_and_not_waited_for() {
    let manager = Manager::builder(client()).graceful_timeout(ms(10)).build().await.expect("nothing is bound");
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    manager
        .add(Runnable::new("blocks", move |_| async move {
            ready.send(()).expect("somebody waits");
            // Without an await: no abort reaches it.
            assert!(held.recv().is_err(), "it is dropped");
            Ok::<(), ManagerError>(())
        }))
        .expect("it is new");
    let running = Running::start(&manager);
    is_ready.await.expect("it starts");
    let ManagerError::GracefulTimeout { report } = running.stop().await.expect_err("it is late") else {
        panic!("another error");
    };
    drop(release);
    let late: Vec<(&str, bool)> =
        report.still_running.iter().map(|StillRunning { name, ended, .. }| (name.as_str(), *ended)).collect();
    assert_eq!(late, [("blocks", false)]);
    assert!(report.to_string().ends_with("; aborted: blocks (blocks its thread)"), "{report}");
}

#[tokio::test]
async fn a_client_that_takes_no_answer_holds_up_no_stop() {
    let manager = Manager::builder(client()).health_address("127.0.0.1:0").build().await.expect("a free port");
    let hangs = Check::new(std::future::pending::<Result<(), ManagerError>>).timeout(Duration::from_hours(1));
    manager.add_ready_check("hangs", hangs);
    let running = Running::start(&manager);
    let mut stream = TcpStream::connect(manager.health_address().expect("on")).await.expect("it listens");
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: test\r\n\r\n").await.expect("it is taken");
    // Another answer says that the first request has been read.
    assert_eq!(get(manager.health_address().expect("on"), "/livez").await.0, 200);
    let before = Instant::now();
    running.stop().await.expect("no error");
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
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
    let took = before.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_millis(2100), "{took:?}");
    assert_eq!(*log.lock(), ["+other", "-other"]);
}

#[tokio::test]
async fn probes_and_scrapes_are_answered_while_it_runs() {
    let manager =
        builder!().health_address("127.0.0.1:0").metrics_address("127.0.0.1:0").build().await.expect("free ports");
    manager.add_ready_check("bad", Check::new(|| async { Err::<(), _>("not yet") }));
    Controller::for_kind::<ConfigMap>().named("greeter").run(Nothing, &manager).expect("it is new");
    let (health, metrics) = (manager.health_address().expect("on"), manager.metrics_address().expect("on"));
    let running = Running::start(&manager);
    assert_eq!(get(health, "/healthz").await, (200, "ok".to_owned()));
    assert_eq!(get(health, "/readyz?exclude=bad").await, (200, "ok".to_owned()));
    let failed = "[-]bad failed: reason withheld\nreadyz check failed\n".to_owned();
    assert_eq!(get(health, "/readyz").await, (500, failed));
    assert_eq!(get(health, "/metrics").await.0, 404);
    let (status, text) = get(metrics, "/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains(r#"controller_runtime_max_concurrent_reconciles{controller="greeter"} 1"#), "{text}");
    assert_eq!(get(metrics, "/healthz").await.0, 404);
    running.stop().await.expect("no error");
    assert!(TcpStream::connect(health).await.is_err(), "it has ended");
}

#[tokio::test]
async fn two_managers_in_one_process_share_nothing() {
    async fn one(check: &'static str, ok: bool) -> Manager {
        let manager = builder!().health_address("127.0.0.1:0").metrics_address("127.0.0.1:0");
        let manager = manager.build().await.expect("free ports");
        manager.add_ready_check(check, Check::new(move || async move { if ok { Ok(()) } else { Err("not yet") } }));
        // Both have a controller of the same name.
        Controller::for_kind::<ConfigMap>().run(Nothing, &manager).expect("the name is new in this manager");
        manager
    }
    let (a, b) = (one("a", true).await, one("b", false).await);
    a.metrics()
        .register("only_a", "Of the first", prometheus_client::metrics::gauge::Gauge::<i64>::default())
        .expect("new");
    let (running_a, running_b) = (Running::start(&a), Running::start(&b));
    let (health_a, health_b) = (a.health_address().expect("on"), b.health_address().expect("on"));
    assert_eq!(get(health_a, "/readyz?verbose").await, (200, "[+]a ok\nreadyz check passed\n".to_owned()));
    let failed = "[-]b failed: reason withheld\nreadyz check failed\n".to_owned();
    assert_eq!(get(health_b, "/readyz?verbose").await, (500, failed));
    for (manager, has) in [(&a, true), (&b, false)] {
        let (status, text) = get(manager.metrics_address().expect("on"), "/metrics").await;
        assert_eq!((status, text.contains("only_a 0")), (200, has), "{text}");
        assert_eq!(text.matches("controller_runtime_active_workers{controller=\"configmap\"}").count(), 1, "{text}");
    }
    running_a.stop().await.expect("no error");
    assert_eq!(get(health_b, "/livez").await, (200, "ok".to_owned()), "the other one goes on");
    assert!(b.add(logged(&Log::default(), "late", ms(0))).is_ok());
    running_b.stop().await.expect("no error");
}

#[tokio::test]
async fn metrics_tell_of_the_process_and_have_short_names_if_asked_for() {
    async fn check(short: bool) {
        let manager = builder!().metrics_address("127.0.0.1:0").short_metric_names(short);
        let manager = manager.build().await.expect("a free port");
        Controller::for_kind::<ConfigMap>().run(Nothing, &manager).expect("it is new");
        let running = Running::start(&manager);
        let (_, text) = get(manager.metrics_address().expect("on"), "/metrics").await;
        running.stop().await.expect("no error");
        for name in ["reconcile_total{", "reconcile_duration_seconds_count{"] {
            assert_eq!(text.contains(&format!("\n{name}")), short, "{text}");
        }
        assert!(text.contains("\ncontroller_runtime_reconcile_total{"), "{text}");
        assert_eq!(text.contains("\nprocess_resident_memory_bytes "), cfg!(target_os = "linux"), "{text}");
    }
    check(true).await;
    check(false).await;
}

/// Stays at every object for ever.
struct Stuck;

impl Reconciler<ConfigMap> for Stuck {
    async fn reconcile(&self, _cx: &Context, _object: Arc<ConfigMap>) -> Result<Action> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_watchdogs_are_live_checks() {
    // One object, which a paused clock would be too fast for.
    let service = tower::service_fn(|request: http::Request<Body>| async move {
        let object = r#"{"metadata":{"name":"a","namespace":"default","uid":"1","resourceVersion":"1"}}"#;
        let list = format!(
            r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"1"}},"items":[{object}]}}"#
        );
        let watch = request.uri().query().is_some_and(|query| query.contains("watch="));
        if watch {
            std::future::pending::<()>().await;
        }
        Ok::<_, Infallible>(http::Response::new(Body::from(list.into_bytes())))
    });
    let manager = Manager::builder(kube_client::Client::new(service, "default"))
        .cache(pages())
        .health_address("127.0.0.1:0")
        .event_loop_watchdog(Duration::from_mins(1))
        .worker_watchdog(ms(50))
        .graceful_timeout(Duration::ZERO)
        .build()
        .await
        .expect("a free port");
    Controller::for_kind::<ConfigMap>().run(Stuck, &manager).expect("it is new");
    let running = Running::start(&manager);
    let health = manager.health_address().expect("on");
    assert_eq!(get(health, "/livez/event-loop").await.0, 200);
    let deadline = Instant::now() + Duration::from_secs(20);
    while get(health, "/livez/workers").await.0 == 200 {
        assert!(Instant::now() < deadline, "the worker isn't seen to be stuck");
        tokio::time::sleep(ms(10)).await;
    }
    let failed = "[+]event-loop ok\n[-]workers failed: reason withheld\nlivez check failed\n".to_owned();
    assert_eq!(get(health, "/livez").await, (500, failed));
    running.stop().await.expect("nobody waits");
}

#[tokio::test]
async fn one_address_serves_both_and_a_taken_one_is_an_error() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = free.local_addr().expect("bound").to_string();
    let error = builder!().health_address(&address).build().await.expect_err("it is taken");
    assert!(error.to_string().starts_with(&format!("cannot serve health at {address}: ")), "{error}");
    drop(free);
    let manager = builder!().health_address(&address).metrics_address(&address).build().await.expect("it is free");
    assert_eq!(manager.health_address(), manager.metrics_address());
    let off = builder!().health_address("0").metrics_address("").build().await.expect("nothing is bound");
    assert_eq!((off.health_address(), off.metrics_address()), (None, None));
}
