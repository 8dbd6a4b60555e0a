use std::ffi::OsString;

use crate::error::Error;

const BACKEND: &str = "CONTROLLER_RUNTIME_BACKEND";
const DOOR: &str = "CONTROLLER_RUNTIME_DOOR";

/// Which API server an environment has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Backend {
    /// The embedded one, inside this process, with its garbage collection and namespace controllers.
    #[default]
    Embedded,
    /// kube-apiserver with etcd, from `KUBEBUILDER_ASSETS` or else the cache of `cargo xtask control-plane`, and
    /// kube-controller-manager with the same two controllers where it is there. Each environment has one of its own;
    /// where `CONTROLLER_RUNTIME_KUBECONFIG` names a kubeconfig, all use the one that runs already.
    Reference,
    /// The cluster of the kubeconfig that `CONTROLLER_RUNTIME_KUBECONFIG` names, else of the usual one.
    Existing,
}

impl Backend {
    /// What `CONTROLLER_RUNTIME_BACKEND` says: `embedded`, `reference` or `existing`; embedded when it is unset or
    /// empty. Anything else is an error.
    pub fn from_env() -> Result<Self, Error> {
        Self::parse(std::env::var_os(BACKEND))
    }

    fn parse(value: Option<OsString>) -> Result<Self, Error> {
        match text(value).as_str() {
            "" | "embedded" => Ok(Self::Embedded),
            "reference" => Ok(Self::Reference),
            "existing" => Ok(Self::Existing),
            value => {
                let expected = "embedded, reference or existing";
                Err(Error::Variable { variable: BACKEND, value: value.to_owned(), expected })
            }
        }
    }
}

/// The way in which an environment's own client reaches the embedded server.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Door {
    /// By calls, without a connection.
    #[default]
    InProcess,
    /// Plain HTTP on a loopback port.
    Http,
    /// HTTPS on a loopback port, with a certificate of the server's own authority.
    Https,
}

impl Door {
    /// What `CONTROLLER_RUNTIME_DOOR` says: `in-process`, `http` or `https`; in process when it is unset or empty.
    /// Anything else is an error.
    pub fn from_env() -> Result<Self, Error> {
        Self::parse(std::env::var_os(DOOR))
    }

    fn parse(value: Option<OsString>) -> Result<Self, Error> {
        match text(value).as_str() {
            "" | "in-process" => Ok(Self::InProcess),
            "http" => Ok(Self::Http),
            "https" => Ok(Self::Https),
            value => {
                let expected = "in-process, http or https";
                Err(Error::Variable { variable: DOOR, value: value.to_owned(), expected })
            }
        }
    }
}

fn text(value: Option<OsString>) -> String {
    value.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Backend, Door};

    #[test]
    fn variables_are_read_strictly() {
        let backend = |value: &str| Backend::parse(Some(value.into())).map_err(|error| error.to_string());
        assert_eq!(Backend::parse(None).unwrap(), Backend::Embedded);
        assert_eq!(backend(""), Ok(Backend::Embedded));
        assert_eq!(backend("reference"), Ok(Backend::Reference));
        assert_eq!(
            backend("Embedded"),
            Err("CONTROLLER_RUNTIME_BACKEND is \"Embedded\"; it may be embedded, reference or existing".to_owned())
        );
        assert_eq!(Door::parse(Some("https".into())).unwrap(), Door::Https);
        assert_eq!(
            Door::parse(Some("tls".into())).unwrap_err().to_string(),
            "CONTROLLER_RUNTIME_DOOR is \"tls\"; it may be in-process, http or https"
        );
    }
}
