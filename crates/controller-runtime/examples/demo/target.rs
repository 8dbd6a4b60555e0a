//! The API server that the demo works on.

use std::path::Path;

use anyhow::{Context as _, Result};
use controller_runtime::kube_client::config::{KubeConfigOptions, Kubeconfig};
use controller_runtime::prelude::*;
use controller_runtime::testenv::{Backend, Crds, Environment};
use tempfile::TempDir;

/// An embedded API server, or a cluster that somebody named.
pub enum Target {
    Embedded { environment: Environment, config: Config, folder: TempDir },
    Cluster { config: Config },
}

impl Target {
    /// The cluster of a kubeconfig if there is one, else an embedded API server. Prints how kubectl reaches it.
    pub async fn choose(kubeconfig: Option<&Path>) -> Result<Self> {
        match kubeconfig {
            Some(path) => Self::cluster(path).await,
            None => Self::embedded().await,
        }
    }

    async fn cluster(path: &Path) -> Result<Self> {
        let read = || format!("cannot use the kubeconfig {}", path.display());
        let kubeconfig = Kubeconfig::read_from(path).with_context(read)?;
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(read)?;
        println!("Using {}", config.cluster_url);
        Ok(Self::Cluster { config })
    }

    async fn embedded() -> Result<Self> {
        let environment = Environment::builder().backend(Backend::Embedded).start().await?;
        let kubeconfig = environment.kubeconfig().await?;
        let folder = tempfile::Builder::new().prefix("controller-runtime-demo-").tempdir()?;
        let file = folder.path().join("kubeconfig");
        // JSON is YAML, and the kubeconfig's own order and secrets are kept as they are.
        std::fs::write(&file, serde_json::to_string_pretty(&kubeconfig)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        println!("An embedded API server listens on {}", config.cluster_url);
        println!("    export KUBECONFIG={}", file.display());
        Ok(Self::Embedded { environment, config, folder })
    }

    /// How to reach it.
    pub fn config(&self) -> Config {
        match self {
            Self::Embedded { config, .. } | Self::Cluster { config } => config.clone(),
        }
    }

    /// A client that writes as the demo's user would with kubectl.
    pub fn client(&self, ambient: &Ambient) -> Result<Client> {
        let options = ClientOptions::new().ambient(ambient.clone()).field_manager("demo");
        Ok(Client::from_config(self.config(), options)?)
    }

    /// Installs the definition of a custom resource and waits until it is served.
    pub async fn install(&self, definition: &impl serde::Serialize, client: &Client) -> Result<()> {
        Ok(Crds::new().with(definition)?.install(client.kube_client()).await?)
    }

    /// Stops what was started.
    pub async fn leave(self) -> Result<()> {
        if let Self::Embedded { environment, folder, .. } = self {
            environment.stop().await?;
            folder.close()?;
        }
        Ok(())
    }
}
