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
