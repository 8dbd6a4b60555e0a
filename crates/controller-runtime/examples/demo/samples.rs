//! The objects that a user would create.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use controller_runtime::prelude::*;
use controller_runtime::testenv::{Manifest, read_manifests};

/// The objects of a folder's YAML files.
pub(crate) struct Samples {
    manifests: Vec<Manifest>,
}

impl Samples {
    /// Where the repository has its samples.
    pub(crate) fn of_the_repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/database/samples")
    }

    /// Reads them all before anything is done, so that a malformed file changes nothing.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let manifests = read_manifests(folder).context("cannot read the samples")?;
        anyhow::ensure!(!manifests.is_empty(), "there are no YAML files with objects in {}", folder.display());
        Ok(Self { manifests })
    }

    /// The Databases among them.
    pub(crate) fn databases(&self) -> Vec<ObjectKey> {
        let databases = self.manifests.iter().filter(|manifest| manifest.kind() == "Database");
        databases.map(key_of).collect()
    }

    /// Applies one after the other. What was applied before an error stays.
    pub(crate) async fn apply(&self, client: &Client) -> Result<()> {
        for manifest in &self.manifests {
            apply(manifest, client).await.with_context(|| manifest.origin().to_owned())?;
        }
        Ok(())
    }
}

fn key_of(manifest: &Manifest) -> ObjectKey {
    let namespace = manifest.object().pointer("/metadata/namespace").and_then(|namespace| namespace.as_str());
    ObjectKey::namespaced(namespace.unwrap_or("default"), manifest.name())
}

async fn apply(manifest: &Manifest, client: &Client) -> Result<()> {
    let mut object: Unstructured = serde_json::from_value(manifest.object().clone())?;
    let types = object.types.clone().context("the object has no apiVersion and kind")?;
    let kind = client.discover(&GroupVersionKind::try_from(&types)?).await?;
    if kind.is_namespaced() {
        object.metadata.namespace.get_or_insert_with(|| "default".to_owned());
    }
    client.api(kind).apply(&object).await?;
    Ok(())
}
