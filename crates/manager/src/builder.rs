use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, CacheOptions, DelegatingClient};
use controller_runtime_client::{Client, ClientOptions, FieldValidation, RateLimit, WarningHandler};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;

use crate::door::Door;
use crate::endpoint::{Debug, Endpoint, Health, Scrapes};
use crate::error::ManagerError;
use crate::health::watchdog::{self, Heart};
use crate::logs::LogHandle;
use crate::manager::{Manager, Parts, Timing};
use crate::security::{Access, Gate, Tls};
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
    /// What the server does about unknown or duplicate fields of what is written; by default it warns.
    field_validation: Option<FieldValidation>,
    /// How many requests, watches aside, are under way at most; by default 100.
    concurrent_requests: Option<usize>,
    /// How many requests are sent per second; by default as many as the server takes.
    rate_limit: Option<RateLimit>,
    /// Who is told of the server's warnings, which are logged in any case; by default nobody else.
    warning_handler: Option<WarningHandler>,
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
    /// Where `/metrics` is served; written as the health address, which it may be equal to. Anybody who reaches it may
    /// read it, without encryption, unless `metrics_tls` and `metrics_access` say otherwise.
    #[builder(default)]
    metrics_address: String,
    /// Encrypts the server of `/metrics`, with what else is served at its address. By default it is not encrypted.
    metrics_tls: Option<Tls>,
    /// Who may read `/metrics`; by default everybody.
    metrics_access: Option<Access>,
    /// Whether reconciles are shown under short names, too: `reconcile_total` and `reconcile_duration_seconds`. By default
    /// they are not.
    #[builder(default)]
    short_metric_names: bool,
    /// Where `/debug/` is served, for the program's operators: the log level (with `log_handle`) and, with the feature
    /// `profiling`, `/debug/pprof/profile`. By default, and with `""` or `"0"`, nowhere. Who reaches it can fill the logs
    /// and use CPU time: take an address such as `127.0.0.1:6060`.
    #[builder(default)]
    debug_address: String,
    /// Lets `/debug/log` show (GET) and change (PUT) which logs the program writes, in the way that `RUST_LOG` says it. By
    /// default nobody can over the network.
    log_handle: Option<LogHandle>,
    /// Lets `/livez` fail, by its check `event-loop`, when the program's event loop has not turned for so long: it is
    /// starved, or what blocks without an await holds all its threads. Such a program often answers no probe at all, which
    /// whoever probes takes for a failure, too. By default it isn't looked for; a minute is a good choice.
    event_loop_watchdog: Option<Duration>,
    /// Lets `/livez` fail, by its check `workers`, when a controller has been at one object for so long; choose more than
    /// the longest reconcile takes. By default it isn't looked for.
    worker_watchdog: Option<Duration>,
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
        self.metrics.register_process();
        if self.short_metric_names {
            self.metrics.register_short_names();
        }
        let options = ClientOptions::builder()
            .ambient(self.ambient.clone())
            .metrics(self.metrics.clone())
            .timeout(self.request_timeout)
            .maybe_field_manager(self.field_manager)
            .maybe_field_validation(self.field_validation)
            .maybe_concurrent_requests(self.concurrent_requests)
            .maybe_rate_limit(self.rate_limit)
            .maybe_warning_handler(self.warning_handler)
            .build();
        let client = match self.connection {
            Connection::Config(config) => Client::from_config(*config, options)?,
            Connection::Client(client) => Client::new(client, options),
        };
        let cache = Cache::new(client.clone(), self.cache);
        let health = Health::default();
        let heart = self.event_loop_watchdog.map(|bound| (Heart::default(), bound));
        if let Some((heart, bound)) = &heart {
            health.live.add("event-loop", heart.check(*bound));
        }
        if let Some(bound) = self.worker_watchdog {
            health.live.add("workers", watchdog::workers(&self.metrics, bound));
        }
        let gate = self.metrics_access.map(|access| Gate::new(access, &client));
        let scrapes = Scrapes { registry: self.metrics.clone(), gate };
        let debug = Debug { logs: self.log_handle };
        let healthy = Endpoint { health: Some(health.clone()), ..Endpoint::default() };
        let measured = Endpoint { scrapes: Some(scrapes), ..Endpoint::default() };
        let debugged = Endpoint { debug: Some(debug), ..Endpoint::default() };
        let wanted = [
            ("health", self.health_address, healthy, None),
            ("metrics", self.metrics_address, measured, self.metrics_tls),
            ("debug", self.debug_address, debugged, None),
        ];
        let mut servers = Vec::new();
        for door in Door::of(wanted) {
            servers.push(Server::bind(door).await?);
        }
        Ok(Manager::new(Parts {
            ambient: self.ambient,
            client: DelegatingClient::new(client, cache.clone()),
            cache,
            metrics: self.metrics,
            scheme: Arc::new(self.scheme),
            health,
            heart,
            servers,
            timing: Timing { cache_sync: self.cache_sync_timeout, graceful: self.graceful_timeout },
            concurrency: self.concurrency,
        }))
    }
}
