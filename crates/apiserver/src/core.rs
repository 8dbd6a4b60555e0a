//! What one server's parts share.

use std::sync::{Arc, OnceLock};

use controller_runtime_ambient::Ambient;
use controller_runtime_metrics::{ApiServerMetrics, Registry as Metrics};
use jiff::Timestamp;

use crate::access::{Authorizer, TokenSigner};
use crate::admission::{AdmissionHook, WebhookServices};
use crate::openapi;
use crate::pipeline::authenticate::Authenticator;
use crate::registry::Registry;
use crate::store::{HistoryLimits, Store};
use crate::strategy::ServiceAddresses;

/// What the remembered past may take, in bytes of JSON.
const MAX_HISTORY_BYTES: usize = 64 << 20;

/// What all objects of one server may take together, in bytes of JSON: etcd's default quota.
const MAX_STORED_BYTES: usize = 2 << 30;

/// The state of one server, shared by its doors, verbs and controllers.
#[derive(Debug)]
pub(crate) struct Core {
    /// Clock, randomness, ids and task spawning.
    pub(crate) ambient: Ambient,
    /// Whose tokens are known.
    pub(crate) authenticator: Authenticator,
    /// Who decides what users may do.
    pub(crate) authorizer: Authorizer,
    /// Signs the tokens of service accounts.
    pub(crate) tokens: TokenSigner,
    /// Where webhooks are that name a service.
    pub(crate) webhook_services: WebhookServices,
    /// Set once what every server starts with is there: hooks don't see that.
    admission_hooks: OnceLock<Vec<AdmissionHook>>,
    /// What is served.
    pub(crate) registry: Registry,
    /// The OpenAPI documents of what is served.
    pub(crate) openapi: openapi::Documents,
    /// All objects.
    pub(crate) store: Arc<Store>,
    /// What `/metrics` shows.
    pub(crate) metrics: Metrics,
    /// Where requests are counted.
    pub(crate) counted: ApiServerMetrics,
    /// The cluster IPs and node ports of services.
    pub(crate) service_addresses: ServiceAddresses,
}

impl Core {
    /// The state of a new server that remembers so many events.
    pub(crate) fn new(
        ambient: Ambient,
        authenticator: Authenticator,
        authorizer: Authorizer,
        webhook_services: WebhookServices,
        history: usize,
    ) -> Self {
        let history = HistoryLimits { events: history, bytes: MAX_HISTORY_BYTES };
        let store = Arc::new(Store::new(history, MAX_STORED_BYTES));
        let metrics = Metrics::new();
        let counted = metrics.api_server();
        let objects = Arc::downgrade(&store);
        counted.count_objects(move || Some(objects.upgrade()?.sizes()));
        metrics.register_process();
        Self {
            metrics,
            counted,
            webhook_services,
            admission_hooks: OnceLock::new(),
            tokens: TokenSigner::default(),
            ambient,
            authenticator,
            authorizer,
            registry: Registry::new(),
            openapi: openapi::Documents::default(),
            store,
            service_addresses: ServiceAddresses::default(),
        }
    }

    /// The hooks of the process, in the order in which they are asked.
    pub(crate) fn admission_hooks(&self) -> &[AdmissionHook] {
        self.admission_hooks.get().map_or(&[], Vec::as_slice)
    }

    /// From now on these hooks are asked.
    pub(crate) fn install_hooks(&self, hooks: Vec<AdmissionHook>) {
        self.admission_hooks.get_or_init(|| hooks);
    }

    /// The current time as metadata has it.
    pub(crate) fn now(&self) -> String {
        timestamp(self.ambient.now())
    }
}

/// RFC 3339 in UTC, to the second.
pub(crate) fn timestamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
