//! How soon an owner's reconcile starts after what it owns was written: from the write's answer, against an embedded
//! server in a process of its own.
//!
//! `cargo xtask bench trigger [--owners 10000] [--rate 100] [--seconds 60]`

#[path = "../client_bench/server.rs"]
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_client::{Client, ClientOptions, OwnedBy, Patch};
use controller_runtime_controller::{Action, Context, Controller, Reconciler, Result};
use controller_runtime_manager::Manager;
use futures::stream::FuturesUnordered;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::server::Server;

const NAMESPACE: &str = "default";
/// How many objects are created at a time.
const CREATORS: usize = 16;
/// After so long a reconcile counts as lost.
const LOST: Duration = Duration::from_secs(10);
/// What 99 of 100 reconciles are to keep.
const AIM: Duration = Duration::from_millis(10);

type Error = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Copy)]
struct Load {
    owners: usize,
    rate: u32,
    seconds: u64,
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut load = Load { owners: 10_000, rate: 100, seconds: 60 };
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--serve", None) => return server::serve(),
            ("--owners", Some(owners)) => load.owners = owners.parse::<usize>()?.max(1),
            ("--rate", Some(rate)) => load.rate = rate.parse::<u32>()?.max(1),
            ("--seconds", Some(seconds)) => load.seconds = seconds.parse()?,
            _ => return Err("usage: trigger_bench [--owners N] [--rate N] [--seconds N]".into()),
        }
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(load))
}

/// Tells when it starts, to whoever waits for that.
#[derive(Clone)]
struct Starts {
    waiting: Arc<Vec<Mutex<Option<oneshot::Sender<Instant>>>>>,
    reconciles: Arc<AtomicUsize>,
}

impl Reconciler<ConfigMap> for Starts {
    async fn reconcile(&self, cx: &Context, _: Arc<ConfigMap>) -> Result<Action> {
        let now = Instant::now();
        self.reconciles.fetch_add(1, Ordering::Relaxed);
        let index = cx.key().name.rsplit('-').next().and_then(|index| index.parse::<usize>().ok());
        if let Some(sender) = index.and_then(|index| self.waiting.get(index)?.lock().take()) {
            // Whoever waited may have given up.
            let _ = sender.send(now);
        }
        Ok(Action::done())
    }
}

async fn run(load: Load) -> Result<(), Error> {
    let server = Server::start()?;
    let client = Client::from_config(server.config().await?, ClientOptions::builder().field_manager("bench").build())?;
    let created = Instant::now();
    let owners = (0..load.owners).map(|index| create(&client, index));
    futures::stream::iter(owners).buffer_unordered(CREATORS).try_collect::<Vec<()>>().await?;
    println!("{} owners, each with a Pod, created in {:.1?}", load.owners, created.elapsed());
    let waiting = std::iter::repeat_with(|| Mutex::new(None)).take(load.owners).collect();
    let starts = Starts { waiting: Arc::new(waiting), reconciles: Arc::default() };
    let manager = Manager::builder(server.config().await?).build().await?;
    Controller::for_kind::<ConfigMap>().owns::<Pod>().run(starts.clone(), &manager)?;
    let cancel = CancellationToken::new();
    let running = Ambient::system().spawn("manager", {
        let cancel = cancel.clone();
        async move { manager.start(cancel).await }
    });
    let started = Instant::now();
    while starts.reconciles.load(Ordering::Relaxed) < load.owners {
        if started.elapsed() > Duration::from_mins(5) {
            return Err("the initial list was not reconciled within 5 min".into());
        }
        sleep(Duration::from_millis(50)).await;
    }
    println!("initial list reconciled in {:.1?}", started.elapsed());
    sleep(Duration::from_secs(1)).await;
    let latencies = measure(&client, &starts, load).await?;
    cancel.cancel();
    running.join().await??;
    server.stop()?;
    report(latencies, load)
}

/// Writes at the load's rate, whether or not earlier writes were answered.
async fn measure(client: &Client, starts: &Starts, load: Load) -> Result<Vec<Option<Duration>>, Error> {
    let total = usize::try_from(load.seconds * u64::from(load.rate))?;
    let interval = Duration::from_secs(1) / load.rate;
    let (mut latencies, mut running) = (Vec::with_capacity(total), FuturesUnordered::new());
    let (mut due, mut sent) = (Instant::now(), 0);
    while sent < total || !running.is_empty() {
        tokio::select! {
            biased;
            () = sleep_until(due), if sent < total => {
                running.push(write(client, starts, sent, load.owners));
                sent += 1;
                due += interval;
            }
            Some(latency) = running.next(), if !running.is_empty() => latencies.push(latency?),
        }
    }
    Ok(latencies)
}

/// Writes an owned Pod; gives how long after the answer its owner's reconcile started, and nothing if it did not. One
/// that started before the answer came is no later than that.
async fn write(client: &Client, starts: &Starts, number: usize, owners: usize) -> Result<Option<Duration>, Error> {
    let index = number % owners;
    let (sender, started) = oneshot::channel();
    if let Some(waiting) = starts.waiting.get(index) {
        *waiting.lock() = Some(sender);
    }
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"bench/write": number.to_string()}}}));
    client.patch::<Pod>((NAMESPACE, name(index).as_str()), &patch).await?;
    let answered = Instant::now();
    let started = timeout(LOST, started).await.ok().and_then(Result::ok);
    Ok(started.map(|started| started.saturating_duration_since(answered)))
}

fn report(latencies: Vec<Option<Duration>>, load: Load) -> Result<(), Error> {
    let total = latencies.len();
    let mut latencies: Vec<Duration> = latencies.into_iter().flatten().collect();
    latencies.sort_unstable();
    let lost = total - latencies.len();
    let at = |percent: usize| latencies.get(latencies.len() * percent / 100).or(latencies.last()).copied();
    let [median, p99, max] = [50, 99, 100].map(|percent| at(percent).unwrap_or_default());
    println!("{total} writes of owned Pods, {} per second, {} owners", load.rate, load.owners);
    println!("from the answer to the reconcile's start: p50 {median:.2?}, p99 {p99:.2?}, max {max:.2?}, {lost} lost");
    if lost > 0 || p99 > AIM {
        return Err(format!("the aim is a p99 of at most {AIM:?}, and no reconcile lost").into());
    }
    Ok(())
}

fn name(index: usize) -> String {
    format!("bench-{index}")
}

async fn create(client: &Client, index: usize) -> Result<(), Error> {
    let metadata = json!({"name": name(index), "namespace": NAMESPACE});
    let owner: ConfigMap = serde_json::from_value(json!({"metadata": metadata}))?;
    let owner = client.create(&owner).await?;
    let spec = json!({"containers": [{"name": "web", "image": "registry.example.com/web:1"}]});
    let pod: Pod = serde_json::from_value(json!({"metadata": metadata, "spec": spec}))?;
    client.create(&pod.owned_by(&owner)?).await?;
    Ok(())
}
