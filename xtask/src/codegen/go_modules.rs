//! The Go modules with API types, which the reference is built from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::documents::{Documents, string};

/// The modules with API types, and what OpenAPI calls each: the module's path with its domain turned around.
const MODULES: &[(&str, &str)] = &[
    ("k8s.io/api", "io.k8s.api"),
    ("k8s.io/apimachinery", "io.k8s.apimachinery"),
    ("k8s.io/apiextensions-apiserver", "io.k8s.apiextensions-apiserver"),
    ("k8s.io/kube-aggregator", "io.k8s.kube-aggregator"),
];

/// One source file of a package.
pub(super) struct Source {
    /// The package as OpenAPI names it.
    pub(super) package: String,
    pub(super) language: Language,
    pub(super) text: String,
}

/// What a source file is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Go,
    Proto,
}

impl Language {
    /// That of a file that is read; `None` for tests, for what Kubernetes generates as Go and for everything else.
    fn of(file: &str) -> Option<Self> {
        let (stem, extension) = file.rsplit_once('.')?;
        match extension {
            "proto" => Some(Self::Proto),
            "go" if stem.ends_with("_test") || stem.starts_with("zz_generated") || stem.starts_with("generated") => {
                None
            }
            "go" => Some(Self::Go),
            _ => None,
        }
    }
}

/// The `.go` and `.proto` files of all modules, without tests and without what Kubernetes generates as Go.
pub(super) fn sources(documents: &Documents) -> Result<Vec<Source>> {
    let version = string(&documents.server_version, "/gitVersion")?;
    let Some(minor) = version.strip_prefix("v1.") else { bail!("unknown Kubernetes version {version}") };
    let mut sources = Vec::new();
    for (module, prefix) in MODULES {
        let root = module_folder(module, &format!("v0.{minor}"))?;
        read_folder(&root, prefix, &mut sources)?;
    }
    Ok(sources)
}

/// Where a Go module stands on this machine, after downloading it if need be.
fn module_folder(module: &str, version: &str) -> Result<PathBuf> {
    let output = Command::new("go")
        .args(["mod", "download", "-json", &format!("{module}@{version}")])
        .output()
        .context("running go, which reads the API types")?;
    if !output.status.success() {
        bail!("downloading {module}@{version}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let answer: Value = serde_json::from_slice(&output.stdout).context("decoding what go mod download says")?;
    Ok(PathBuf::from(string(&answer, "/Dir")?))
}

fn read_folder(folder: &Path, package: &str, sources: &mut Vec<Source>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("reading {}", folder.display()))?.path();
        let Some(file) = path.file_name().and_then(|file| file.to_str()) else { continue };
        if path.is_dir() {
            read_folder(&path, &format!("{package}.{file}"), sources)?;
            continue;
        }
        if let Some(language) = Language::of(file) {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            sources.push(Source { package: package.to_owned(), language, text });
        }
    }
    Ok(())
}
