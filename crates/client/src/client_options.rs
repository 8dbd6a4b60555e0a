use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_metrics::Registry;

use crate::options::FieldValidation;
use crate::rate_limit::RateLimit;
use crate::warning::WarningHandler;

/// How a [`Client`](crate::Client) makes its requests. Made by a builder, and then it stays as it is.
///
/// ```
/// use std::time::Duration;
/// use controller_runtime_client::{ClientOptions, RateLimit};
///
/// let options = ClientOptions::builder()
///     .field_manager("databases")
///     .timeout(Duration::from_secs(10))
///     .rate_limit(RateLimit::builder().per_second(50).burst(100).build())
///     .build();
/// assert_eq!(options.retries(), 3);
/// ```
#[derive(Clone, Debug, bon::Builder)]
#[builder(on(String, into))]
pub struct ClientOptions {
    /// Clock and randomness. Default: the machine's.
    #[builder(default = Ambient::system())]
    pub(crate) ambient: Ambient,
    /// Where requests are counted (`rest_client_requests_total`). Default: a registry of its own.
    #[builder(default = Registry::new())]
    pub(crate) metrics: Registry,
    /// Deadline of each request, from the call to having read the answer, with its retries and its waits for the rate
    /// limit and for its turn. A watch must have started within it. Default: 30 s.
    #[builder(default = Duration::from_secs(30))]
    pub(crate) timeout: Duration,
    /// The name that writes are attributed to (`fieldManager`); apply needs one. Default: none, which makes the server
    /// take the user agent's first part.
    pub(crate) field_manager: Option<String>,
    /// What the server does about unknown or duplicate fields. Default: the server's own default, which is to warn.
    pub(crate) field_validation: Option<FieldValidation>,
    /// How often a request that surely or harmlessly can be repeated is tried again: one that the server throttled,
    /// one that never reached it (the connection could not be made), and any read. Other writes may have happened,
    /// and are never repeated. Default: 3.
    #[builder(default = 3)]
    pub(crate) retries: u32,
    /// The longest `Retry-After` that is waited for; when the server asks for more, the caller gets its answer at
    /// once. Default: 30 s.
    #[builder(default = Duration::from_secs(30))]
    pub(crate) longest_retry_after: Duration,
    /// How many requests the client and its clones have under way at most, each counted until its answer's body has
    /// been read. Watches are not counted: they stay open for minutes, and would starve the rest. At least 1.
    /// Default: 100.
    #[builder(default = 100)]
    pub(crate) concurrent_requests: usize,
    /// How many requests are sent per second. Default: no limit, because API servers have their own (API priority and
    /// fairness).
    pub(crate) rate_limit: Option<RateLimit>,
    /// Who is told of the server's warnings. They are logged in any case. Default: nobody else.
    pub(crate) warning_handler: Option<WarningHandler>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl ClientOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Clock and randomness.
    pub fn ambient(&self) -> &Ambient {
        &self.ambient
    }

    /// Where requests are counted.
    pub fn metrics(&self) -> &Registry {
        &self.metrics
    }

    /// Each request's deadline.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The name that writes are attributed to.
    pub fn field_manager(&self) -> Option<&str> {
        self.field_manager.as_deref()
    }

    /// How often a request is tried again.
    pub fn retries(&self) -> u32 {
        self.retries
    }
}
