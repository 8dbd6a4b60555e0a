//! What a manager costs besides the work of what it runs.

use std::convert::Infallible;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_controller::{Host as _, Runnable};
use controller_runtime_manager::{Check, Manager, ManagerError};
use divan::Bencher;
use divan::counter::ItemsCount;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use kube_client::client::Body;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A client whose server knows nothing.
fn client() -> kube_client::Client {
    let service =
        tower::service_fn(|_: http::Request<Body>| async { Ok::<_, Infallible>(http::Response::new(Body::empty())) });
    kube_client::Client::new(service, "default")
}

/// Start and stop with so many runnables that wait for their end.
#[divan::bench(args = [10, 1000])]
fn start_and_stop(bencher: Bencher<'_, '_>, runnables: usize) {
    let runtime = runtime();
    bencher.counter(ItemsCount::new(runnables)).bench_local(|| {
        runtime.block_on(async {
            let manager = Manager::builder(client()).build().await.expect("nothing is bound");
            for index in 0..runnables {
                let waits = Runnable::new(index.to_string(), |token: CancellationToken| async move {
                    token.cancelled().await;
                    Ok::<(), ManagerError>(())
                });
                manager.add(waits).expect("it is new");
            }
            let token = CancellationToken::new();
            let stop = token.clone();
            let last = Runnable::new("last", |_| async move {
                stop.cancel();
                Ok::<(), ManagerError>(())
            });
            manager.add(last).expect("it is new");
            manager.start(token).await.expect("it stops");
        });
    });
}

/// A manager that serves, and a connection to it.
struct Served {
    runtime: Runtime,
    connection: SendRequest<Empty<bytes::Bytes>>,
}

impl Served {
    fn start(set_up: impl FnOnce(&Manager)) -> Self {
        let runtime = runtime();
        let connection = runtime.block_on(async {
            let manager = Manager::builder(client()).health_address("127.0.0.1:0");
            let manager = manager.build().await.expect("a free port");
            set_up(&manager);
            let address = manager.health_address().expect("on");
            run_for_ever(async move { drop(manager.start(CancellationToken::new()).await) });
            connect(address).await
        });
        Self { runtime, connection }
    }

    fn get(&mut self, path: &str) -> usize {
        let request = http::Request::get(path).header("host", "bench").body(Empty::new()).expect("a request");
        let Self { runtime, connection } = self;
        runtime.block_on(async {
            let response = connection.send_request(request).await.expect("an answer");
            response.into_body().collect().await.expect("a body").to_bytes().len()
        })
    }
}

/// The task lives as long as its runtime.
fn run_for_ever(future: impl Future<Output = ()> + Send + 'static) {
    std::mem::forget(Ambient::system().spawn("bench", future));
}

async fn connect(address: std::net::SocketAddr) -> SendRequest<Empty<bytes::Bytes>> {
    let stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("it is connected");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("http");
    run_for_ever(async move { drop(connection.await) });
    sender
}

/// A probe over loopback, with so many checks.
#[divan::bench(args = [0, 10, 100])]
fn health_report(bencher: Bencher<'_, '_>, checks: usize) {
    let mut served = Served::start(|manager| {
        for index in 0..checks {
            manager.add_ready_check(&index.to_string(), Check::new(|| std::future::ready(Ok::<(), ManagerError>(()))));
        }
    });
    bencher.bench_local(|| served.get("/readyz?verbose"));
}

/// The text of the metrics of so many controllers.
#[divan::bench(args = [1, 10, 100])]
fn metrics_encoding(bencher: Bencher<'_, '_>, controllers: usize) {
    let registry = controller_runtime_metrics::Registry::new();
    registry.register_process();
    for index in 0..controllers {
        let name = format!("controller-{index}");
        let metrics = registry.controller(&name, 1);
        let _queue = registry.workqueue(&name, &name);
        metrics.ended(controller_runtime_metrics::Outcome::Success, std::time::Duration::from_millis(3));
    }
    let format = controller_runtime_metrics::Format::PrometheusText;
    bencher.bench_local(|| registry.encode(format).map(|text| text.len()));
}
