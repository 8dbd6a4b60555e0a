use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, CacheOptions, DelegatingClient};
use controller_runtime_client::{Client, ClientOptions};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;

use crate::endpoint::{Endpoint, Health};
use crate::error::ManagerError;
use crate::manager::{Manager, Parts};
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

/// A manager in the making; see [`Manager::builder`].
#[derive(Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct ManagerBuilder {
    connection: Connection,
    client: ClientOptions,
    cache: CacheOptions,
    scheme: Scheme,
    health_address: String,
    metrics_address: String,
    graceful_timeout: Duration,
}

impl ManagerBuilder {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            client: ClientOptions::new(),
            cache: CacheOptions::new(),
            scheme: Scheme::new(),
            health_address: String::new(),
            metrics_address: String::new(),
            graceful_timeout: Duration::from_secs(30),
        }
    }

    /// Clock, randomness, ids and tasks; by default the machine's.
    pub fn ambient(mut self, ambient: Ambient) -> Self {
        self.client.ambient = ambient;
        self
    }

    /// The registry that the manager's metrics join; by default a new one.
    pub fn metrics(mut self, metrics: Registry) -> Self {
        self.client.metrics = metrics;
        self
    }

    /// The types that the program knows; by default none.
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// The name that writes are attributed to; by default each controller's own.
    pub fn field_manager(mut self, name: impl Into<String>) -> Self {
        self.client.field_manager = Some(name.into());
        self
    }

    /// Each request's deadline; by default 30 s.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.client.timeout = timeout;
        self
    }

    /// How the cache works, for example which namespaces it holds.
    pub fn cache(mut self, options: CacheOptions) -> Self {
        self.cache = options;
        self
    }

    /// Where `/healthz`, `/livez` and `/readyz` are served: `host:port`, or `:port` for all IPv4 addresses of the machine. By
    /// default, and with `""` or `"0"`, nowhere.
    pub fn health_address(mut self, address: impl Into<String>) -> Self {
        self.health_address = address.into();
        self
    }

    /// Where `/metrics` is served, without encryption; see [`ManagerBuilder::health_address`], which it may be equal to.
    pub fn metrics_address(mut self, address: impl Into<String>) -> Self {
        self.metrics_address = address.into();
        self
    }

    /// How long the manager's parts have to end after the stop before they are aborted; by default 30 s. With zero
    /// nobody is waited for, with [`Duration::MAX`] for as long as it takes.
    pub fn graceful_timeout(mut self, timeout: Duration) -> Self {
        self.graceful_timeout = timeout;
        self
    }

    /// The manager. Its sockets are bound, so that an address in use is an error now; nothing runs yet, and no request
    /// is made.
    pub async fn build(self) -> Result<Manager, ManagerError> {
        let (ambient, metrics) = (self.client.ambient.clone(), self.client.metrics.clone());
        let client = match self.connection {
            Connection::Config(config) => Client::from_config(*config, self.client)?,
            Connection::Client(client) => Client::new(client, self.client),
        };
        let cache = Cache::new(client.clone(), self.cache);
        let health = Health::default();
        let [health_address, metrics_address] = [&self.health_address, &self.metrics_address].map(|a| address(a));
        let mut endpoints = Vec::new();
        match (health_address, metrics_address) {
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
        let mut servers = Vec::new();
        for (what, address, endpoint) in endpoints {
            servers.push(Server::bind(what, address, endpoint).await?);
        }
        Ok(Manager::new(Parts {
            ambient,
            client: DelegatingClient::new(client, cache.clone()),
            cache,
            metrics,
            scheme: Arc::new(self.scheme),
            health,
            servers,
            graceful_timeout: self.graceful_timeout,
        }))
    }
}

/// What the operating system understands; none where nothing is to be served.
fn address(text: &str) -> Option<String> {
    match text {
        "" | "0" => None,
        text if text.starts_with(':') => Some(format!("0.0.0.0{text}")),
        text => Some(text.to_owned()),
    }
}
