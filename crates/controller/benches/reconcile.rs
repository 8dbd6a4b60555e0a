//! What a controller costs for each object: from the event through queue and worker to a reconcile that does nothing.

#[path = "../examples/host/mod.rs"]
mod host;

use std::convert::Infallible;
use std::sync::Arc;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::CacheOptions;
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_controller::{Action, Context, Controller, Reconciler, Result, Watch, handler, source};
use controller_runtime_scheme::ObjectKey;
use divan::Bencher;
use divan::counter::ItemsCount;
use kube_client::client::Body;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use host::OwnHost;

const KEYS: usize = 1000;

fn main() {
    divan::main();
}

struct Count(Arc<Semaphore>);

impl Reconciler<ObjectKey> for Count {
    async fn reconcile(&self, _: &Context, _: Arc<ObjectKey>) -> Result<Action> {
        self.0.add_permits(1);
        Ok(Action::done())
    }
}

fn nobody() -> Client {
    let service =
        tower::service_fn(|_: http::Request<Body>| async { Ok::<_, Infallible>(http::Response::new(Body::empty())) });
    Client::new(kube_client::Client::new(service, "default"), ClientOptions::new())
}

#[divan::bench(args = [1, 16])]
fn event_to_reconcile(bencher: Bencher<'_, '_>, workers: usize) {
    let runtime: Runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let done = Arc::new(Semaphore::new(0));
    let stop = CancellationToken::new();
    let (sender, running) = runtime.block_on(async {
        let host = OwnHost::new(nobody(), CacheOptions::new());
        let (sender, channel) = source::channel_with_buffer(KEYS);
        Controller::for_keys("bench")
            .watches_with(Watch::source(channel), handler::key())
            .max_concurrent(workers)
            .run(Count(done.clone()), &host)
            .expect("the name is free");
        let stop = stop.clone();
        (sender, Ambient::system().spawn("host", async move { host.run(stop).await }))
    });
    let keys: Vec<_> = (0..KEYS).map(|at| Arc::new(ObjectKey::namespaced("default", format!("object-{at}")))).collect();
    bencher.counter(ItemsCount::new(KEYS)).bench_local(|| {
        runtime.block_on(async {
            for key in &keys {
                sender.send(key.clone()).await.expect("the controller runs");
            }
            done.acquire_many(u32::try_from(KEYS).unwrap_or(u32::MAX)).await.expect("it is never closed").forget();
        });
    });
    stop.cancel();
    runtime.block_on(running).expect("no panic").expect("a stop is no error");
}
