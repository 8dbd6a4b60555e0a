use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use kube_core::Status;

use crate::error::{ClientError, RequestInfo, Verb};

/// What an [`Interceptor`] does with a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Interception {
    /// Sends it.
    Send,
    /// Does not send it; the caller gets this answer as an error.
    Fail(Box<Status>),
    /// Sends it, and the caller gets this answer as an error although the request succeeded: a write has happened and
    /// its answer is lost.
    SendAndFail(Box<Status>),
}

type Hook = Arc<dyn Fn(RequestInfo) -> BoxFuture<'static, Interception> + Send + Sync>;
type Observer = Arc<dyn Fn(&RequestInfo, Result<(), &ClientError>) + Send + Sync>;

/// Stands between a client and its server in tests: lets requests fail, delays or observes them.
///
/// It sees each call once, whatever retries it takes, and before the rate limit; delays count towards the call's
/// deadline.
///
/// ```
/// use controller_runtime_client::{Interception, Interceptor, Verb};
/// use kube_core::Status;
///
/// let conflicts = Interceptor::new().on(Verb::Update, |request| async move {
///     Interception::Fail(Box::new(Status::failure(&request.kind, "Conflict").with_code(409)))
/// });
/// # let _ = conflicts;
/// ```
#[derive(Clone, Default)]
pub struct Interceptor {
    hooks: Vec<(Option<Verb>, Hook)>,
    observers: Vec<Observer>,
}

impl Interceptor {
    /// One that sends everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks `decide` about each request of this verb. It may wait before it decides.
    #[must_use]
    pub fn on<F>(self, verb: Verb, decide: impl Fn(RequestInfo) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Interception> + Send + 'static,
    {
        self.hook(Some(verb), decide)
    }

    /// Asks `decide` about each request.
    #[must_use]
    pub fn on_any<F>(self, decide: impl Fn(RequestInfo) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Interception> + Send + 'static,
    {
        self.hook(None, decide)
    }

    /// Tells `observe` how each request ended. A call whose future is dropped is not told of.
    #[must_use]
    pub fn observe(mut self, observe: impl Fn(&RequestInfo, Result<(), &ClientError>) + Send + Sync + 'static) -> Self {
        self.observers.push(Arc::new(observe));
        self
    }

    fn hook<F>(mut self, verb: Option<Verb>, decide: impl Fn(RequestInfo) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Interception> + Send + 'static,
    {
        self.hooks.push((verb, Arc::new(move |request| Box::pin(decide(request)))));
        self
    }

    /// What to do with the request: what the first hook says that doesn't just send it.
    pub(crate) async fn decide(&self, request: &RequestInfo) -> Interception {
        for (verb, decide) in &self.hooks {
            if verb.is_none_or(|verb| verb == request.verb) {
                match decide(request.clone()).await {
                    Interception::Send => {}
                    other => return other,
                }
            }
        }
        Interception::Send
    }

    pub(crate) fn tell(&self, request: &RequestInfo, result: Result<(), &ClientError>) {
        self.observers.iter().for_each(|observe| observe(request, result));
    }
}

impl fmt::Debug for Interceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verbs: Vec<_> = self.hooks.iter().map(|(verb, _)| verb).collect();
        f.debug_struct("Interceptor").field("hooks", &verbs).field("observers", &self.observers.len()).finish()
    }
}
