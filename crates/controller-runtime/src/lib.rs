//! A runtime for Kubernetes controllers: Manager → Controller → Reconciler.
//!
//! A [`Reconciler`](controller::Reconciler) brings the world to what one object asks for. A
//! [`Controller`](controller::Controller) calls it when that object, or what belongs to it, changes. A
//! [`Manager`](manager::Manager) runs controllers with the cache and the client that they share.
//!
//! ```no_run
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use controller_runtime::prelude::*;
//! use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
//!
//! /// Gives each namespace a ConfigMap with a greeting.
//! struct Greeter;
//!
//! impl Reconciler<Namespace> for Greeter {
//!     async fn reconcile(&self, cx: &Context, namespace: Arc<Namespace>) -> Result<Action> {
//!         let mut greeting = ConfigMap::default();
//!         greeting.metadata.name = Some("greeting".to_owned());
//!         greeting.metadata.namespace = namespace.metadata.name.clone();
//!         greeting.data = Some(BTreeMap::from([("text".to_owned(), "hello".to_owned())]));
//!         cx.apply(&greeting.owned_by(&*namespace)?).await?;
//!         Ok(Action::done())
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     init_logs(LogFormat::Human)?;
//!     let manager = Manager::builder(Config::infer().await?).build().await?;
//!     Controller::for_kind::<Namespace>().owns::<ConfigMap>().run(Greeter, &manager)?;
//!     manager.start(shutdown_signals()).await?;
//!     Ok(())
//! }
//! ```
//!
//! This crate has no logic of its own. Each layer is a crate that works alone; here they are modules, and [`prelude`]
//! has what an operator usually needs. With the feature `testenv` (off by default) there is `testenv`, too: an API
//! server inside the test's process.
//!
//! Select the Kubernetes version of your program by a feature of `k8s-openapi`, for example `v1_37`.

pub mod prelude;

pub use controller_runtime_ambient as ambient;
pub use controller_runtime_cache as cache;
pub use controller_runtime_client as client;
pub use controller_runtime_controller as controller;
pub use controller_runtime_manager as manager;
pub use controller_runtime_metrics as metrics;
pub use controller_runtime_scheme as scheme;
#[cfg(feature = "testenv")]
pub use controller_runtime_testenv as testenv;
pub use controller_runtime_workqueue as workqueue;
pub use {kube_client, kube_core};
