use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::cargo;
use crate::control_plane::{Binaries, ControlPlane, DEFAULT_CONTROLLERS};
use crate::stop::Stop;
use crate::test::Backend;

/// Plays the conformance corpus and compares the answers with those of the reference control plane.
#[derive(Args, Debug)]
pub(crate) struct Conformance {
    /// Files of transcripts; all of the folder `conformance` when none is named
    files: Vec<PathBuf>,
    /// Which API server is asked
    #[arg(long, value_enum, default_value_t = Backend::Embedded)]
    backend: Backend,
    /// Ask the reference, and keep its answers as the recorded ones
    #[arg(long)]
    record: bool,
    /// Write docs/fidelity.md from the corpus, and play nothing
    #[arg(long, conflicts_with_all = ["record", "files"])]
    report: bool,
}

impl Conformance {
    pub(crate) fn run(self) -> Result<()> {
        if self.report {
            return play(&["--report".into()], &[]);
        }
        let mut arguments: Vec<OsString> = self.files.iter().map(OsString::from).collect();
        if matches!(self.backend, Backend::Embedded) && !self.record {
            return play(&arguments, &[]);
        }
        if self.record {
            arguments.push("--record".into());
        }
        let stop = Stop::on_signals()?;
        let control_plane = ControlPlane::start(&Binaries::find_or_build()?, &DEFAULT_CONTROLLERS.join(","), &stop)?;
        let environment = [
            ("CONTROLLER_RUNTIME_BACKEND", OsStr::new("reference")),
            ("CONTROLLER_RUNTIME_KUBECONFIG", control_plane.kubeconfig().as_os_str()),
        ];
        play(&arguments, &environment)
    }
}

/// Runs the program that plays transcripts.
fn play(arguments: &[OsString], environment: &[(&str, &OsStr)]) -> Result<()> {
    let program = ["run", "--quiet", "--package", "integration-tests", "--example", "conformance", "--"];
    cargo::run(program.iter().map(OsString::from).chain(arguments.iter().cloned()), environment)
}
