mod behaviours;
mod dependencies;
mod layers;
mod licence;
mod long_files;
mod tidiness;
mod workspace;

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use self::workspace::Workspace;
use crate::cargo;

/// Format, lints, docs, dependency rules, the layer table and tidiness; all of them, or the named ones.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Run only these
    #[arg(value_enum)]
    only: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Step {
    /// cargo fmt --check
    Format,
    /// Which crate may use which
    Layers,
    /// Licences, bans and sources of deny.toml; with cargo-deny also advisories
    Dependencies,
    /// File names, file lengths, descriptions, generated files
    Tidiness,
    /// Every numbered behaviour of docs/behaviours.md has a test
    Behaviours,
    /// cargo clippy with warnings as errors
    Clippy,
    /// cargo doc with warnings as errors
    Docs,
}

impl Check {
    /// Runs every step, so that one run reports all there is; fails when one failed.
    pub(crate) fn run(self) -> Result<()> {
        let steps = if self.only.is_empty() { Step::value_variants() } else { &self.only };
        let mut failed = Vec::new();
        for step in steps {
            let name = step.name();
            eprintln!("check: {name}");
            if let Err(error) = step.run() {
                eprintln!("check: {name} failed: {error:#}");
                failed.push(name);
            }
        }
        if !failed.is_empty() {
            bail!("{} of {} checks failed: {}", failed.len(), steps.len(), failed.join(", "));
        }
        println!("check result: ok. {} passed", steps.len());
        Ok(())
    }
}

impl Step {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn run(self) -> Result<()> {
        match self {
            Self::Format => cargo::run(["fmt", "--all", "--check"], &[]),
            Self::Layers => report(&layers::violations(&Workspace::load()?)),
            Self::Dependencies => check_dependencies(),
            Self::Tidiness => report(&tidiness::violations(&Workspace::load()?)?),
            Self::Behaviours => report(&behaviours::violations()?),
            Self::Clippy => {
                let arguments = "clippy --quiet --workspace --all-targets --all-features -- -D warnings";
                cargo::run(arguments.split(' '), &[])
            }
            Self::Docs => {
                let arguments = "doc --quiet --workspace --no-deps --all-features";
                cargo::run(arguments.split(' '), &[("RUSTDOCFLAGS", OsStr::new("-D warnings"))])
            }
        }
    }
}

fn check_dependencies() -> Result<()> {
    report(&dependencies::violations(&Workspace::load()?)?)?;
    let version = cargo::cargo().args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return cargo::run(["deny", "--workspace", "--all-features", "check", "--hide-inclusion-graph"], &[]);
    }
    eprintln!("cargo-deny is not installed: advisories are not checked (licences, bans and sources are)");
    Ok(())
}

fn report(violations: &[String]) -> Result<()> {
    for violation in violations {
        eprintln!("  {violation}");
    }
    if !violations.is_empty() {
        bail!("{} violations", violations.len());
    }
    Ok(())
}

/// Files that git knows or would add, relative to the workspace's root.
fn files() -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(cargo::root())
        .output()?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut files = String::from_utf8_lossy(&output.stdout)
        .split_terminator('\0')
        // A file that is deleted but not yet committed is still listed.
        .filter(|file| cargo::root().join(file).is_file())
        .map(str::to_owned)
        .collect::<Vec<_>>();
    files.sort_unstable();
    files.dedup();
    Ok(files)
}
