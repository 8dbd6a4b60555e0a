//! The main job, whole: an API server, the operator of `examples/database`, and sample objects to reconcile.
//! `cargo xtask demo` runs it.

#[path = "../database/operator.rs"]
mod operator;
mod progress;
mod samples;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Parser;
use controller_runtime::prelude::*;
use tokio::signal::unix::{SignalKind, signal};

use crate::operator::Database;
use crate::progress::Progress;
use crate::samples::Samples;
use crate::target::Target;

/// How long all samples together may take with `--until-ready`.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// Runs the example operator on an embedded API server and shows how the samples converge.
#[derive(Parser, Debug)]
struct Arguments {
    /// Exit with 0 as soon as all samples are reconciled
    #[arg(long)]
    until_ready: bool,
    /// Use the cluster of this kubeconfig instead of an embedded API server
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Apply the YAML files of this folder instead of the samples of examples/database
    #[arg(long, value_name = "DIR")]
    samples: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

/// The error and what led to it; causes that an error tells itself are not told twice.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        _ if told.contains(&cause) => told,
        _ => format!("{told}: {cause}"),
    })
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let folder = arguments.samples.unwrap_or_else(Samples::of_the_repository);
    let samples = Samples::read(&folder)?;
    let target = Target::choose(arguments.kubeconfig.as_deref()).await?;
    let outcome = converge(&target, &samples, arguments.until_ready).await;
    target.leave().await?;
    outcome
}

/// Runs the operator while the samples are applied and converge, then stops it.
async fn converge(target: &Target, samples: &Samples, until_ready: bool) -> anyhow::Result<()> {
    let ambient = Ambient::system();
    let client = target.client(&ambient)?;
    target.install(&Database::crd(), &client).await?;
    let manager = Manager::builder(target.config()).ambient(ambient).build().await?;
    operator::add_to(&manager).map_err(|error| anyhow!("cannot add the operator: {error}"))?;
    let mut progress = Progress::of(&manager.cache().informer::<Database>(), samples.databases());

    let stop = CancellationToken::new();
    let running = async {
        let outcome = manager.start(stop.clone()).await;
        stop.cancel();
        outcome
    };
    let shown = async {
        let outcome = tokio::select! {
            biased;
            () = stop.cancelled() => Ok(()),
            outcome = interrupted() => outcome.and_then(|()| if until_ready { bail!("interrupted") } else { Ok(()) }),
            outcome = show(&client, samples, &mut progress, until_ready) => outcome,
        };
        stop.cancel();
        outcome
    };
    let (ran, shown) = tokio::join!(running, shown);
    ran.context("the manager failed")?;
    shown
}

/// Applies the samples and shows how they converge; ends only with `until_ready`.
async fn show(client: &Client, samples: &Samples, progress: &mut Progress, until_ready: bool) -> anyhow::Result<()> {
    samples.apply(client).await?;
    progress.until_ready(READY_WITHIN).await?;
    println!("{}", progress.summary());
    if !until_ready {
        println!("Change something with kubectl, or stop with Ctrl-C.");
        progress.for_ever().await;
    }
    Ok(())
}

/// Ctrl-C, or what ends a process politely.
async fn interrupted() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        biased;
        outcome = tokio::signal::ctrl_c() => outcome?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
