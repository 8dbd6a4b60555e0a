mod binaries;
mod processes;
mod running;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

pub(crate) use self::binaries::Binaries;
pub(crate) use self::running::{ControlPlane, DEFAULT_CONTROLLERS};
use crate::stop::Stop;

/// Builds the reference control plane into the user's cache folder and prints where it is.
#[derive(Args, Debug)]
pub(crate) struct ControlPlaneCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start one on free ports of the loopback interface, print its kubeconfig's path, and run until stopped
    Run {
        /// Controllers of kube-controller-manager to run, separated by commas; empty: none
        #[arg(long, value_name = "NAMES", default_value_t = DEFAULT_CONTROLLERS.join(","))]
        controllers: String,
        /// Write a copy of the kubeconfig there
        #[arg(long, value_name = "FILE")]
        kubeconfig_out: Option<PathBuf>,
    },
}

impl ControlPlaneCommand {
    pub(crate) fn run(self) -> Result<()> {
        match self.action {
            None => {
                println!("{}", Binaries::build()?.folder().display());
                Ok(())
            }
            Some(Action::Run { controllers, kubeconfig_out }) => run(&controllers, kubeconfig_out),
        }
    }
}

fn run(controllers: &str, kubeconfig_out: Option<PathBuf>) -> Result<()> {
    let stop = Stop::on_signals()?;
    let binaries = Binaries::find_or_build()?;
    let mut control_plane = ControlPlane::start(&binaries, controllers, &stop)?;
    let kubeconfig = match kubeconfig_out {
        None => control_plane.kubeconfig().to_path_buf(),
        Some(file) => {
            std::fs::copy(control_plane.kubeconfig(), &file)
                .with_context(|| format!("cannot write the kubeconfig to {}", file.display()))?;
            file
        }
    };
    println!("{}", kubeconfig.display());
    eprintln!("ready; Ctrl-C stops it");
    while !stop.is_asked() {
        control_plane.check_alive()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
