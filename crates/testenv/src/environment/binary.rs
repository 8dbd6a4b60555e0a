use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::{ClientAuthority, Identity};
use kube_client::Client;
use kube_client::config::Kubeconfig;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::existing::{EXPECTED, client_of};
use crate::error::Error;

/// The version that `cargo xtask control-plane` builds.
const VERSION: &str = "1.37.2";
/// kube-apiserver is ready in about three seconds; a loaded machine gets this long.
const READY_WITHIN: Duration = Duration::from_secs(90);
const POLL_EVERY: Duration = Duration::from_millis(50);

/// A control plane of this environment's own: etcd, kube-apiserver and, where it is there, kube-controller-manager, on
/// loopback ports that were free.
#[derive(Debug)]
pub(crate) struct Binary {
    // Dropped in this order: the programs end before their folder goes. The last one started is the first to end.
    controller_manager: Option<Process>,
    apiserver: Process,
    etcd: Process,
    kubeconfig: Kubeconfig,
    clients: ClientAuthority,
    _folder: TempDir,
}

#[derive(Debug)]
struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Binary {
    pub(crate) async fn start(ambient: &Ambient) -> Result<(Client, Self), Error> {
        let programs = programs_folder();
        let program =
            |name| find(&programs, name).ok_or(Error::MissingProgram { program: name, folder: programs.clone() });
        let (etcd, apiserver) = (program("etcd")?, program("kube-apiserver")?);

        let folder = tempfile::Builder::new().prefix("testenv-").tempdir();
        let folder = folder.map_err(|source| Error::Start { program: "a control plane", source })?;
        let (etcd, url) = start_etcd(&etcd, folder.path())?;
        let port = free_port("kube-apiserver")?;
        let token = format!("{:016x}", ambient.random());
        let clients = ClientAuthority::generate().map_err(|source| Error::Certificate { source: Box::new(source) })?;
        let written = std::fs::write(client_ca(folder.path()), clients.pem());
        written.map_err(|source| Error::Start { program: "kube-apiserver", source })?;
        let mut apiserver = start_apiserver(&apiserver, folder.path(), &url, port, &token)?;
        let (client, kubeconfig) = wait_ready(&mut apiserver, folder.path(), port, &token).await?;
        let controller_manager = match find(&programs, "kube-controller-manager") {
            Some(program) => Some(start_controller_manager(&program, folder.path(), &kubeconfig)?),
            None => None,
        };
        Ok((client, Self { controller_manager, apiserver, etcd, kubeconfig, clients, _folder: folder }))
    }

    pub(crate) fn kubeconfig(&self) -> &Kubeconfig {
        &self.kubeconfig
    }

    /// The kubeconfig of a user who shows a certificate.
    pub(crate) fn kubeconfig_as(&self, user: &Identity) -> Result<Kubeconfig, Error> {
        use base64::Engine as _;
        use base64::engine::general_purpose::STANDARD;
        let issued = self.clients.issue(user).map_err(|source| Error::Certificate { source: Box::new(source) })?;
        let mut kubeconfig = self.kubeconfig.clone();
        for own in kubeconfig.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
            own.token = None;
            own.client_certificate_data = Some(STANDARD.encode(&issued.certificate));
            own.client_key_data = Some(STANDARD.encode(&issued.key).into());
        }
        Ok(kubeconfig)
    }

    pub(crate) fn has_controllers(&self) -> bool {
        self.controller_manager.is_some()
    }

    /// Ends the programs, the last one started first.
    pub(crate) async fn stop(mut self) -> Result<(), Error> {
        for process in self.controller_manager.iter_mut().chain([&mut self.apiserver, &mut self.etcd]) {
            // Its data goes with it, so there is nothing it would have to finish.
            process.child.kill().await.map_err(|source| Error::Start { program: process.name, source })?;
        }
        Ok(())
    }
}

impl Process {
    fn start(name: &'static str, mut command: Command, folder: &Path) -> Result<Self, Error> {
        let error = |source| Error::Start { program: name, source };
        let log = folder.join(format!("{name}.log"));
        let out = File::create(&log).map_err(error)?;
        let errors = out.try_clone().map_err(error)?;
        command.stdin(Stdio::null()).stdout(out).stderr(errors).kill_on_drop(true);
        Ok(Self { name, child: command.spawn().map_err(error)?, log })
    }

    fn check_alive(&mut self) -> Result<(), Error> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(Error::Ended { program: self.name, status, log: last_lines(&self.log) }),
            Err(source) => Err(Error::Start { program: self.name, source }),
        }
    }
}

/// `KUBEBUILDER_ASSETS`, as users of envtest expect; without it where `cargo xtask control-plane` puts what it builds.
fn programs_folder() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("KUBEBUILDER_ASSETS").unwrap_or_else(|| {
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        cache.unwrap_or_default().join("controller-runtime/control-plane").join(VERSION)
    })
}

fn find(folder: &Path, program: &str) -> Option<PathBuf> {
    Some(folder.join(program)).filter(|path| path.is_file())
}

