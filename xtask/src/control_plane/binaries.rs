use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The Kubernetes version of the reference; `control-plane/go.mod` pins the same one.
const VERSION: &str = "1.37.2";

/// Each program and the Go package it is built from.
const PROGRAMS: [(&str, &str); 4] = [
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    ("etcd", "go.etcd.io/etcd/server/v3"),
];

/// A folder with the control plane's programs.
#[derive(Debug)]
pub(crate) struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// The folder that `KUBEBUILDER_ASSETS` names, as users of envtest expect; without it the cache folder, built
    /// first where it isn't complete.
    pub(crate) fn find_or_build() -> Result<Self> {
        let Some(assets) = std::env::var_os("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty()) else {
            return Self::build();
        };
        let found = Self { folder: assets.into() };
        for program in ["kube-apiserver", "etcd", "kubectl"] {
            if found.program(program).is_none() {
                bail!("KUBEBUILDER_ASSETS is {}, where there is no {program}", found.folder.display());
            }
        }
        Ok(found)
    }

    /// Builds what isn't in the cache folder yet. Needs Go only for that.
    pub(crate) fn build() -> Result<Self> {
        let built = Self { folder: cache_folder()? };
        let missing = PROGRAMS.iter().filter(|(program, _)| built.program(program).is_none()).collect::<Vec<_>>();
        if missing.is_empty() {
            return Ok(built);
        }
        check_go()?;
        std::fs::create_dir_all(&built.folder)
            .with_context(|| format!("cannot create the cache folder {}", built.folder.display()))?;
        eprintln!("building the reference control plane {VERSION}, once; about 8 minutes on 2 cores");
        for (program, package) in missing {
            eprintln!("building {program}");
            built.build_program(program, package)?;
        }
        Ok(built)
    }

    fn build_program(&self, program: &str, package: &str) -> Result<()> {
        // Renamed when complete: a build that is interrupted leaves nothing that looks finished.
        let partial = self.folder.join(format!(".{program}.{}", std::process::id()));
        let status = Command::new("go")
            .args(["build", "-mod=readonly", "-ldflags", &linker_flags(), "-o"])
            .arg(&partial)
            .arg(package)
            .current_dir(cargo::root().join("xtask/control-plane"))
            .status()
            .context("cannot run go")?;
        if !status.success() {
            bail!("go build {package} failed ({status})");
        }
        std::fs::rename(&partial, self.folder.join(program))
            .with_context(|| format!("cannot put {program} into {}", self.folder.display()))
    }

    /// Where the programs are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A program's path, when it is there.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name);
        path.is_file().then_some(path)
    }

    /// kube-controller-manager, which `KUBEBUILDER_ASSETS` usually lacks.
    pub(crate) fn controller_manager(&self) -> Option<PathBuf> {
        self.program("kube-controller-manager")
    }
}

/// `controller-runtime/control-plane/VERSION` in the user's cache folder.
fn cache_folder() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(cache) = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache"))) else {
        bail!("neither XDG_CACHE_HOME nor HOME is set: there is no cache folder for the control plane");
    };
    Ok(cache.join("controller-runtime/control-plane").join(VERSION))
}

fn check_go() -> Result<()> {
    match Command::new("go").arg("version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => bail!("`go version` failed: {}", String::from_utf8_lossy(&output.stderr).trim()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "the reference control plane is built from Go modules, and there is no `go` in PATH: install Go 1.26 or \
             newer, or set KUBEBUILDER_ASSETS to a folder with kube-apiserver, etcd and kubectl"
        ),
        Err(error) => Err(error).context("cannot run go"),
    }
}

fn linker_flags() -> String {
    let mut numbers = VERSION.split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let version = "k8s.io/component-base/version";
    format!("-s -w -X {version}.gitVersion=v{VERSION} -X {version}.gitMajor={major} -X {version}.gitMinor={minor}")
}
