use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, CacheOptions, DelegatingClient};
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;

use crate::endpoint::{Endpoint, Health};
use crate::error::ManagerError;
use crate::manager::{Manager, Parts, Timing};
use crate::server::Server;

/// How a manager reaches its API server.
#[derive(Clone)]
#[non_exhaustive]
pub enum Connection {
    /// As a configuration says: from a kubeconfig or from inside a cluster.
    Config(Box<kube_client::Config>),
    /// Through a client that is there, for example of a server in this process.
    Client(kube_client::Client),
}

impl From<kube_client::Config> for Connection {
    fn from(config: kube_client::Config) -> Self {
        Self::Config(Box::new(config))
    }
}

impl From<kube_client::Client> for Connection {
    fn from(client: kube_client::Client) -> Self {
        Self::Client(client)
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(config) => f.debug_tuple("Config").field(&config.cluster_url).finish(),
            Self::Client(_) => f.debug_tuple("Client").finish_non_exhaustive(),
        }
    }
}

/// `None`: for ever. An alias, so that the builder doesn't take a `None` for "not set".
type TimeOut = Option<Duration>;

/// What a manager is to be; see [`Manager::builder`].
#[derive(bon::Builder)]
#[builder(
    builder_type(
        name = ManagerBuilder,
        vis = "pub",
        doc {
            /// A manager in the making; see [`Manager::builder`](crate::Manager::builder).
        }
    ),
    start_fn(name = of, vis = "pub(crate)"),
    finish_fn(name = settings, vis = "pub(crate)"),
    state_mod(name = manager_builder, vis = "pub(crate)"),
    on(String, into)
)]
pub(crate) struct Settings {
    #[builder(start_fn)]
    connection: Connection,
    /// Clock, randomness, ids and tasks; by default the machine's.
    #[builder(default)]
    ambient: Ambient,
    /// The registry that the manager's metrics join; by default a new one.
    #[builder(default)]
    metrics: Registry,
    /// The types that the program knows; by default none.
    #[builder(default)]
    scheme: Scheme,
    /// The name that writes are attributed to; by default each controller's own.
    field_manager: Option<String>,
    /// Each request's deadline; by default 30 s.
    #[builder(default = Duration::from_secs(30))]
    request_timeout: Duration,
    /// How the cache works, for example which namespaces it holds.
    #[builder(default)]
    cache: CacheOptions,
    /// How long the start waits for the cache's first lists before it goes on without; by default 2 minutes. It goes on
    /// at once when a kind cannot be listed.
    #[builder(default = Duration::from_mins(2))]
    cache_sync_timeout: Duration,
    /// Where `/healthz`, `/livez` and `/readyz` are served: `host:port`, or `:port` for all IPv4 addresses of the machine.
    /// By default, and with `""` or `"0"`, nowhere.
    #[builder(default)]
    health_address: String,
    /// Where `/metrics` is served, without encryption; written as the health address, which it may be equal to.
    #[builder(default)]
    metrics_address: String,
    /// How long the manager's parts have to end after the stop before they are aborted; by default 30 s. With zero nobody
    /// is waited for, with `None` everybody for as long as it takes.
    #[builder(default = Some(Duration::from_secs(30)), with = |timeout: impl Into<Option<Duration>>| timeout.into())]
    graceful_timeout: TimeOut,
    /// How many objects of a kind may be reconciled at a time by a controller that doesn't say so itself. Kinds are
    /// written `Kind.group`, for example `Deployment.apps`, those of the core group without the group. By default 1 each.
    #[builder(default, with = |kinds: impl IntoIterator<Item = (impl Into<String>, usize)>| {
        kinds.into_iter().map(|(kind, reconciles)| (kind.into(), reconciles)).collect()
    })]
    concurrency: BTreeMap<String, usize>,
}

impl<S: manager_builder::IsComplete> ManagerBuilder<S> {
    /// The manager. Its sockets are bound, so that an address in use is an error now; nothing runs yet, and no request
    /// is made.
    pub async fn build(self) -> Result<Manager, ManagerError> {
        self.settings().build().await
    }
}

impl Settings {
    async fn build(self) -> Result<Manager, ManagerError> {
        let options = ClientOptions::builder()
            .ambient(self.ambient.clone())
            .metrics(self.metrics.clone())
            .timeout(self.request_timeout)
            .maybe_field_manager(self.field_manager)
            .build();
        let client = match self.connection {
            Connection::Config(config) => Client::from_config(*config, options)?,
            Connection::Client(client) => Client::new(client, options),
        };
        let cache = Cache::new(client.clone(), self.cache);
        let health = Health::default();
        let mut servers = Vec::new();
        for (what, address, endpoint) in endpoints(&self.health_address, &self.metrics_address, &health, &self.metrics)
        {
            servers.push(Server::bind(what, address, endpoint).await?);
        }
        Ok(Manager::new(Parts {
            ambient: self.ambient,
            client: DelegatingClient::new(client, cache.clone()),
            cache,
            metrics: self.metrics,
            scheme: Arc::new(self.scheme),
            health,
            servers,
            timing: Timing { cache_sync: self.cache_sync_timeout, graceful: self.graceful_timeout },
            concurrency: self.concurrency,
        }))
    }
}

/// What is to be served where. One address can serve both.
fn endpoints(
    for_health: &str,
    for_metrics: &str,
    health: &Health,
    metrics: &Registry,
) -> Vec<(&'static str, String, Endpoint)> {
    let mut endpoints = Vec::new();
    match (address(for_health), address(for_metrics)) {
        (Some(both), Some(same)) if both == same && !both.ends_with(":0") => {
            let endpoint = Endpoint { health: Some(health.clone()), metrics: Some(metrics.clone()) };
            endpoints.push(("health and metrics", both, endpoint));
        }
        (for_health, for_metrics) => {
            let endpoint = Endpoint { health: Some(health.clone()), metrics: None };
            endpoints.extend(for_health.map(|address| ("health", address, endpoint)));
            let endpoint = Endpoint { health: None, metrics: Some(metrics.clone()) };
            endpoints.extend(for_metrics.map(|address| ("metrics", address, endpoint)));
        }
    }
    endpoints
}

/// What the operating system understands; none where nothing is to be served.
fn address(text: &str) -> Option<String> {
    match text {
        "" | "0" => None,
        text if text.starts_with(':') => Some(format!("0.0.0.0{text}")),
        text => Some(text.to_owned()),
    }
}
