use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, CacheError, DelegatingClient};
use controller_runtime_controller::{AddError, Host, Runnable};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::builder::{Connection, ManagerBuilder, Settings};
use crate::endpoint::Health;
use crate::error::ManagerError;
use crate::health::Check;
use crate::health::watchdog::Heart;
use crate::runnable::{Groups, ShutdownReport};
use crate::server::Server;
use crate::shutdown::Shutdown;

/// How often it is looked whether a kind cannot be listed, while the cache syncs.
const SYNC_LOOK: Duration = Duration::from_millis(50);

/// Runs controllers, with what they share. Cloning is cheap; clones are one manager.
///
/// Its parts start [stage](controller_runtime_controller::Stage) by stage: servers, the cache, which has its first lists
/// before the next ones start, what every replica runs, warm-up, and controllers with whatever else only a leader may
/// run. At the stop those that do the program's work end first, then the cache, then the servers, so that a reconcile
/// that is ending still has its cache, and probes are answered to the last.
#[derive(Clone, Debug)]
pub struct Manager {
    inner: Arc<Inner>,
}

/// What a manager is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) ambient: Ambient,
    pub(crate) client: DelegatingClient,
    pub(crate) cache: Cache,
    pub(crate) metrics: Registry,
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) health: Health,
    /// What is to beat for the event loop's watchdog, and within which time.
    pub(crate) heart: Option<(Heart, Duration)>,
    pub(crate) servers: Vec<Server>,
    pub(crate) timing: Timing,
    pub(crate) concurrency: BTreeMap<String, usize>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) cache_sync: Duration,
    pub(crate) graceful: Option<Duration>,
}

#[derive(Debug)]
struct Inner {
    ambient: Ambient,
    client: DelegatingClient,
    cache: Cache,
    metrics: Registry,
    scheme: Arc<Scheme>,
    health: Health,
    addresses: Vec<(String, SocketAddr)>,
    timing: Timing,
    concurrency: BTreeMap<String, usize>,
    groups: Groups,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    names: BTreeSet<String>,
    phase: Phase,
    report: Option<ShutdownReport>,
}

#[derive(Debug)]
enum Phase {
    Built { servers: Vec<Server> },
    Running,
    Stopping,
}

impl Manager {
    /// A manager of the server that a configuration or a client leads to. Everything else has a default, and each
    /// option can be set once.
    pub fn builder(connection: impl Into<Connection>) -> ManagerBuilder {
        Settings::of(connection.into())
    }

    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { ambient, client, cache, metrics, scheme, health, heart, servers, timing, concurrency } = parts;
        let addresses = servers.iter().map(|server| (server.what.clone(), server.address())).collect();
        let groups = Groups::new(&ambient);
        if let Some((heart, bound)) = heart {
            groups.servers.add(Runnable::new("event-loop watchdog", move |token| async move {
                heart.beat(bound, token).await;
                Ok::<(), ManagerError>(())
            }));
        }
        let phase = Phase::Built { servers };
        let state = Mutex::new(State { names: BTreeSet::new(), phase, report: None });
        let inner =
            Inner { ambient, client, cache, metrics, scheme, health, addresses, timing, concurrency, groups, state };
        Self { inner: Arc::new(inner) }
    }

    /// Adds a check to `/healthz` and `/livez`, or replaces the one of its name. Without any there is `ping`, which
    /// passes.
    pub fn add_live_check(&self, name: &str, check: Check) {
        self.inner.health.live.add(name, check);
    }

    /// Adds a check to `/readyz`, or replaces the one of its name. Without any there is `ping`, which passes.
    pub fn add_ready_check(&self, name: &str, check: Check) {
        self.inner.health.ready.add(name, check);
    }

    /// Where health endpoints are served.
    pub fn health_address(&self) -> Option<SocketAddr> {
        self.address("health")
    }

    /// Where metrics are served.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.address("metrics")
    }

    /// Where `/debug/` is served.
    pub fn debug_address(&self) -> Option<SocketAddr> {
        self.address("debug")
    }

    fn address(&self, of: &str) -> Option<SocketAddr> {
        self.inner.addresses.iter().find(|(what, _)| what.contains(of)).map(|(_, address)| *address)
    }

    /// How the stop went; `None` before its end.
    pub fn shutdown_report(&self) -> Option<ShutdownReport> {
        self.inner.state.lock().report.clone()
    }

    /// Runs everything until `shutdown` says so or a part fails, and ends when all parts have ended. A manager starts
    /// once.
    ///
    /// Gives the error of the first part that failed or, when parts were still running at the end of the graceful
    /// time-out and were aborted, the report of them, unless nobody wanted to wait for them. Dropping the future aborts
    /// everything.
    pub async fn start(&self, shutdown: impl Into<Shutdown>) -> Result<(), ManagerError> {
        let mut shutdown = shutdown.into();
        let (inner, groups) = (&self.inner, &self.inner.groups);
        let servers = self.begin()?;
        let aborting = AbortOnDrop(groups);
        // Nothing that is added from its end on would be stopped.
        let closing = Closing(inner);
        let stop = tokio::select! {
            biased;
            stop = shutdown.wait() => stop,
            () = groups.failure.happened() => Ok("a part failed"),
            never = inner.run(servers) => match never {},
        };
        let reason = stop.as_ref().copied().unwrap_or("signals cannot be received");
        tracing::info!(reason, "stopping");
        drop(closing);
        let before = Instant::now();
        let still_running = tokio::select! {
            biased;
            still_running = groups.stop(inner.timing.graceful) => still_running,
            () = shutdown.exit_at_second() => Vec::new(),
        };
        drop(aborting);
        let report = ShutdownReport { reason, took: before.elapsed(), still_running };
        inner.state.lock().report = Some(report.clone());
        let in_time = report.still_running.is_empty();
        if in_time {
            tracing::info!("{report}");
        } else {
            tracing::error!("{report}");
        }
        match groups.failure.take().or(stop.err().map(ManagerError::Signals)) {
            Some(error) => Err(error),
            // Who doesn't want to wait isn't told that somebody was late.
            None if in_time || inner.timing.graceful.is_some_and(|timeout| timeout.is_zero()) => Ok(()),
            None => Err(ManagerError::GracefulTimeout { report }),
        }
    }

    /// From now on it has been started. Gives the servers.
    fn begin(&self) -> Result<Vec<Server>, ManagerError> {
        let mut state = self.inner.state.lock();
        match std::mem::replace(&mut state.phase, Phase::Running) {
            Phase::Built { servers } => Ok(servers),
            phase => {
                state.phase = phase;
                Err(ManagerError::AlreadyStarted)
            }
        }
    }
}

