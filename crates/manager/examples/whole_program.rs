//! A whole program: a manager with one controller, a runnable, health checks and metrics, from its start to its stop.
//! Needs nothing but this crate and the layers below it.
//!
//! `cargo run -p controller-runtime-manager --example whole_program -- --kubeconfig FILE`. With `--serve` it runs until a
//! signal instead, as an operator in a cluster would, and writes nothing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::{Ambient, CancellationToken};
use controller_runtime_cache::CacheOptions;
use controller_runtime_controller::{Action, Context, Controller, Host as _, Reconciler, Result, Runnable, Stage};
use controller_runtime_manager::{Check, LogFormat, Manager, ManagerError, init_logs, shutdown_signals};
use controller_runtime_scheme::ObjectExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Config;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

const NAME: &str = "whole-program";

/// Tells which object it was called for.
struct Announcer {
    seen: mpsc::UnboundedSender<String>,
}

impl Reconciler<ConfigMap> for Announcer {
    async fn reconcile(&self, _cx: &Context, object: Arc<ConfigMap>) -> Result<Action> {
        if object.key().name == NAME {
            // Nobody listens when the program only serves.
            let _ = self.seen.send(object.key().to_string());
        }
        Ok(Action::done())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let Arguments { config, serve } = arguments().await?;
    let namespace = config.default_namespace.clone();
    let manager = Manager::builder(config)
        .cache(CacheOptions::builder().namespaces([&namespace]).build())
        .health_address("127.0.0.1:0")
        .metrics_address("127.0.0.1:0")
        .short_metric_names(true)
        .event_loop_watchdog(Duration::from_mins(1))
        .graceful_timeout(Duration::from_secs(10))
        .build()
        .await?;

    let (seen, mut announced) = mpsc::unbounded_channel();
    Controller::for_kind::<ConfigMap>().named("announcer").run(Announcer { seen }, &manager)?;
    let ticks = Runnable::new("ticks", |token: CancellationToken| async move {
        while tokio::time::timeout(Duration::from_secs(1), token.cancelled()).await.is_err() {
            tracing::debug!("another second");
        }
        Ok::<(), ManagerError>(())
    });
    manager.add(ticks.in_stage(Stage::Others))?;
    let cache = manager.cache().clone();
    manager.add_ready_check(
        "cache",
        Check::new(move || {
            let cache = cache.clone();
            async move { cache.wait_for_sync(Duration::from_secs(1)).await }
        }),
    );
    if serve {
        init_logs(LogFormat::Human)?;
        return Ok(manager.start(shutdown_signals()).await?);
    }

    let stop = CancellationToken::new();
    let running = Ambient::system().spawn("manager", {
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start(stop).await }
    });
    // As kubelet and Prometheus would ask.
    let health =
        manager.health_address().ok_or("health is off").map_err(controller_runtime_controller::Error::terminal)?;
    while !get(health, "/readyz").await?.ends_with("\r\n\r\nok") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("ready: its cache is synced");

    let object: ConfigMap = serde_json::from_value(json!({"metadata": {"name": NAME, "namespace": namespace}}))?;
    manager.client().create(&object).await?;
    println!("reconciled: {}", announced.recv().await.unwrap_or_default());
    manager.client().delete::<ConfigMap>((namespace.as_str(), NAME)).await?;

    stop.cancel();
    running.await??;
    if let Some(report) = manager.shutdown_report() {
        println!("stopped: {}, {} parts were late", report.reason, report.still_running.len());
    }
    Ok(())
}

/// A response, head and body.
async fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}

struct Arguments {
    config: Config,
    serve: bool,
}

/// The file after `--kubeconfig`, or what kubectl would take.
async fn arguments() -> Result<Arguments> {
    let (mut file, mut serve) = (None, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--kubeconfig" => file = words.next(),
            "--serve" => serve = true,
            _ => {
                let usage = "usage: whole_program [--kubeconfig FILE] [--serve]";
                return Err(controller_runtime_controller::Error::terminal(usage));
            }
        }
    }
    let config = match file {
        Some(file) => {
            Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &KubeConfigOptions::default()).await?
        }
        None => Config::infer().await?,
    };
    Ok(Arguments { config, serve })
}
