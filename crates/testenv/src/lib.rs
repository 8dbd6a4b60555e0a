//! Environments for tests of Kubernetes controllers.
//!
//! An [`Environment`] is an API server and a client of it. By default the server is embedded: inside the test's
//! process, ready in milliseconds, gone with the test. The environment variable `CONTROLLER_RUNTIME_BACKEND` runs the
//! same test on a real control plane ([`Backend`]).
//!
//! ```
//! use controller_runtime_testenv::{Environment, Error};
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_client::Api;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let env = Environment::start().await?;
//! let namespace = env.namespace("example").await?;
//!
//! let maps = Api::<ConfigMap>::namespaced(env.kube_client(), &namespace);
//! let mut map = ConfigMap::default();
//! map.metadata.name = Some("settings".to_owned());
//! maps.create(&Default::default(), &map).await?;
//!
//! let seen = env.eventually::<ConfigMap>((&*namespace, "settings")).exists().await?;
//! assert!(seen.metadata.uid.is_some());
//! env.stop().await?;
//! # Ok(())
//! # }
//! ```

mod assert;
mod crds;
mod environment;
mod error;
mod manifest;

pub use assert::Eventually;
pub use crds::Crds;
pub use environment::{Backend, Door, Environment, EnvironmentBuilder};
pub use error::Error;
pub use manifest::{Manifest, read_manifests, split_manifests};
