use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::SystemTime;

use tempfile::TempDir;
use tokio::process::Command;

use crate::fixture::{Fixture, WITHIN};

/// An example of one of the crates, as a program that talks to a fixture's server.
///
/// `cargo test` builds the examples of all packages that it tests. When only this package is tested, or a source has
/// changed since, it is built here.
#[derive(Debug)]
pub struct Example {
    program: PathBuf,
    folder: TempDir,
    name: String,
}

impl Example {
    /// The example `name` of the package, built, with a kubeconfig of the fixture's server whose default namespace is
    /// the fixture's.
    pub async fn of(fixture: &Fixture, package: &str, name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut kubeconfig = fixture.env().kubeconfig().await.unwrap();
        for context in kubeconfig.contexts.iter_mut().filter_map(|named| named.context.as_mut()) {
            context.namespace = Some(fixture.namespace().to_owned());
        }
        std::fs::write(folder.path().join("kubeconfig"), serde_json::to_vec(&kubeconfig).unwrap()).unwrap();
        let program = examples_folder().join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if !is_fresh(&program) {
            build(package, name).await;
        }
        Self { program, folder, name: name.to_owned() }
    }

    /// Runs it with `--kubeconfig` and these words; returns what it prints. Fails the test when the example fails or
    /// is not done within a minute.
    pub async fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        command.arg("--kubeconfig").arg(self.folder.path().join("kubeconfig")).args(words);
        let running = command.stdin(Stdio::null()).kill_on_drop(true).output();
        let Ok(output) = tokio::time::timeout(WITHIN, running).await else {
            panic!("example {}: not done within {WITHIN:?}", self.name);
        };
        text_of(&self.name, &output.unwrap())
    }
}

/// The folder of examples beside the one of this test's own program.
fn examples_folder() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("examples")
}

/// Whether the program is there and none of the sources, which cargo lists beside it, is newer.
fn is_fresh(program: &Path) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    let Some(built) = changed(program) else { return false };
    let Ok(sources) = std::fs::read_to_string(program.with_extension("d")) else { return false };
    let Some((_, sources)) = sources.split_once(": ") else { return false };
    sources.split_whitespace().all(|source| changed(Path::new(source)).is_some_and(|source| source <= built))
}

async fn build(package: &str, name: &str) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package", package, "--example", name]).kill_on_drop(true);
    text_of(&format!("{name} (cargo build)"), &command.output().await.unwrap());
}

fn text_of(what: &str, output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "example {what}: {}\n{out}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    out
}
