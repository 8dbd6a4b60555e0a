//! What an operator usually needs: `use controller_runtime::prelude::*;`.

pub use controller_runtime_ambient::{Ambient, CancellationToken};
pub use controller_runtime_cache::{Cache, DelegatingClient, HandlerRegistration, Informer, ListQuery};
pub use controller_runtime_client::{
    Client, ClientError, ClientOptions, DeleteOptions, ListOptions, OwnedBy, Patch, ignore_not_found,
};
pub use controller_runtime_controller::{Action, Context, Controller, Error, Host, Reconciler, Result, predicate};
pub use controller_runtime_manager::{LogFormat, Manager, init_logs, shutdown_signals};
pub use controller_runtime_scheme::{GroupVersionKind, Kind, ObjectExt, ObjectKey, Scheme, Unstructured};
pub use kube_client::Config;
pub use kube_core::CustomResourceExt;
pub use kube_derive::CustomResource;