impl Inner {
    /// Starts all that was added, stage by stage. Never ends: what is added later starts at once.
    async fn run(&self, servers: Vec<Server>) -> Infallible {
        let groups = &self.groups;
        for server in servers {
            tracing::info!(address = %server.address(), "serving {}", server.what);
            let (ambient, name) = (self.ambient.clone(), format!("{} server", server.what));
            let server = Runnable::new(name, move |token| async move {
                server.run(ambient, token).await;
                Ok::<(), ManagerError>(())
            });
            groups.servers.add(server);
        }
        groups.servers.start();
        let cache = self.cache.clone();
        groups.caches.add(Runnable::new("cache", move |token| async move { cache.run(token).await }));
        groups.caches.start();
        self.caches_synced().await;
        groups.others.start();
        groups.warm_up.start();
        groups.leaders.start();
        std::future::pending().await
    }

    /// Waits until the cache has its first lists. A kind that cannot be listed holds up nobody: its controllers wait for
    /// it, and fail in their own time.
    async fn caches_synced(&self) {
        let deadline = Instant::now().checked_add(self.timing.cache_sync);
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let within = left.map_or(SYNC_LOOK, |left| left.min(SYNC_LOOK));
            match self.cache.wait_for_sync(within).await {
                Ok(()) => return,
                // The cache's task may not have run yet.
                Err(CacheError::NotStarted { .. }) => tokio::task::yield_now().await,
                Err(CacheError::SyncTimeout { last: None, .. }) if within == SYNC_LOOK => {}
                Err(error) => return tracing::warn!(%error, "starting before the cache is synced"),
            }
        }
    }
}

/// Aborts what still runs when the manager's future is dropped.
struct AbortOnDrop<'a>(&'a Groups);

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// From when it is dropped, nothing can be added: also when the manager's future is dropped while it runs.
struct Closing<'a>(&'a Inner);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state.lock().phase = Phase::Stopping;
    }
}

impl Host for Manager {
    fn ambient(&self) -> &Ambient {
        &self.inner.ambient
    }

    fn client(&self) -> &DelegatingClient {
        &self.inner.client
    }

    fn cache(&self) -> &Cache {
        &self.inner.cache
    }

    fn metrics(&self) -> &Registry {
        &self.inner.metrics
    }

    fn scheme(&self) -> &Scheme {
        &self.inner.scheme
    }

    fn concurrency_of(&self, group: &str, kind: &str) -> Option<usize> {
        let name = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        self.inner.concurrency.get(&name).copied()
    }

    fn add(&self, runnable: Runnable) -> Result<(), AddError> {
        let name = runnable.name().to_owned();
        let mut state = self.inner.state.lock();
        if matches!(state.phase, Phase::Stopping) {
            return Err(AddError::Stopping { name });
        }
        if !state.names.insert(name.clone()) {
            return Err(AddError::Duplicate { name });
        }
        self.inner.groups.add(runnable);
        Ok(())
    }
}
