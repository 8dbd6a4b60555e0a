use std::ffi::OsString;

use anyhow::Result;
use clap::Args;

use crate::cargo;

/// Gives hostile input to the parts that read what others write, until a target fails or all inputs are used up.
#[derive(Args, Debug)]
pub(crate) struct Fuzz {
    /// The targets; all when none is named
    targets: Vec<String>,
    /// How many inputs each target gets
    #[arg(long, default_value_t = 100_000)]
    count: u64,
    /// The seed of chance: the same seed gives the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Let coverage guide the inputs of this target: needs cargo-fuzz and nightly Rust
    #[arg(long, value_name = "TARGET", conflicts_with = "targets")]
    nightly: Option<String>,
}

impl Fuzz {
    pub(crate) fn run(self) -> Result<()> {
        if let Some(target) = self.nightly {
            let mut command = std::process::Command::new("cargo");
            command.args(["+nightly", "fuzz", "run", &target, "--", &format!("-runs={}", self.count)]);
            command.current_dir(cargo::root());
            return cargo::become_cargo(command);
        }
        let mut arguments: Vec<OsString> =
            ["run", "--quiet", "--package", "controller-runtime-fuzz", "--example", "drive", "--"]
                .map(OsString::from)
                .to_vec();
        arguments.extend([self.seed.to_string().into(), self.count.to_string().into()]);
        arguments.extend(self.targets.into_iter().map(OsString::from));
        cargo::run(arguments, &[])
    }
}
