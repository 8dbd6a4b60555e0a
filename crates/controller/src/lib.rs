//! Reconcilers and the controllers that run them.
//!
//! Data flows one way: events of the kinds that are watched pass the predicates, a handler says which objects they are
//! about, the queue holds those objects' keys, and workers take them and call the [`Reconciler`].
//!
//! [`Controller`] wires them: its own kind, what that [owns](Controller::owns), and whatever else it
//! [watches](Watch). Map functions and [handlers](handler) run apart from the informers that controllers share.
//! [Sources](source) bring events that are no changes of the cluster.
//!
//! ```no_run
//! use std::sync::Arc;
//! use controller_runtime_controller::{Action, Context, Controller, Host, Reconciler, Result};
//! use k8s_openapi::api::apps::v1::Deployment;
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! struct Settings;
//!
//! impl Reconciler<Deployment> for Settings {
//!     async fn reconcile(&self, cx: &Context, deployment: Arc<Deployment>) -> Result<Action> {
//!         let mut settings = ConfigMap::default();
//!         settings.metadata.name = deployment.metadata.name.clone();
//!         settings.metadata.namespace = deployment.metadata.namespace.clone();
//!         cx.apply(&settings).await?;
//!         Ok(Action::done())
//!     }
//! }
//!
//! fn set_up(host: &impl Host) -> Result<()> {
//!     Controller::for_kind::<Deployment>().owns::<ConfigMap>().run(Settings, host)?;
//!     Ok(())
//! }
//! ```

mod action;
mod builder;
mod context;
mod controller;
mod error;
mod event;
pub mod handler;
mod host;
mod metrics;
pub mod predicate;
mod reconciler;
mod run_tasks;
mod runnable;
mod runs;
pub mod source;
mod store;
#[cfg(test)]
mod testing;
mod watch;
mod worker;

pub use action::Action;
pub use builder::{Controller, KeyController};
pub use context::Context;
pub use controller::ControllerError;
pub use error::{Error, Result};
pub use event::Event;
pub use host::{AddError, Host};
pub use reconciler::Reconciler;
pub use runnable::{Runnable, Stage};
pub use source::LOW_PRIORITY;
pub use watch::Watch;
