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
}

impl Bench {
    pub(crate) fn run(self) -> Result<()> {
        let example = match self.what {
            What::Start => "start",
        };
        let arguments =
            ["run", "--release", "--quiet", "--package", "controller-runtime-testenv", "--example", example];
        cargo::run(arguments, &[])
    }
}
