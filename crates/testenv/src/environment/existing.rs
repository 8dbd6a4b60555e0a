use std::path::{Path, PathBuf};

use controller_runtime_apiserver::Identity;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use kube_client::{Client, Config};

use crate::error::Error;

const KUBECONFIG: &str = "CONTROLLER_RUNTIME_KUBECONFIG";
const CONTROLLERS: &str = "CONTROLLER_RUNTIME_CONTROLLERS";
/// The controllers of kube-controller-manager that the embedded server has inside.
pub(super) const EXPECTED: [&str; 2] = ["garbage-collector-controller", "namespace-controller"];

/// A server that runs already and stays.
#[derive(Debug)]
pub(crate) struct Existing {
    origin: String,
    kubeconfig: Kubeconfig,
    controllers: bool,
}

impl Existing {
    /// The one of the kubeconfig that `CONTROLLER_RUNTIME_KUBECONFIG` names, when it names one.
    pub(crate) fn named() -> Result<Option<Self>, Error> {
        let path = std::env::var_os(KUBECONFIG).filter(|path| !path.is_empty()).map(PathBuf::from);
        path.map(|path| Self::read(&path)).transpose()
    }

    /// The one of `KUBECONFIG`, else of the kubeconfig in the user's home folder.
    pub(crate) fn usual() -> Result<Self, Error> {
        Self::new("of KUBECONFIG or ~/.kube/config".to_owned(), Kubeconfig::read())
    }

    fn read(path: &Path) -> Result<Self, Error> {
        Self::new(path.display().to_string(), Kubeconfig::read_from(path))
    }

    fn new(origin: String, read: Result<Kubeconfig, kube_client::config::KubeconfigError>) -> Result<Self, Error> {
        let kubeconfig =
            read.map_err(|source| Error::Kubeconfig { origin: origin.clone(), source: Box::new(source) })?;
        let listed = std::env::var(CONTROLLERS).ok();
        let controllers = listed.is_none_or(|listed| {
            let listed = listed.split(',').map(str::trim).collect::<Vec<_>>();
            EXPECTED.iter().all(|controller| listed.contains(controller))
        });
        Ok(Self { origin, kubeconfig, controllers })
    }

    pub(crate) fn kubeconfig(&self) -> &Kubeconfig {
        &self.kubeconfig
    }

    /// The kubeconfig with every user impersonating this one.
    pub(crate) fn kubeconfig_as(&self, user: &Identity) -> Kubeconfig {
        let mut kubeconfig = self.kubeconfig.clone();
        for own in kubeconfig.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
            own.impersonate = Some(user.name.clone());
            own.impersonate_groups = Some(user.groups.clone()).filter(|groups| !groups.is_empty());
        }
        kubeconfig
    }

    pub(crate) fn has_controllers(&self) -> bool {
        self.controllers
    }

    pub(crate) async fn client(&self) -> Result<Client, Error> {
        client_of(&self.origin, self.kubeconfig.clone()).await
    }
}

/// A client of the cluster that a kubeconfig's current context names; `origin` says in errors where that is from.
pub(super) async fn client_of(origin: &str, kubeconfig: Kubeconfig) -> Result<Client, Error> {
    let wrap = |source| Error::Kubeconfig { origin: origin.to_owned(), source };
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|source| wrap(Box::new(source)))?;
    // A test sees every answer; who wants a retry makes it.
    config.default_retry = false;
    Client::try_from(config).map_err(|source| wrap(Box::new(source)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Existing;

    #[test]
    fn a_bad_kubeconfig_is_named() {
        let error = Existing::read(Path::new("/absent/kubeconfig")).unwrap_err();
        assert_eq!(error.to_string(), "cannot use the kubeconfig /absent/kubeconfig");

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kubeconfig");
        std::fs::write(&file, "clusters: [").unwrap();
        let error = Existing::read(&file).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(source.contains("YAML"), "{source}");
    }
}
