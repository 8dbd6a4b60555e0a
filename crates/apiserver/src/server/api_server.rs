use std::sync::Arc;

use controller_runtime_ambient::TaskGroup;
use parking_lot::Mutex;
use tokio::net::TcpListener;

use super::builder::ApiServerBuilder;
use super::certificate::{Authority, Failure};
use super::connection::accept;
use super::door::Door;
use super::error::ListenError;
use super::in_process::InProcess;
use super::kubeconfig::{Credentials, kubeconfig};
use super::listen::{ListenOptions, Listener, Tls};
use super::request_log::RequestRecord;
use crate::access::{CertificateError, ClientAuthority, Identity};

/// A Kubernetes API server inside this process. [`ApiServer::builder`] makes one.
///
/// It is ready as soon as it exists. Requests come in through [`service`](Self::service), which involves no sockets
/// and no tasks, and through any number of listeners ([`listen`](Self::listen)). End it with
/// [`shutdown`](Self::shutdown); dropping it closes everything without waiting.
#[derive(Debug)]
pub struct ApiServer {
    door: Arc<Door>,
    tasks: TaskGroup,
    /// Made when the first TLS listener is asked for.
    authority: Mutex<Option<Arc<Authority>>>,
    /// Made when first needed, unless it was given.
    clients: Mutex<Option<Arc<ClientAuthority>>>,
}

impl ApiServer {
    /// Starts a builder with every setting at its default.
    pub fn builder() -> ApiServerBuilder {
        ApiServerBuilder::new()
    }

    pub(super) fn new(door: Arc<Door>, tasks: TaskGroup, clients: Option<Arc<ClientAuthority>>) -> Self {
        Self { door, tasks, authority: Mutex::default(), clients: Mutex::new(clients) }
    }

    /// The door for clients in this process. Requests without an `Authorization` header are the admin's.
    pub fn service(&self) -> InProcess {
        InProcess::new(Arc::clone(&self.door))
    }

    /// Opens one more listener, for HTTP/1.1 and HTTP/2. Over TLS a client may show a certificate of
    /// [`client_authority`](Self::client_authority). Requests without that and without an `Authorization` header are
    /// `system:anonymous`, who sees only health and version.
    ///
    /// Fails when the address can't be bound. Cancel safe: a listener that was not returned is closed.
    pub async fn listen(&self, options: ListenOptions) -> Result<Listener, ListenError> {
        let ListenOptions { addr, tls } = options;
        if self.door.stop.is_cancelled() {
            return Err(ListenError::Stopped { addr });
        }
        let bind = |source| ListenError::Bind { addr, source };
        let listener = TcpListener::bind(addr).await.map_err(bind)?;
        let local_addr = listener.local_addr().map_err(bind)?;
        let (acceptor, authority) = match tls {
            Tls::Off => (None, None),
            Tls::SelfSigned => {
                let certificate = |source| ListenError::Certificate { addr, source };
                let authority = self.authority().map_err(certificate)?;
                let clients = self.client_authority().map_err(|source| certificate(source.into()))?;
                (Some(authority.entrance(local_addr.ip(), &clients).map_err(certificate)?), Some(authority.pem()))
            }
        };
        self.tasks.spawn("listener", accept(Arc::clone(&self.door), listener, acceptor));
        Ok(Listener { local_addr, authority })
    }

    fn authority(&self) -> Result<Arc<Authority>, Failure> {
        let mut made = self.authority.lock();
        if let Some(authority) = &*made {
            return Ok(Arc::clone(authority));
        }
        let authority = Arc::new(Authority::generate()?);
        *made = Some(Arc::clone(&authority));
        Ok(authority)
    }

    /// Who signs the certificates of clients that the server's TLS listeners believe.
    pub fn client_authority(&self) -> Result<Arc<ClientAuthority>, CertificateError> {
        let mut made = self.clients.lock();
        if let Some(authority) = &*made {
            return Ok(Arc::clone(authority));
        }
        let authority = Arc::new(ClientAuthority::generate()?);
        *made = Some(Arc::clone(&authority));
        Ok(authority)
    }

    /// A kubeconfig (YAML) with which other programs reach `listener` as the admin, by token; everything in it is inline.
    pub fn kubeconfig(&self, listener: &Listener) -> String {
        kubeconfig(&listener.url(), listener.certificate_authority(), Credentials::Token(self.token()))
    }

    /// A kubeconfig (YAML) with which other programs reach `listener` as `user`, by a certificate that is made for it.
    /// Over plain HTTP nobody can show a certificate: the user is `system:anonymous` there.
    pub fn kubeconfig_as(&self, listener: &Listener, user: &Identity) -> Result<String, CertificateError> {
        let certificate = self.client_authority()?.issue(user)?;
        let credentials = Credentials::Certificate(&certificate);
        Ok(kubeconfig(&listener.url(), listener.certificate_authority(), credentials))
    }

    /// The admin's bearer token.
    pub fn token(&self) -> &str {
        self.door.core.authenticator.admin_token()
    }

    /// The requests that the server remembers, oldest first, whichever door they came through.
    pub fn request_log(&self) -> Vec<RequestRecord> {
        self.door.log.records()
    }

    /// Makes every revision before the newest too old, as etcd's compaction does: lists and watches that ask for one
    /// get 410 `Expired`. Watches that are open go on.
    pub fn compact(&self) {
        self.door.core.store.compact();
    }

    /// Stops the server: closes listeners, ends watches, lets requests in flight finish for at most two seconds, and
    /// waits for every task. Later requests through [`service`](Self::service) get 503. Calling it again does nothing.
    ///
    /// When the future is dropped, what has not ended yet is aborted.
    pub async fn shutdown(&self) {
        self.door.stop.cancel();
        self.tasks.shutdown().await;
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.door.stop.cancel();
    }
}
