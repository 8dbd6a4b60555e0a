use std::ffi::{OsStr, OsString};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cargo;
use crate::control_plane::{Binaries, ControlPlane, DEFAULT_CONTROLLERS};
use crate::stop::Stop;

/// Their program's name, in the only package that has one of that name.
const INTEGRATION_TESTS: [&str; 2] = ["--test", "it"];

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
pub(crate) enum Backend {
    /// The embedded server, inside the test's process
    Embedded,
    /// kube-apiserver with etcd, one for all tests, started and stopped here
    Reference,
}

impl Test {
    pub(crate) fn run(self) -> Result<()> {
        match self.backend {
            Backend::Embedded => {
                self.cargo_test(&[], &[])?;
                // The server has two doors; the tests across the layers go through the other one as well.
                eprintln!("test: the integration tests over HTTPS");
                self.cargo_test(&INTEGRATION_TESTS, &[("CONTROLLER_RUNTIME_DOOR", OsStr::new("https"))])
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
        let environment = [
            ("CONTROLLER_RUNTIME_BACKEND", OsStr::new("reference")),
            ("CONTROLLER_RUNTIME_KUBECONFIG", control_plane.kubeconfig().as_os_str()),
            ("CONTROLLER_RUNTIME_CONTROLLERS", OsStr::new(&controllers)),
        ];
        self.cargo_test(&INTEGRATION_TESTS, &environment)
    }

    /// Always the whole workspace with all features, so that every run uses what the first one compiled.
    fn cargo_test(&self, targets: &[&str], environment: &[(&str, &OsStr)]) -> Result<()> {
        let arguments = ["test", "--workspace", "--all-features"].iter().chain(targets).map(OsString::from);
        let runner = self.arguments.iter().cloned();
        let separator = (!self.arguments.is_empty()).then(|| OsString::from("--"));
        cargo::run(arguments.chain(separator).chain(runner), environment)
    }
}
