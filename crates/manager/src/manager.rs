use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::Ambient;
use controller_runtime_cache::{Cache, DelegatingClient};
use controller_runtime_controller::{AddError, Host, Runnable};
use controller_runtime_metrics::Registry;
use controller_runtime_scheme::Scheme;
use parking_lot::Mutex;

use crate::builder::{Connection, ManagerBuilder};
use crate::endpoint::Health;
use crate::error::ManagerError;
use crate::health::Check;
use crate::runnable::{Group, Groups};
use crate::server::Server;
use crate::shutdown::Shutdown;

/// Runs controllers, with what they share. Cloning is cheap; clones are one manager.
///
/// Its parts start in this order: HTTP servers, the cache, controllers and other runnables. They stop in the reverse
/// order, each group when the one before it has ended, so that a reconcile that is ending still has its cache, and
/// probes are answered to the last.
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
    pub(crate) servers: Vec<Server>,
    pub(crate) graceful_timeout: Duration,
}

#[derive(Debug)]
struct Inner {
    ambient: Ambient,
    client: DelegatingClient,
    cache: Cache,
    metrics: Registry,
    scheme: Arc<Scheme>,
    health: Health,
    addresses: Vec<(&'static str, SocketAddr)>,
    graceful_timeout: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    names: BTreeSet<String>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Built { servers: Vec<Server>, runnables: Vec<Runnable> },
    Running(Group),
    Stopping,
}

impl Manager {
    /// A manager of the server that a configuration or a client leads to.
    pub fn builder(connection: impl Into<Connection>) -> ManagerBuilder {
        ManagerBuilder::new(connection.into())
    }

    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { ambient, client, cache, metrics, scheme, health, servers, graceful_timeout } = parts;
        let addresses = servers.iter().map(|server| (server.what, server.address())).collect();
        let phase = Phase::Built { servers, runnables: Vec::new() };
        let state = Mutex::new(State { names: BTreeSet::new(), phase });
        let inner = Inner { ambient, client, cache, metrics, scheme, health, addresses, graceful_timeout, state };
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

    fn address(&self, of: &str) -> Option<SocketAddr> {
        self.inner.addresses.iter().find(|(what, _)| what.contains(of)).map(|(_, address)| *address)
    }

    /// Runs everything until `shutdown` says so or a part fails, and ends when all parts have ended. A manager starts
    /// once.
    ///
    /// Gives the error of the first part that failed or, when parts were still running at the end of the graceful
    /// time-out and were aborted, their names. Dropping the future aborts everything.
    pub async fn start(&self, shutdown: impl Into<Shutdown>) -> Result<(), ManagerError> {
        let mut shutdown = shutdown.into();
        let groups = self.launch()?;
        // Nothing that is added from then on would be stopped.
        let closing = Closing(&self.inner);
        let stop = tokio::select! {
            biased;
            stop = shutdown.wait() => stop,
            () = groups.failure.happened() => Ok("a part failed"),
        };
        let reason = stop.as_ref().copied().unwrap_or("signals cannot be received");
        tracing::info!(reason, "stopping");
        drop(closing);
        let after = self.inner.graceful_timeout;
        let late = tokio::select! {
            biased;
            late = groups.stop(after) => late,
            () = shutdown.exit_at_second() => Vec::new(),
        };
        match groups.failure.take().or(stop.err().map(ManagerError::Signals)) {
            Some(error) => Err(error),
            // Who doesn't want to wait isn't told that somebody was late.
            None if late.is_empty() || after.is_zero() => Ok(()),
            None => Err(ManagerError::GracefulTimeout { names: late, after }),
        }
    }

    /// Starts all that was added, in order.
    fn launch(&self) -> Result<Groups, ManagerError> {
        let inner = &self.inner;
        let groups = Groups::new(&inner.ambient);
        let mut state = inner.state.lock();
        if !matches!(state.phase, Phase::Built { .. }) {
            return Err(ManagerError::AlreadyStarted);
        }
        let running = Phase::Running(groups.others.clone());
        let Phase::Built { servers, runnables } = std::mem::replace(&mut state.phase, running) else {
            return Err(ManagerError::AlreadyStarted);
        };
        for server in servers {
            tracing::info!(address = %server.address(), "serving {}", server.what);
            let (ambient, name) = (inner.ambient.clone(), format!("{} server", server.what));
            groups.servers.start(Runnable::new(name, move |token| async move {
                server.run(ambient, token).await;
                Ok::<(), ManagerError>(())
            }));
        }
        let cache = inner.cache.clone();
        groups.caches.start(Runnable::new("cache", move |token| async move { cache.run(token).await }));
        for runnable in runnables {
            groups.others.start(runnable);
        }
        Ok(groups)
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

    fn add(&self, runnable: Runnable) -> Result<(), AddError> {
        let name = runnable.name().to_owned();
        let mut state = self.inner.state.lock();
        if matches!(state.phase, Phase::Stopping) {
            return Err(AddError::Stopping { name });
        }
        if !state.names.insert(name.clone()) {
            return Err(AddError::Duplicate { name });
        }
        match &mut state.phase {
            Phase::Built { runnables, .. } => runnables.push(runnable),
            Phase::Running(others) => others.start(runnable),
            Phase::Stopping => {}
        }
        Ok(())
    }
}
