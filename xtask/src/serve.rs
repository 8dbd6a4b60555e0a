use std::ffi::OsString;

use anyhow::Result;
use clap::Args;

use crate::cargo;

/// Builds and runs the program `embedded-apiserver`, whose arguments these are.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Serve {
    /// Arguments of the program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Serve {
    pub(crate) fn run(self) -> Result<()> {
        let mut command = cargo::cargo();
        command.args(["run", "--quiet", "--package", "embedded-apiserver", "--"]).args(self.arguments);
        cargo::become_cargo(command)
    }
}
