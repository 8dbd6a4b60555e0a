use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs cargo at the workspace's root; its output goes to this program's. Fails when cargo does.
pub(crate) fn run<I, S>(arguments: I, environment: &[(&str, &OsStr)]) -> Result<()>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = cargo();
    command.args(arguments).envs(environment.iter().copied()).current_dir(root());
    let shown = show(&command);
    let status = command.status().with_context(|| format!("cannot run {shown}"))?;
    if !status.success() {
        bail!("{shown} failed ({status})");
    }
    Ok(())
}

/// Replaces this program by cargo, so that signals and the exit code are those of what cargo runs. The working
/// directory stays the caller's: paths among the arguments mean what they say.
pub(crate) fn become_cargo(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt;

    let shown = show(&command);
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {shown}"))
}

/// What `cargo metadata` says of the workspace and all its dependencies.
pub(crate) fn metadata() -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--all-features"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed ({})", output.status);
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata printed something that isn't JSON")
}

fn show(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>();
    format!("cargo {}", arguments.join(" "))
}
