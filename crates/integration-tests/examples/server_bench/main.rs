//! How many objects an API server creates per second: clients with a connection each create ConfigMaps, and then Pods,
//! as fast as they are answered, over HTTPS; on an embedded server in a process of its own, or on the one of a
//! kubeconfig.
//!
//! `cargo xtask bench server [--seconds 10] [--clients 16] [--kubeconfig F]`

#[path = "../client_bench/server.rs"]
mod server;

use std::time::Duration;

use controller_runtime_client::{Api, Client, ClientOptions};
use controller_runtime_scheme::{Kind, Object, ObjectKey};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube_client::Config;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use self::server::Server;

type Error = Box<dyn std::error::Error + Send + Sync>;

struct Load {
    seconds: u64,
    clients: usize,
    kubeconfig: Option<String>,
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut load = Load { seconds: 10, clients: 16, kubeconfig: None };
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--serve", None) => return server::serve(),
            ("--seconds", Some(seconds)) => load.seconds = seconds.parse()?,
            ("--clients", Some(clients)) => load.clients = clients.parse()?,
            ("--kubeconfig", Some(file)) => load.kubeconfig = Some(file),
            _ => return Err("usage: server_bench [--seconds N] [--clients N] [--kubeconfig F]".into()),
        }
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(&load))
}

async fn run(load: &Load) -> Result<(), Error> {
    if let Some(file) = &load.kubeconfig {
        let options = KubeConfigOptions::default();
        return measure_all(&Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &options).await?, load).await;
    }
    let server = Server::start()?;
    measure_all(&server.config().await?, load).await?;
    server.stop()
}

async fn measure_all(config: &Config, load: &Load) -> Result<(), Error> {
    let namespace = format!("bench-{}", std::process::id());
    let clients: Vec<Client> = (0..load.clients)
        .map(|_| Client::from_config(config.clone(), ClientOptions::builder().field_manager("bench").build()))
        .collect::<Result<_, _>>()?;
    let Some(first) = clients.first() else { return Err("at least one client is needed".into()) };
    first.create(&read::<Namespace>(json!({"metadata": {"name": namespace}}))?).await?;
    println!("{} clients create objects for {} s each:", load.clients, load.seconds);
    println!("kind       creates  creates/s  p50 µs  p99 µs  client CPU µs/create");
    measure("ConfigMap", &clients, load, Kind::<ConfigMap>::typed(), |name| config_map(&namespace, name)).await?;
    measure("Pod", &clients, load, Kind::<Pod>::typed(), |name| pod(&namespace, name)).await?;
    first.api(Kind::<Namespace>::typed()).delete(ObjectKey::cluster(namespace)).await?;
    Ok(())
}

async fn measure<K: Object + DeserializeOwned>(
    what: &str,
    clients: &[Client],
    load: &Load,
    kind: Kind<K>,
    object: impl Fn(&str) -> Value,
) -> Result<(), Error> {
    let (start, cpu) = (Instant::now(), cpu_time()?);
    let deadline = start + Duration::from_secs(load.seconds);
    let tasks = clients.iter().enumerate().map(|(number, client)| {
        let (api, object) = (client.api(kind.clone()), &object);
        async move { create_until(&api, deadline, |index| read(object(&format!("{number}-{index}")))).await }
    });
    let mut latencies: Vec<Duration> = try_join_all(tasks).await?.concat();
    let (elapsed, cpu) = (start.elapsed(), cpu_time()?.saturating_sub(cpu));
    latencies.sort_unstable();
    let creates = latencies.len().max(1);
    let at = |share: usize| latencies.get(creates * share / 100).or(latencies.last()).map_or(0, Duration::as_micros);
    println!(
        "{what:9} {creates:>8} {:>10} {:>7} {:>7} {:>21}",
        creates as u128 * 1000 / elapsed.as_millis().max(1),
        at(50),
        at(99),
        cpu.as_micros() / creates as u128,
    );
    Ok(())
}

/// Creates one object after the other; how long each took.
async fn create_until<K: Object>(
    api: &Api<K>,
    deadline: Instant,
    object: impl Fn(usize) -> Result<K, Error>,
) -> Result<Vec<Duration>, Error> {
    let mut latencies = Vec::new();
    while Instant::now() < deadline {
        let object = object(latencies.len())?;
        let sent = Instant::now();
        api.create(&object).await?;
        latencies.push(sent.elapsed());
    }
    Ok(latencies)
}

fn read<K: DeserializeOwned>(object: Value) -> Result<K, Error> {
    Ok(serde_json::from_value(object)?)
}

/// The processor time of this process so far.
fn cpu_time() -> Result<Duration, Error> {
    Ok(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into()?)
}

fn config_map(namespace: &str, name: &str) -> Value {
    let metadata = json!({"name": format!("c-{name}"), "namespace": namespace, "labels": {"app": "web"}});
    json!({"metadata": metadata, "data": {"key": "value", "other": "x".repeat(100)}})
}

fn pod(namespace: &str, name: &str) -> Value {
    let env: Vec<Value> = (0..8).map(|index| json!({"name": format!("SETTING_{index}"), "value": "a value"})).collect();
    let container = json!({
        "name": "web", "image": "registry.example.com/web:1.2.3", "env": env,
        "ports": [{"containerPort": 8080, "name": "http"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
    });
    let metadata = json!({"name": format!("p-{name}"), "namespace": namespace, "labels": {"app": "web"}});
    json!({"metadata": metadata, "spec": {"containers": [container]}})
}
