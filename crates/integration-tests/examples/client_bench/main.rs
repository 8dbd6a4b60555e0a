//! What a request costs the client, typed, unstructured and with metadata only: latency, CPU and allocations at a
//! fixed rate of reads of Pods, against an embedded server in a process of its own.
//!
//! `cargo xtask bench client [--seconds 60] [--rate 1000]`

mod allocations;
mod server;

use std::time::Duration;

use controller_runtime_client::{Api, Client, ClientOptions};
use controller_runtime_scheme::{Kind, Object};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use self::server::Server;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

const NAMESPACE: &str = "default";
/// How many Pods are read in turn.
const PODS: usize = 100;

type Error = Box<dyn std::error::Error + Send + Sync>;

struct Load {
    seconds: u64,
    rate: u32,
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut load = Load { seconds: 60, rate: 1000 };
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--serve", None) => return server::serve(),
            ("--seconds", Some(seconds)) => load.seconds = seconds.parse()?,
            ("--rate", Some(rate)) => load.rate = rate.parse()?,
            _ => return Err("usage: client_bench [--seconds N] [--rate N]".into()),
        }
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(&load))
}

async fn run(load: &Load) -> Result<(), Error> {
    let server = Server::start()?;
    let options = ClientOptions::builder().field_manager("bench").build();
    let client = Client::from_config(server.config().await?, options)?;
    for index in 0..PODS {
        client.create(&pod(&name(index))?).await?;
    }
    println!("{} reads of a Pod per second for {} s each, one after the other:", load.rate, load.seconds);
    println!(
        "client        requests  errors  mean µs  p50 µs  p99 µs  max µs  CPU µs/request  allocations/request  bytes/request"
    );
    let kind = Kind::<Pod>::typed();
    measure("typed", &client.api(kind.clone()), load).await?;
    measure("unstructured", &client.api(kind.erase()), load).await?;
    measure("metadata", &client.api(kind.metadata_only()), load).await?;
    server.stop()
}

/// Sends at the load's rate whether or not earlier requests were answered, and measures from the moment at which a
/// request was due.
async fn measure<K: Object>(what: &str, api: &Api<K>, load: &Load) -> Result<(), Error> {
    // Connections, and the server's caches, are warm when it begins.
    for index in 0..PODS {
        api.get((NAMESPACE, name(index).as_str())).await?;
    }
    let total = load.seconds * u64::from(load.rate);
    let interval = Duration::from_secs(1) / load.rate.max(1);
    let mut latencies = Vec::with_capacity(usize::try_from(total)?);
    let mut errors = 0_u64;
    let (cpu, (count, bytes), start) = (cpu_time()?, allocations::so_far(), Instant::now());
    let mut running = FuturesUnordered::new();
    let mut due = start;
    let mut sent = 0;
    while sent < total || !running.is_empty() {
        tokio::select! {
            biased;
            () = sleep_until(due), if sent < total => {
                let key = name(usize::try_from(sent)? % PODS);
                running.push(async move {
                    let result = api.get((NAMESPACE, key.as_str())).await;
                    (result.is_ok(), due.elapsed())
                });
                sent += 1;
                due += interval;
            }
            Some((ok, latency)) = running.next(), if !running.is_empty() => {
                errors += u64::from(!ok);
                latencies.push(latency);
            }
        }
    }
    let cpu = cpu_time()?.saturating_sub(cpu);
    let (count, bytes) = {
        let now = allocations::so_far();
        (now.0 - count, now.1 - bytes)
    };
    report(what, latencies, errors, cpu, count, bytes);
    Ok(())
}

fn report(what: &str, mut latencies: Vec<Duration>, errors: u64, cpu: Duration, count: u64, bytes: u64) {
    latencies.sort_unstable();
    let requests = latencies.len().max(1);
    let at = |share: usize| latencies.get(requests * share / 100).or(latencies.last()).map_or(0, Duration::as_micros);
    let mean = latencies.iter().sum::<Duration>().as_micros() / requests as u128;
    println!(
        "{what:12} {:>9} {errors:>7} {mean:>8} {:>7} {:>7} {:>7} {:>15} {:>20} {:>14}",
        latencies.len(),
        at(50),
        at(99),
        at(100),
        cpu.as_micros() / requests as u128,
        count / requests as u64,
        bytes / requests as u64,
    );
}

/// The processor time of this process so far.
fn cpu_time() -> Result<Duration, Error> {
    Ok(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into()?)
}

fn name(index: usize) -> String {
    format!("pod-{index}")
}

/// About 2.5 KB of JSON once the server has filled in its defaults and who manages which field.
fn pod(name: &str) -> Result<Pod, Error> {
    let env: Vec<Value> = (0..8).map(|index| json!({"name": format!("SETTING_{index}"), "value": "a value"})).collect();
    let container = json!({
        "name": "web", "image": "registry.example.com/web:1.2.3", "env": env,
        "ports": [{"containerPort": 8080, "name": "http"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}},
    });
    let labels = json!({"app": "web", "tier": "front", "pod-template-hash": "6d4cf56db6"});
    let metadata = json!({"name": name, "namespace": NAMESPACE, "labels": labels});
    Ok(serde_json::from_value(json!({"metadata": metadata, "spec": {"containers": [container]}}))?)
}
