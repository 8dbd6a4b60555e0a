//! `cargo xtask codegen`: writes what the embedded server knows of the built-in kinds.
//!
//! The reference control plane is asked for its discovery and OpenAPI documents. What a resource is goes to
//! `resources.json`, what its schema says goes to `definitions.txt`, and what only the Go types say of their fields goes
//! to `go_fields.txt`, how they are written as protocol buffers to `protobuf.txt`, and the roles that exist from the
//! start to `policy.json`; all without prose and in a fixed order, so that the same Kubernetes version always gives the same
//! bytes. The recordings, which tests of the embedded server compare with, get their answers here too.

mod definitions;
mod documents;
mod go_fields;
mod go_modules;
mod policy;
mod protobuf;
mod recordings;
mod resources;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use self::documents::Documents;
use crate::cargo;
use crate::control_plane::{Binaries, ControlPlane};
use crate::stop::Stop;

/// Where the generated files stand, from the workspace's root.
const FOLDER: &str = "crates/apiserver/src/catalogue/generated";
const POLICY: &str = "crates/apiserver/src/access/rbac/generated/policy.json";

/// Regenerates what is generated, from the reference control plane.
#[derive(Args, Debug)]
pub(crate) struct Codegen {
    /// Change nothing; fail when something generated differs
    #[arg(long)]
    check: bool,
    /// Ask this running control plane instead of starting the reference one
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

/// One generated file: its path from the workspace's root and its text.
struct Generated {
    path: PathBuf,
    text: String,
}

impl Codegen {
    pub(crate) fn run(self) -> Result<()> {
        let binaries = Binaries::find_or_build()?;
        let kubectl = binaries.program("kubectl").context("the control plane has no kubectl")?;
        let generated = if let Some(kubeconfig) = &self.kubeconfig {
            generate(&kubectl, kubeconfig)?
        } else {
            let control_plane = ControlPlane::start(&binaries, "", &Stop::on_signals()?)?;
            generate(&kubectl, control_plane.kubeconfig())?
        };
        if self.check { compare(&generated) } else { write(&generated) }
    }
}

fn generate(kubectl: &Path, kubeconfig: &Path) -> Result<Vec<Generated>> {
    let documents = Documents::fetch(kubectl, kubeconfig)?;
    let catalogue = |name: &str, text: String| Generated { path: Path::new(FOLDER).join(name), text };
    let sources = go_modules::sources(&documents)?;
    let mut generated = vec![
        catalogue("resources.json", resources::generate(&documents)?),
        catalogue("definitions.txt", definitions::generate(&documents)?),
        catalogue("go_fields.txt", go_fields::generate(&documents, &sources)?),
        catalogue("protobuf.txt", protobuf::generate(&documents, &sources)?),
    ];
    generated.push(Generated { path: PathBuf::from(POLICY), text: policy::generate(&documents)? });
    for recording in recordings::record(&cargo::root().join(recordings::FOLDER), kubectl, kubeconfig)? {
        let path = Path::new(recordings::FOLDER).join(recording.name);
        generated.push(Generated { path, text: recording.text });
    }
    Ok(generated)
}

fn write(generated: &[Generated]) -> Result<()> {
    for file in generated {
        let path = cargo::root().join(&file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        fs::write(&path, &file.text).with_context(|| format!("writing {}", path.display()))?;
        println!("wrote {} ({} bytes)", file.path.display(), file.text.len());
    }
    Ok(())
}

fn compare(generated: &[Generated]) -> Result<()> {
    let mut stale = Vec::new();
    for file in generated {
        let committed = fs::read_to_string(cargo::root().join(&file.path)).unwrap_or_default();
        if committed != file.text {
            let line = committed.lines().zip(file.text.lines()).take_while(|(old, new)| old == new).count() + 1;
            stale.push(format!("{} differs from line {line}", file.path.display()));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("{}; run `cargo xtask codegen`", stale.join(", "))
}
