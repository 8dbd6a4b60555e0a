use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::fixture::{Fixture, POLL_EVERY, WITHIN};
use crate::skip::skip;

/// kubectl against a fixture's server, in the fixture's namespace.
#[derive(Debug)]
pub struct Kubectl {
    program: PathBuf,
    folder: TempDir,
    namespace: String,
}

impl Kubectl {
    /// The kubectl of the control plane; none, with a visible line, where that isn't built.
    pub async fn of(fixture: &Fixture, test: &str) -> Option<Self> {
        let Some(program) = program() else {
            skip(test, "there is no kubectl: `cargo xtask control-plane` builds it");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = fixture.env().kubeconfig().await.unwrap();
        std::fs::write(folder.path().join("kubeconfig"), serde_json::to_vec(&kubeconfig).unwrap()).unwrap();
        Some(Self { program, folder, namespace: fixture.namespace().to_owned() })
    }

    /// Runs it with these words; returns what it prints. Fails the test when kubectl fails.
    pub async fn run(&self, words: &str) -> String {
        self.run_with(words, "").await
    }

    /// The same with text on its standard input.
    pub async fn run_with(&self, words: &str, input: &str) -> String {
        let (success, out, errors) = self.output(words, input).await;
        assert!(success, "kubectl {words}: {errors}{out}");
        out
    }

    /// Runs it where it must fail; returns what it prints to standard error.
    pub async fn fails(&self, words: &str, input: &str) -> String {
        let (success, out, errors) = self.output(words, input).await;
        assert!(!success, "kubectl {words}: {out}");
        errors
    }

    /// Runs it again and again until it succeeds and `condition` holds of what it prints; returns that. Fails the test
    /// after a minute. For what a real server publishes a while after it answered, such as discovery and OpenAPI
    /// documents of a new definition: its parts learn of it one after the other.
    pub async fn until(&self, words: &str, condition: impl Fn(&str) -> bool) -> String {
        let mut last = None;
        let poll = async {
            loop {
                let (success, out, errors) = self.output(words, "").await;
                if success && condition(&out) {
                    return out;
                }
                last = Some(format!("{errors}{out}"));
                tokio::time::sleep(POLL_EVERY).await;
            }
        };
        let polled = tokio::time::timeout(WITHIN, poll).await;
        polled.unwrap_or_else(|_| panic!("kubectl {words}: not after {WITHIN:?}; last seen: {last:?}"))
    }

    /// Runs it: whether it succeeded, its output and its errors.
    pub async fn output(&self, words: &str, input: &str) -> (bool, String, String) {
        let mut child = Command::new(&self.program)
            .arg("--kubeconfig")
            .arg(self.folder.path().join("kubeconfig"))
            .arg("--cache-dir")
            .arg(self.folder.path().join("cache"))
            .args(["--namespace", &self.namespace])
            .args(words.split_whitespace())
            // Its own settings must not come from whoever runs the test.
            .env("KUBERC", "off")
            .env("HOME", self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // kubectl may end without reading it.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let output = child.wait_with_output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    }
}

fn program() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let built = cache.map(|cache| cache.join("controller-runtime/control-plane/1.37.2"));
    let folders = [set("KUBEBUILDER_ASSETS"), built];
    folders.into_iter().flatten().map(|folder| folder.join("kubectl")).find(|path| path.is_file())
}
