//! The API server that the demo works on.

use std::path::Path;

use anyhow::{Context as _, Result};
use controller_runtime::kube_client::config::{KubeConfigOptions, Kubeconfig};
use controller_runtime::prelude::*;
use controller_runtime::testenv::{Backend, Crds, Environment};
use tempfile::TempDir;

/// A cluster that somebody named, or an embedded API server.
pub(crate) struct Target {
    config: Config,
    embedded: Option<Embedded>,
}

struct Embedded {
    environment: Environment,
    /// Has the kubeconfig.
    folder: TempDir,
}

impl Target {
    /// The cluster of a kubeconfig if there is one, else an embedded API server. Prints how kubectl reaches it.
    pub(crate) async fn choose(kubeconfig: Option<&Path>) -> Result<Self> {
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
        Ok(Self { config, embedded: None })
    }

    async fn embedded() -> Result<Self> {
        let environment = Environment::builder().backend(Backend::Embedded).start().await?;
        let kubeconfig = environment.kubeconfig().await?;
        let folder = tempfile::Builder::new().prefix("controller-runtime-demo-").tempdir()?;
        let file = folder.path().join("kubeconfig");
        let text = serde_json::to_string_pretty(&kubeconfig)?;
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        println!("An embedded API server listens on {}", config.cluster_url);
        println!("    export KUBECONFIG={}", file.display());
        Ok(Self { config, embedded: Some(Embedded { environment, folder }) })
    }

    /// How to reach it.
    pub(crate) fn config(&self) -> Config {
        self.config.clone()
    }

    /// A client that writes as a user would with kubectl.
    pub(crate) fn client(&self, ambient: &Ambient) -> Result<Client> {
        let options = ClientOptions::builder().ambient(ambient.clone()).field_manager("demo").build();
        Ok(Client::from_config(self.config(), options)?)
    }

    /// Installs the definition of a custom resource and waits until it is served.
    pub(crate) async fn install(&self, definition: &impl serde::Serialize, client: &Client) -> Result<()> {
        Ok(Crds::new().with(definition)?.install(client.kube_client()).await?)
    }

    /// Stops what was started.
    pub(crate) async fn leave(self) -> Result<()> {
        if let Some(Embedded { environment, folder }) = self.embedded {
            environment.stop().await?;
            folder.close()?;
        }
        Ok(())
    }
}
