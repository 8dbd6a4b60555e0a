use std::ffi::{OsStr, OsString};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cargo;
use crate::control_plane::{Binaries, ControlPlane, DEFAULT_CONTROLLERS};
use crate::stop::Stop;

/// All tests on the embedded server, or the integration tests on the reference control plane.
#[derive(Args, Debug)]
pub(crate) struct Test {
    /// Which API server the tests talk to
    #[arg(long, value_enum, default_value_t = Backend::Embedded)]
    backend: Backend,
    /// Passed on to the test runner, for example part of a test's name
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Backend {
    /// The embedded server, inside the test's process
    Embedded,
    /// kube-apiserver with etcd, one for all tests, started and stopped here
    Reference,
}

impl Test {
    pub(crate) fn run(self) -> Result<()> {
        match self.backend {
            Backend::Embedded => {
                // The same packages and features as clippy and docs use: nothing is compiled for two sets of features.
                let arguments = ["test", "--workspace", "--all-features"].map(OsString::from);
                cargo::run(arguments.into_iter().chain(self.runner_arguments()), &[])
            }
            Backend::Reference => self.on_reference(),
        }
    }

    fn on_reference(&self) -> Result<()> {
        let stop = Stop::on_signals()?;
        let binaries = Binaries::find_or_build()?;
        let mut controllers = DEFAULT_CONTROLLERS.join(",");
        if binaries.controller_manager().is_none() {
            eprintln!("no kube-controller-manager in {}: tests that need it skip", binaries.folder().display());
            controllers.clear();
        }
        let control_plane = ControlPlane::start(&binaries, &controllers, &stop)?;
        // `--test it` of the whole workspace, not `--package integration-tests`: the features stay those of the
        // embedded run, so nothing is compiled again.
        let arguments = ["test", "--workspace", "--all-features", "--test", "it"].map(OsString::from);
        let environment = [
            ("CONTROLLER_RUNTIME_BACKEND", OsStr::new("reference")),
            ("CONTROLLER_RUNTIME_KUBECONFIG", control_plane.kubeconfig().as_os_str()),
            ("CONTROLLER_RUNTIME_CONTROLLERS", OsStr::new(&controllers)),
        ];
        cargo::run(arguments.into_iter().chain(self.runner_arguments()), &environment)
    }

    fn runner_arguments(&self) -> Vec<OsString> {
        let mut arguments = self.arguments.clone();
        if !arguments.is_empty() {
            arguments.insert(0, "--".into());
        }
        arguments
    }
}
