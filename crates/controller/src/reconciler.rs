use std::sync::Arc;

use crate::action::Action;
use crate::context::Context;
use crate::error::{Error, Result};

/// Brings the world to what an object of kind `K` asks for.
///
/// It is called with the object as the cache has it, never older than the event that led here and than this
/// program's own writes, and only while the object exists. Each object is reconciled by one call at a time. It may be
/// called at any time and any number of times: it looks at how things are, not at what has happened, and does only what
/// is missing.
///
/// ```
/// use std::sync::Arc;
/// use controller_runtime_controller::{Action, Context, Reconciler, Result};
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// struct Greeter;
///
/// impl Reconciler<ConfigMap> for Greeter {
///     async fn reconcile(&self, _cx: &Context, object: Arc<ConfigMap>) -> Result<Action> {
///         println!("hello {:?}", object.metadata.name);
///         Ok(Action::done())
///     }
/// }
/// ```
pub trait Reconciler<K>: Send + Sync + 'static {
    /// Reconciles one object.
    fn reconcile(&self, cx: &Context, object: Arc<K>) -> impl Future<Output = Result<Action, Error>> + Send;
}
