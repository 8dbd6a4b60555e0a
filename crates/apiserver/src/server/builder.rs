use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller_runtime_ambient::{Ambient, CancellationToken, TaskGroup};
use http::{Request, Response};
use http_body_util::Full;

use super::api_server::ApiServer;
use super::audit_id::AuditIds;
use super::door::Door;
use super::request_log::RequestLog;
use crate::access::{Authorizer, ClientAuthority, Identity};
use crate::admission::{AdmissionHook, InProcessWebhooks, WebhookBackend, WebhookService, WebhookServices};
use crate::bootstrap::bootstrap;
use crate::controllers::{garbage_collection, namespace_deletion, role_aggregation};
use crate::core::Core;
use crate::pipeline::authenticate::{Authenticator, random_token};

/// What an [`ApiServer`] is made of; [`ApiServer::builder`] starts one.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ApiServerBuilder {
    ambient: Option<Ambient>,
    admin_token: Option<String>,
    users: BTreeMap<String, Identity>,
    request_log: usize,
    history: usize,
    garbage_collection: bool,
    namespace_deletion: bool,
    namespace_deletion_delay: Duration,
    rbac: bool,
    webhook_services: WebhookServices,
    clients: Option<Arc<ClientAuthority>>,
    admission_hooks: Vec<AdmissionHook>,
}

impl ApiServerBuilder {
    pub(super) fn new() -> Self {
        Self {
            ambient: None,
            admin_token: None,
            users: BTreeMap::new(),
            request_log: 10_000,
            history: 10_000,
            garbage_collection: true,
            namespace_deletion: true,
            namespace_deletion_delay: Duration::ZERO,
            rbac: false,
            webhook_services: WebhookServices::new(),
            clients: None,
            admission_hooks: Vec::new(),
        }
    }

    /// Clock, randomness, ids and task spawning. Default: the machine's.
    pub fn ambient(mut self, ambient: Ambient) -> Self {
        self.ambient = Some(ambient);
        self
    }

    /// The token of the admin, who may do everything. Default: a random one; see [`ApiServer::token`].
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.admin_token = Some(token.into());
        self
    }

    /// One more token and the user it stands for. Without [`rbac`](Self::rbac) every user with a token may do everything;
    /// `system:authenticated` is added to the groups. Default: none.
    pub fn user(mut self, token: impl Into<String>, user: Identity) -> Self {
        self.users.insert(token.into(), user);
        self
    }

    /// Whose client certificates TLS listeners believe. Default: those of an authority of the server's own; see
    /// [`ApiServer::client_authority`].
    pub fn client_authority(mut self, authority: ClientAuthority) -> Self {
        self.clients = Some(Arc::new(authority));
        self
    }

    /// How many requests the server remembers for [`ApiServer::request_log`]; beyond it, or beyond 64 MiB of bodies,
    /// the oldest are forgotten. Default: 10 000.
    pub fn request_log(mut self, requests: usize) -> Self {
        self.request_log = requests;
        self
    }

    /// How many writes the server remembers for lists and watches of older revisions; what is older gets 410 `Expired`.
    /// Independent of it, the past takes 64 MiB at most. Default: 10 000.
    pub fn history(mut self, writes: usize) -> Self {
        self.history = writes;
        self
    }

    /// Whether objects go when their owners are gone, as where kube-controller-manager runs. Without it, as with a bare
    /// kube-apiserver, they stay, and deletes that wait for dependents or orphan them are never done. Default: true.
    pub fn garbage_collection(mut self, on: bool) -> Self {
        self.garbage_collection = on;
        self
    }

    /// Whether a deleted namespace is emptied and goes, as where kube-controller-manager runs. Without it, it stays
    /// `Terminating`. Default: true.
    pub fn namespace_deletion(mut self, on: bool) -> Self {
        self.namespace_deletion = on;
        self
    }

    /// How long a deleted namespace stays as it is before it is emptied. kube-controller-manager waits five seconds, for
    /// the caches of other servers to catch up. Default: not at all.
    pub fn namespace_deletion_delay(mut self, delay: Duration) -> Self {
        self.namespace_deletion_delay = delay;
        self
    }

    /// Whether roles and their bindings decide what users may do, as with `--authorization-mode=RBAC`; the default roles
    /// then exist, and aggregated roles are filled as where kube-controller-manager runs. Without it everybody with a
    /// token may do everything. Default: false.
    pub fn rbac(mut self, on: bool) -> Self {
        self.rbac = on;
        self
    }

    /// Where the webhooks are of a configuration that names a service, because there is no network of a cluster: they are
    /// called there, with the service's name in TLS. Default: none; calls of other services fail.
    pub fn webhook_service(mut self, service: WebhookService, address: SocketAddr) -> Self {
        self.webhook_services.insert(service, WebhookBackend::Address(address));
        self
    }

    /// The same for webhooks of this process: requests are given to `webhooks`, such as an `axum::Router`, without a
    /// connection and certificates. An error of the service is a webhook that can't be called.
    pub fn webhook_service_in_process<S, B>(mut self, service: WebhookService, webhooks: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Display,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let backend = WebhookBackend::InProcess(InProcessWebhooks::new(webhooks));
        self.webhook_services.insert(service, backend);
        self
    }

    /// One more hook that is asked about writes. Default: none. What every server starts with (namespaces, the service
    /// `kubernetes`, default roles) isn't shown to it.
    pub fn admission(mut self, hook: AdmissionHook) -> Self {
        self.admission_hooks.push(hook);
        self
    }

    /// Makes the server. It is ready at once: no input or output happens here.
    ///
    /// # Panics
    /// Outside of a tokio runtime, on which its controllers run, unless all are switched off.
    pub fn build(self) -> ApiServer {
        let ambient = self.ambient.unwrap_or_default();
        let admin_token = self.admin_token.unwrap_or_else(|| random_token(&ambient));
        let stop = CancellationToken::new();
        let tasks = TaskGroup::new(&ambient, &stop);
        let authorizer = if self.rbac { Authorizer::Rbac } else { Authorizer::AlwaysAllow };
        let authenticator = Authenticator::new(admin_token, self.users);
        let core = Arc::new(Core::new(ambient, authenticator, authorizer, self.webhook_services, self.history));
        bootstrap(&core);
        core.install_hooks(self.admission_hooks);
        let door =
            Arc::new(Door { core, log: RequestLog::new(self.request_log), audit_ids: AuditIds::default(), stop });
        if self.garbage_collection {
            tasks.spawn("garbage collection", garbage_collection(Arc::clone(&door), tasks.token().clone()));
        }
        if self.namespace_deletion {
            tasks.spawn(
                "namespace deletion",
                namespace_deletion(Arc::clone(&door), self.namespace_deletion_delay, tasks.token().clone()),
            );
        }
        if self.rbac {
            tasks.spawn("role aggregation", role_aggregation(Arc::clone(&door), tasks.token().clone()));
        }
        ApiServer::new(door, tasks, self.clients)
    }
}
