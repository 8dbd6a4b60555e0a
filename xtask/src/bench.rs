use anyhow::Result;
use clap::{Args, Subcommand};

use crate::cargo;

/// Measurements that take a release build and a quiet machine: commands, not tests.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// From the call to the first answered request of an embedded environment: median of 20 starts
    Start,
    /// Latency, CPU and allocations of typed, unstructured and metadata-only requests at a fixed rate
    Client {
        /// How long each of the three is measured
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Requests per second
        #[arg(long, default_value_t = 1000)]
        rate: u32,
    },
    /// Objects that an API server creates per second, over HTTPS
    Server {
        /// How long each kind is measured
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// How many clients create at a time, each over a connection of its own
        #[arg(long, default_value_t = 16)]
        clients: usize,
        /// Another server than the embedded one
        #[arg(long)]
        kubeconfig: Option<String>,
    },
    /// From the answer to a write of an owned Pod to the start of its owner's reconcile: p99 at most 10 ms
    Trigger {
        /// How many owners there are, each with one Pod
        #[arg(long, default_value_t = 10_000)]
        owners: usize,
        /// Writes per second
        #[arg(long, default_value_t = 100)]
        rate: u32,
        /// How long is measured
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
}

impl Bench {
    pub(crate) fn run(self) -> Result<()> {
        match self.what {
            What::Start => example("controller-runtime-testenv", "start", &[]),
            What::Client { seconds, rate } => {
                let (seconds, rate) = (seconds.to_string(), rate.to_string());
                example("integration-tests", "client_bench", &["--seconds", &seconds, "--rate", &rate])
            }
            What::Server { seconds, clients, kubeconfig } => {
                let (seconds, clients) = (seconds.to_string(), clients.to_string());
                let mut arguments = vec!["--seconds", &seconds, "--clients", &clients];
                if let Some(file) = &kubeconfig {
                    arguments.extend(["--kubeconfig", file]);
                }
                example("integration-tests", "server_bench", &arguments)
            }
            What::Trigger { owners, rate, seconds } => {
                let (owners, rate, seconds) = (owners.to_string(), rate.to_string(), seconds.to_string());
                let arguments = ["--owners", &owners, "--rate", &rate, "--seconds", &seconds];
                example("integration-tests", "trigger_bench", &arguments)
            }
        }
    }
}

fn example(package: &str, name: &str, arguments: &[&str]) -> Result<()> {
    let mut all = vec!["run", "--release", "--quiet", "--package", package, "--example", name, "--"];
    all.extend(arguments);
    cargo::run(all, &[])
}
