//! Runs controllers and what else a program consists of.
//!
//! ```no_run
//! use std::sync::Arc;
//! use controller_runtime_controller::{Action, Context, Controller, Reconciler, Result};
//! use controller_runtime_manager::{LogFormat, Manager, init_logs, shutdown_signals};
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_client::Config;
//!
//! struct Greeter;
//!
//! impl Reconciler<ConfigMap> for Greeter {
//!     async fn reconcile(&self, _cx: &Context, object: Arc<ConfigMap>) -> Result<Action> {
//!         println!("hello {:?}", object.metadata.name);
//!         Ok(Action::done())
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     init_logs(LogFormat::Human)?;
//!     let manager = Manager::builder(Config::infer().await?)
//!         .health_address(":8081")
//!         .metrics_address(":8080")
//!         .build()
//!         .await?;
//!     Controller::for_kind::<ConfigMap>().run(Greeter, &manager)?;
//!     manager.start(shutdown_signals()).await?;
//!     Ok(())
//! }
//! ```

mod builder;
mod door;
mod endpoint;
mod error;
mod health;
mod logs;
mod manager;
mod runnable;
mod security;
mod server;
mod shutdown;

pub use builder::{Connection, ManagerBuilder};
pub use error::ManagerError;
pub use health::Check;
pub use logs::{LogError, LogFormat, LogHandle, init_logs};
pub use manager::Manager;
pub use runnable::{ShutdownReport, StillRunning};
pub use security::{Access, Refusal, Tls, TlsError};
pub use shutdown::{Shutdown, shutdown_signals};
