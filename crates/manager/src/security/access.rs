use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use controller_runtime_client::Client;
use http::request::Parts;

use crate::security::review;

type Deciding = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send>>;
type Decide = Arc<dyn Fn(Arc<Parts>) -> Deciding + Send + Sync>;

/// Who may read a manager's metrics.
#[derive(Clone)]
pub struct Access {
    rule: Rule,
}

#[derive(Clone)]
enum Rule {
    Kubernetes,
    Custom(Decide),
}

/// Somebody may not read the metrics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It isn't known who asks: 401.
    #[error("unauthorized")]
    Unauthenticated,
    /// It is known, and may not: 403.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// It could not be found out: 500. The cause is logged and not told to who asks.
    #[error("cannot find out who may read: {0}")]
    Unavailable(Box<dyn StdError + Send + Sync>),
}

impl Access {
    /// Who the API server lets: the bearer token that comes with the request is shown to it (TokenReview), and whoever
    /// that names must be allowed to `get` the non-resource URL of the request (SubjectAccessReview), for example by
    ///
    /// ```yaml
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRole
    /// metadata: {name: metrics-reader}
    /// rules:
    /// - nonResourceURLs: [/metrics]
    ///   verbs: [get]
    /// ```
    ///
    /// The manager itself must be allowed to create both kinds of review (the ClusterRole `system:auth-delegator`). Each
    /// request costs two requests to the API server.
    pub fn kubernetes() -> Self {
        Self { rule: Rule::Kubernetes }
    }

    /// Who `decide` lets, to which it shows method, URL and headers of each request.
    pub fn new<F>(decide: impl Fn(Arc<Parts>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Refusal>> + Send + 'static,
    {
        Self { rule: Rule::Custom(Arc::new(move |head| Box::pin(decide(head)))) }
    }
}

/// A rule with the client that it may need.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    access: Access,
    client: Client,
}

impl Gate {
    pub(crate) fn new(access: Access, client: &Client) -> Self {
        Self { access, client: client.clone() }
    }

    pub(crate) async fn admits(&self, head: Arc<Parts>) -> Result<(), Refusal> {
        match &self.access.rule {
            Rule::Kubernetes => review::admits(&self.client, &head).await,
            Rule::Custom(decide) => decide(head).await,
        }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.rule {
            Rule::Kubernetes => "Access(kubernetes)",
            Rule::Custom(_) => "Access(custom)",
        })
    }
}
