//! What an operator usually needs: `use controller_runtime::prelude::*;`.

pub use controller_runtime_ambient::{Ambient, CancellationToken};
pub use controller_runtime_cache::{
    Cache, CacheOptions, DelegatingClient, HandlerRegistration, Informer, KindOptions, ListQuery, ScopeOptions,
    Selection,
};
pub use controller_runtime_client::{
    Client, ClientError, ClientOptions, DeleteOptions, ErrorClass, FieldValidation, ListOptions, OwnedBy, Patch,
    Propagation, RateLimit, Selector, child_name, ignore_already_exists, ignore_not_found, retry_on_conflict,
};
pub use controller_runtime_controller::{
    Action, Context, Controller, Error, Host, LOW_PRIORITY, Reconciler, Result, Runnable, Stage, Watch, handler,
    predicate, source,
};
pub use controller_runtime_manager::{Check, LogFormat, LogHandle, Manager, ManagerError, init_logs, shutdown_signals};
pub use controller_runtime_scheme::{
    GroupVersionKind, Kind, ObjectExt, ObjectKey, PartialObjectMeta, Scheme, Unstructured,
};
pub use kube_client::Config;
pub use kube_core::CustomResourceExt;
pub use kube_derive::CustomResource;
