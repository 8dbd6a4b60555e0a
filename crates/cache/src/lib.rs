//! Objects of an API server, kept up to date in memory.
//!
//! A [`Cache`] holds one [`Informer`] for each kind that somebody asks for. An informer lists and watches, keeps the
//! objects with their indexes, and tells handlers what was added, updated and deleted. Reads give shared objects that
//! nobody can change, and never copy them. [`DelegatingClient`] reads from the cache and writes to the server; its
//! reads see its own writes.
//!
//! [`CacheOptions`] say what is cached. Each Rust type of a kind, typed, unstructured or metadata only, has an informer,
//! a watch and objects of its own.
//!
//! Metrics, each by group, version and kind: `controller_runtime_cache_objects`, `controller_runtime_cache_bytes` (as
//! JSON, estimated from a sample), `controller_runtime_cache_resource_version` (up to which all changes have been seen;
//! with several informers the oldest), and the totals `controller_runtime_cache_lists_total`,
//! `controller_runtime_cache_watches_total`, `controller_runtime_cache_undecodable_objects_total` and
//! `controller_runtime_cache_undecodable_reads_total`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use controller_runtime_ambient::CancellationToken;
//! use controller_runtime_cache::{Cache, CacheError, CacheOptions, DelegatingClient, ListQuery};
//! use controller_runtime_client::Client;
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! async fn example(client: Client, cancel: CancellationToken) -> Result<(), CacheError> {
//!     let cache = Cache::new(client.clone(), CacheOptions::new());
//!     let running = client.ambient().spawn("cache", cache.run(cancel));
//!
//!     cache.informer::<ConfigMap>().add_index("app", |object| {
//!         object.metadata.labels.iter().flatten().filter(|(key, _)| *key == "app").map(|(_, value)| value.clone()).collect()
//!     })?;
//!     let client = DelegatingClient::new(client, cache);
//!     let settings: Arc<ConfigMap> = client.get(("shop", "settings")).await?;
//!     let of_app: Vec<Arc<ConfigMap>> = client.list(&ListQuery::by_index("app", "web").within("shop")).await?;
//!     # let _ = (settings, of_app, running);
//!     Ok(())
//! }
//! ```

mod bounded;
mod cache;
mod delegating;
mod error;
mod event;
mod index;
mod informer;
mod options;
mod query;
mod reader;
mod reflector;
mod route;
mod store;
mod transform;

pub use cache::Cache;
pub use delegating::{DelegatingApi, DelegatingClient};
pub use error::{CacheError, Denial};
pub use event::ObjectEvent;
pub use informer::{HandlerRegistration, Informer, Selection};
pub use options::{Bounds, CacheOptions, KindOptions, ScopeOptions};
pub use query::ListQuery;
pub use reader::Reader;
pub use reflector::{ListPage, ListWatch, ListWatchFns, Payload, WatchItem, WatchItems};
pub use transform::Transform;
