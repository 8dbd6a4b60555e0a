//! `cargo xtask codegen`: writes what the embedded server knows of the built-in kinds.
//!
//! The reference control plane is asked for its discovery and OpenAPI documents. What a resource is goes to
//! `resources.json`, what its schema says goes to `definitions.txt`, and what only the Go types say of their fields goes
//! to `pointers.txt`; all without prose and in a fixed order, so that the same Kubernetes version always gives the same
//! bytes.

mod definitions;
mod documents;
mod pointers;
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

/// One generated file: its name within [`FOLDER`] and its text.
struct Generated {
    name: &'static str,
    text: String,
}

impl Codegen {
    pub(crate) fn run(self) -> Result<()> {
        let binaries = Binaries::find_or_build()?;
        let kubectl = binaries.program("kubectl").context("the control plane has no kubectl")?;
        let documents = if let Some(kubeconfig) = &self.kubeconfig {
            Documents::fetch(&kubectl, kubeconfig)?
        } else {
            let control_plane = ControlPlane::start(&binaries, "", &Stop::on_signals()?)?;
            Documents::fetch(&kubectl, control_plane.kubeconfig())?
        };
        let generated = [
            Generated { name: "resources.json", text: resources::generate(&documents)? },
            Generated { name: "definitions.txt", text: definitions::generate(&documents)? },
            Generated { name: "pointers.txt", text: pointers::generate(&documents)? },
        ];
        let folder = cargo::root().join(FOLDER);
        if self.check { compare(&folder, &generated) } else { write(&folder, &generated) }
    }
}

fn write(folder: &Path, generated: &[Generated]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    for file in generated {
        let path = folder.join(file.name);
        fs::write(&path, &file.text).with_context(|| format!("writing {}", path.display()))?;
        println!("wrote {} ({} bytes)", path.display(), file.text.len());
    }
    Ok(())
}

fn compare(folder: &Path, generated: &[Generated]) -> Result<()> {
    let mut stale = Vec::new();
    for file in generated {
        let path = folder.join(file.name);
        let committed = fs::read_to_string(&path).unwrap_or_default();
        if committed != file.text {
            let line = committed.lines().zip(file.text.lines()).take_while(|(old, new)| old == new).count() + 1;
            stale.push(format!("{} differs from line {line}", path.display()));
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("{}; run `cargo xtask codegen`", stale.join(", "))
}
