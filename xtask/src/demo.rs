use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::cargo;

/// Runs the umbrella crate's example `demo`, which has the server, the operator and the samples.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Exit with 0 as soon as all samples are reconciled
    #[arg(long)]
    until_ready: bool,
    /// Use the cluster of this kubeconfig instead of an embedded API server
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Apply the YAML files of this folder instead of the repository's samples
    #[arg(long, value_name = "DIR")]
    samples: Option<PathBuf>,
}

impl Demo {
    pub(crate) fn run(self) -> Result<()> {
        let mut command = cargo::cargo();
        command.args(["run", "--quiet", "--package", "controller-runtime", "--features", "testenv"]);
        command.args(["--example", "demo", "--"]);
        if self.until_ready {
            command.arg("--until-ready");
        }
        for (flag, path) in [("--kubeconfig", self.kubeconfig), ("--samples", self.samples)] {
            if let Some(path) = path {
                command.arg(flag).arg(path);
            }
        }
        cargo::become_cargo(command)
    }
}
