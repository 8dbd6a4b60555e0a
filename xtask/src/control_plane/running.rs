use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::binaries::Binaries;
use super::processes::Processes;
use crate::stop::Stop;

/// What kube-controller-manager runs unless told otherwise: the two that the embedded server has inside.
pub(crate) const DEFAULT_CONTROLLERS: [&str; 2] = ["garbage-collector-controller", "namespace-controller"];

/// kube-apiserver is ready in about three seconds; a loaded machine gets this long.
const READY_WITHIN: Duration = Duration::from_secs(90);
const POLL_EVERY: Duration = Duration::from_millis(100);

/// A running reference control plane on loopback ports. Dropping it ends its programs and removes its data.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    // Dropped in this order: the programs end before their folder goes.
    processes: Processes,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
    folder: TempDir,
}

impl ControlPlane {
    /// Starts etcd and kube-apiserver, and kube-controller-manager unless `controllers` is empty. Returns once
    /// `/readyz` says ok; fails when a program ends, when `stop` is asked for, or after 90 seconds.
    pub(crate) fn start(binaries: &Binaries, controllers: &str, stop: &Stop) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("control-plane-").tempdir().context("cannot create a folder")?;
        let kubectl = require(binaries, "kubectl")?;
        let mut control_plane =
            Self { processes: Processes::default(), kubeconfig: folder.path().join("kubeconfig"), kubectl, folder };
        let etcd = control_plane.start_etcd(&require(binaries, "etcd")?)?;
        control_plane.start_apiserver(&require(binaries, "kube-apiserver")?, &etcd)?;
        control_plane.wait_ready(stop)?;
        if !controllers.is_empty() {
            control_plane.start_controllers(&require(binaries, "kube-controller-manager")?, controllers)?;
        }
        Ok(control_plane)
    }

    /// The kubeconfig of a cluster administrator; it refers to files that go when this is dropped.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Fails when one of its programs has ended.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.processes.check_alive()
    }

    fn start_etcd(&mut self, program: &Path) -> Result<String> {
        let client = format!("http://127.0.0.1:{}", free_port()?);
        let peer = format!("http://127.0.0.1:{}", free_port()?);
        let mut command = Command::new(program);
        command.arg("--data-dir").arg(self.folder.path().join("etcd"));
        command.args(["--unsafe-no-fsync", "--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer]);
        self.processes.start("etcd", command, self.folder.path())?;
        Ok(client)
    }

    fn start_apiserver(&mut self, program: &Path, etcd: &str) -> Result<()> {
        let (folder, port, token) = (self.folder.path(), free_port()?, random_token()?);
        let (tokens, certificates) = (folder.join("tokens.csv"), folder.join("certificates"));
        std::fs::write(&tokens, format!("{token},admin,uid-admin,\"system:masters\"\n"))
            .with_context(|| format!("cannot write {}", tokens.display()))?;
        // The server writes a self-signed certificate and its key there at start; the same key signs the tokens of
        // service accounts.
        let (certificate, key) = (certificates.join("apiserver.crt"), certificates.join("apiserver.key"));
        let mut command = Command::new(program);
        command.args(["--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--secure-port", &port.to_string()]);
        command.arg("--cert-dir").arg(&certificates).arg("--token-auth-file").arg(&tokens);
        command.args(["--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24"]);
        command.args(["--service-account-issuer", "https://localhost", "--allow-privileged=true"]);
        command.arg("--service-account-key-file").arg(&key).arg("--service-account-signing-key-file").arg(&key);
        // Nobody creates service accounts here, so Pods could not be created with that plugin on.
        command.args(["--disable-admission-plugins", "ServiceAccount"]);
        self.processes.start("kube-apiserver", command, folder)?;
        std::fs::write(&self.kubeconfig, kubeconfig(port, &certificate, &token))
            .with_context(|| format!("cannot write {}", self.kubeconfig.display()))
    }

    fn start_controllers(&mut self, program: &Path, controllers: &str) -> Result<()> {
        let mut command = Command::new(program);
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(["--leader-elect=false", "--controllers", controllers]);
        command.args(["--bind-address", "127.0.0.1", "--secure-port", &free_port()?.to_string()]);
        command.arg("--cert-dir").arg(self.folder.path().join("controller-certificates"));
        self.processes.start("kube-controller-manager", command, self.folder.path())
    }

    fn wait_ready(&mut self, stop: &Stop) -> Result<()> {
        #[allow(clippy::disallowed_methods, reason = "this program has no async runtime whose clock could be asked")]
        let now = std::time::Instant::now;
        let deadline = now() + READY_WITHIN;
        loop {
            self.check_alive()?;
            let answer = self.kubectl_raw("/readyz")?;
            if answer.status.success() && answer.stdout == b"ok" {
                return Ok(());
            }
            if stop.is_asked() {
                bail!("stopped while the control plane was starting");
            }
            if now() >= deadline {
                let said = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
                bail!("kube-apiserver isn't ready after {READY_WITHIN:?}: {said}");
            }
            std::thread::sleep(POLL_EVERY);
        }
    }

    fn kubectl_raw(&self, path: &str) -> Result<std::process::Output> {
        Command::new(&self.kubectl)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["get", "--raw", path])
            .output()
            .with_context(|| format!("cannot run {}", self.kubectl.display()))
    }
}

fn require(binaries: &Binaries, program: &str) -> Result<PathBuf> {
    binaries.program(program).with_context(|| format!("there is no {program} in {}", binaries.folder().display()))
}

/// A port that was free a moment ago.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
    Ok(listener.local_addr().context("cannot find a free port")?.port())
}

fn random_token() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).context("cannot get random bytes")?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

fn kubeconfig(port: u16, certificate: &Path, token: &str) -> String {
    let certificate = certificate.display();
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: reference
  cluster:
    server: https://127.0.0.1:{port}
    certificate-authority: {certificate}
users:
- name: admin
  user:
    token: {token}
contexts:
- name: reference
  context:
    cluster: reference
    user: admin
current-context: reference
"
    )
}
