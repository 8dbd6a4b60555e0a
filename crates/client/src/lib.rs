//! A Kubernetes client for controllers, on top of kube-client's transport.
//!
//! Every request has a deadline. Every error names what was being done to which object, says of which
//! [class](ErrorClass) it is, and keeps the server's `Status`. Throttled requests, requests that never reached the
//! server, and reads that failed are tried again a few times; other writes never are. A [`Client`] that is bound to a
//! namespace, limited, intercepted or only trying out its writes is still a [`Client`].
//!
//! ```
//! use controller_runtime_client::{Client, ClientError, OwnedBy};
//! use k8s_openapi::api::apps::v1::Deployment;
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! async fn configure(client: &Client, web: &Deployment, mut settings: ConfigMap) -> Result<(), ClientError> {
//!     settings.metadata.namespace = web.metadata.namespace.clone();
//!     client.apply(&settings.owned_by(web)?).await?;
//!     match client.get::<ConfigMap>(("shop", "other")).await {
//!         Err(error) if error.is_not_found() => Ok(()),
//!         other => other.map(drop),
//!     }
//! }
//! ```

mod api;
mod apply;
mod backoff;
mod child_name;
mod class;
mod client;
mod client_options;
mod discovery;
mod error;
mod finalizer;
mod interceptor;
mod list;
mod mapper;
mod options;
mod owner;
mod pager;
mod patch;
mod rate_limit;
mod request;
mod retry;
mod set_fields;
mod three_way;
mod transport;
mod warning;
mod watch;

pub use api::{Api, Deletion, Upsert};
pub use backoff::Backoff;
pub use child_name::{child_label, child_name};
pub use class::{Classify, ErrorClass, ignore_already_exists, ignore_not_found};
pub use client::Client;
pub use client_options::{ClientOptions, ClientOptionsBuilder};
pub use error::{ClientError, RequestInfo, RequestProblem, Verb};
pub use finalizer::{
    Finalization, FinalizeError, Finalized, FinalizerError, Finalizers, add_finalizer, has_finalizer, remove_finalizer,
};
pub use interceptor::{Interception, Interceptor};
pub use kube_core::{Expression, Selector, Status};
pub use list::{List, Page};
pub use mapper::{Mapping, RestMapper};
pub use options::{DeleteOptions, FieldValidation, ListOptions, Propagation, ResourceVersionMatch, WatchOptions};
pub use owner::{
    OwnedBy, OwnerError, controller_of, has_owner_reference, remove_controller_reference, remove_owner_reference,
    set_controller_reference, set_owner_reference,
};
pub use pager::Pager;
pub use patch::Patch;
pub use rate_limit::{RateLimit, RateLimitBuilder};
pub use retry::retry_on_conflict;
pub use warning::WarningHandler;
pub use watch::{WatchEventType, WatchFrame, WatchStream};
