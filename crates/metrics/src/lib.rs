//! The registry a manager owns, and the metric families of every layer in one place.
//!
//! The families carry the names, labels and buckets of Go's controller-runtime and client-go. A family is there as soon
//! as something feeds it, and no label ever holds a name, namespace, uid or path of an object: the number of series
//! does not depend on the number of objects.
//!
//! ```
//! use controller_runtime_metrics::{Format, Registry};
//! use controller_runtime_metrics::prometheus_client::metrics::counter::Counter;
//!
//! let registry = Registry::new();
//! let backups = Counter::<u64>::default();
//! registry.register("backups", "Backups that were taken", backups.clone())?;
//! backups.inc();
//!
//! assert!(registry.encode(Format::PrometheusText)?.contains("backups_total 1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api_server;
mod cache;
mod cache_size;
mod computed;
mod controller;
mod family;
mod format;
#[cfg(target_os = "linux")]
mod process;
mod registry;
mod rest_client;
mod workqueue;

pub use api_server::{ApiServerMetrics, RequestInWork, RequestKind};
pub use cache::CacheMetrics;
pub use cache_size::CacheSnapshot;
pub use controller::{ActiveReconcile, ControllerMetrics, Outcome};
pub use format::Format;
/// The library that user metrics come from: its counters, gauges and histograms can be registered here.
pub use prometheus_client;
pub use registry::{RegisterError, Registry};
pub use rest_client::RestClientMetrics;
pub use workqueue::{QueueMetrics, QueueSnapshot};