/// A port that was free a moment ago.
fn free_port(program: &'static str) -> Result<u16, Error> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|source| Error::Start { program, source })
}

fn start_etcd(program: &Path, folder: &Path) -> Result<(Process, String), Error> {
    let client = format!("http://127.0.0.1:{}", free_port("etcd")?);
    let peer = format!("http://127.0.0.1:{}", free_port("etcd")?);
    let mut command = Command::new(program);
    command.arg("--data-dir").arg(folder.join("etcd")).arg("--unsafe-no-fsync");
    command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client, "--listen-peer-urls", &peer]);
    Ok((Process::start("etcd", command, folder)?, client))
}

fn start_apiserver(program: &Path, folder: &Path, etcd: &str, port: u16, token: &str) -> Result<Process, Error> {
    let tokens = folder.join("tokens.csv");
    let written = std::fs::write(&tokens, format!("{token},admin,uid-admin,\"system:masters\"\n"));
    written.map_err(|source| Error::Start { program: "kube-apiserver", source })?;
    let key = certificates(folder).join("apiserver.key");
    let mut command = Command::new(program);
    command.args(["--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--secure-port", &port.to_string()]);
    command.arg("--token-auth-file").arg(&tokens).arg("--client-ca-file").arg(client_ca(folder));
    command.args(["--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24"]);
    command.args(["--service-account-issuer", "https://localhost", "--allow-privileged=true"]);
    // The server writes a self-signed certificate and its key there at start; the same key signs the tokens of service
    // accounts.
    command.arg("--cert-dir").arg(certificates(folder));
    command.arg("--service-account-key-file").arg(&key).arg("--service-account-signing-key-file").arg(&key);
    // Nobody creates service accounts here, so Pods could not be created with that plugin on.
    command.args(["--disable-admission-plugins", "ServiceAccount"]);
    Process::start("kube-apiserver", command, folder)
}

fn start_controller_manager(program: &Path, folder: &Path, kubeconfig: &Kubeconfig) -> Result<Process, Error> {
    let error = |source| Error::Start { program: "kube-controller-manager", source };
    let file = folder.join("kubeconfig");
    // JSON is YAML too.
    let text = serde_json::to_vec(kubeconfig).map_err(|source| error(source.into()))?;
    std::fs::write(&file, text).map_err(error)?;
    let mut command = Command::new(program);
    command.arg("--kubeconfig").arg(&file).args(["--leader-elect=false", "--controllers", &EXPECTED.join(",")]);
    command.args(["--bind-address", "127.0.0.1", "--secure-port", &free_port("kube-controller-manager")?.to_string()]);
    command.arg("--cert-dir").arg(folder.join("controller-certificates"));
    Process::start("kube-controller-manager", command, folder)
}

fn certificates(folder: &Path) -> PathBuf {
    folder.join("certificates")
}

/// Whose certificates of clients the server believes.
fn client_ca(folder: &Path) -> PathBuf {
    folder.join("client-ca.crt")
}

async fn wait_ready(
    apiserver: &mut Process,
    folder: &Path,
    port: u16,
    token: &str,
) -> Result<(Client, Kubeconfig), Error> {
    let mut last = "it doesn't listen".to_owned();
    let ready = async {
        loop {
            apiserver.check_alive()?;
            match ask_ready(folder, port, token).await {
                Ok(ready) => return Ok(ready),
                Err(said) => last = said,
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    };
    match tokio::time::timeout(READY_WITHIN, ready).await {
        Ok(result) => result,
        Err(_) => Err(Error::NotReady { after: READY_WITHIN, last }),
    }
}

/// The client and its kubeconfig once the server says that it is ready; until then what it says.
async fn ask_ready(folder: &Path, port: u16, token: &str) -> Result<(Client, Kubeconfig), String> {
    let certificate = std::fs::read_to_string(certificates(folder).join("apiserver.crt")).map_err(|e| e.to_string())?;
    let kubeconfig = kubeconfig(port, &certificate, token).map_err(|error| error.to_string())?;
    let client = client_of("of a control plane", kubeconfig.clone()).await.map_err(|error| error.to_string())?;
    let request = http::Request::get("/readyz").body(Vec::new()).map_err(|error| error.to_string())?;
    match client.request_text(request).await {
        Ok(answer) if answer == "ok" => Ok((client, kubeconfig)),
        Ok(answer) => Err(answer),
        Err(error) => Err(error.to_string()),
    }
}

fn kubeconfig(port: u16, certificate: &str, token: &str) -> Result<Kubeconfig, serde_json::Error> {
    use base64::Engine;
    let authority = base64::engine::general_purpose::STANDARD.encode(certificate);
    serde_json::from_value(serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "reference", "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "certificate-authority-data": authority,
        }}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "reference", "context": {"cluster": "reference", "user": "admin"}}],
        "current-context": "reference",
    }))
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines = text.lines().collect::<Vec<_>>();
    lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n")
}
