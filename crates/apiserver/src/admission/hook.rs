use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::access::Identity;

/// How long a hook may take unless it says otherwise: the time-out of a webhook that names none.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(10);

/// A piece of a test that is asked about writes, as an admission webhook is, but inside the process: without a
/// configuration object, certificates and a server.
///
/// Mutating hooks are asked before the mutating webhooks, in the order in which they were given; validating ones after
/// the validating webhooks, with the object as it would be stored. Both are asked about every create, update, patch and
/// delete of objects and their subresources, whoever makes it, the server's own controllers included; about dry runs
/// too; not about the configurations of webhooks. Deletions are shown to both kinds.
///
/// A hook that takes longer than its [`deadline`](Self::deadline) fails the request with 500, as a webhook with the
/// failure policy `Fail` does. A panic in it is the requester's.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use controller_runtime_apiserver::{AdmissionAnswer, AdmissionHook, AdmissionRequest, ApiServer};
///
/// let hook = AdmissionHook::validating("limits.example.com", |request: AdmissionRequest| async move {
///     let replicas = request.object.as_ref().and_then(|object| object.pointer("/spec/replicas")?.as_i64());
///     match replicas {
///         Some(11..) => AdmissionAnswer::deny("at most ten replicas"),
///         _ => AdmissionAnswer::allow(),
///     }
/// });
/// let server = ApiServer::builder().admission(hook).build();
/// # server.shutdown().await;
/// # }
/// ```
#[derive(Clone)]
pub struct AdmissionHook {
    pub(super) name: String,
    pub(super) mutates: bool,
    pub(super) deadline: Duration,
    pub(super) ask: Ask,
}

type Ask = Arc<dyn Fn(AdmissionRequest) -> Pin<Box<dyn Future<Output = AdmissionAnswer> + Send>> + Send + Sync>;

impl AdmissionHook {
    /// A hook that may change objects before they are validated.
    pub fn mutating<F, Fut>(name: impl Into<String>, ask: F) -> Self
    where
        F: Fn(AdmissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = AdmissionAnswer> + Send + 'static,
    {
        Self::new(name.into(), true, ask)
    }

    /// A hook that sees objects as they would be stored. What it wants changed is an error (500).
    pub fn validating<F, Fut>(name: impl Into<String>, ask: F) -> Self
    where
        F: Fn(AdmissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = AdmissionAnswer> + Send + 'static,
    {
        Self::new(name.into(), false, ask)
    }

    fn new<F, Fut>(name: String, mutates: bool, ask: F) -> Self
    where
        F: Fn(AdmissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = AdmissionAnswer> + Send + 'static,
    {
        Self { name, mutates, deadline: DEFAULT_DEADLINE, ask: Arc::new(move |request| Box::pin(ask(request))) }
    }

    /// How long it may take. Default: ten seconds.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

impl fmt::Debug for AdmissionHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdmissionHook")
            .field("name", &self.name)
            .field("mutates", &self.mutates)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// What is done with an object that a hook is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdmissionOperation {
    /// A new object.
    Create,
    /// Another content of an object; patches and applies of objects that exist are updates.
    Update,
    /// The end of an object, or the mark that its finalizers wait for.
    Delete,
}

/// A write that a hook is asked about: what `AdmissionReview` of `admission.k8s.io/v1` says of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdmissionRequest {
    /// What is done.
    pub operation: AdmissionOperation,
    /// API group of the resource; empty for the core group.
    pub group: String,
    /// Version of the resource in which the request was made.
    pub version: String,
    /// Plural name of the resource.
    pub resource: String,
    /// `status`, `scale` and the like; empty for the object itself.
    pub subresource: String,
    /// Kind of the resource's objects.
    pub kind: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Empty while the server hasn't generated it yet.
    pub name: String,
    /// Who asks.
    pub user: Identity,
    /// The object as it would be; none for a deletion.
    pub object: Option<Value>,
    /// The object as it is; none for a creation.
    pub old_object: Option<Value>,
    /// Whether nothing is going to be stored.
    pub dry_run: bool,
}

/// What a hook says to a write.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "it has to be returned"]
pub struct AdmissionAnswer {
    pub(super) object: Option<Value>,
    pub(super) refusal: Option<(u16, String)>,
    pub(super) warnings: Vec<String>,
}

impl AdmissionAnswer {
    /// The write may happen as it is.
    pub fn allow() -> Self {
        Self::default()
    }

    /// The write may happen with this object instead. Defaults are filled in again, and fields that the kind doesn't
    /// have are dropped.
    pub fn change(object: Value) -> Self {
        Self { object: Some(object), ..Self::default() }
    }

    /// The write must not happen: 403 with this message.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::deny_with_code(403, message)
    }

    /// The write must not happen: a code from 400 on (others become 400) with this message.
    pub fn deny_with_code(code: u16, message: impl Into<String>) -> Self {
        Self { refusal: Some((code, message.into())), ..Self::default() }
    }

    /// The same, with one more warning for the client, in a `Warning` header.
    pub fn warn(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }
}
