use std::net::{Ipv4Addr, SocketAddr};

use controller_runtime_apiserver::{ApiServer, ApiServerBuilder, Identity, ListenOptions, Listener, Tls};
use kube_client::Client;
use kube_client::config::Kubeconfig;
use tokio::sync::OnceCell;

use super::backend::Door;
use super::existing::client_of;
use crate::error::Error;

/// A server inside this process.
#[derive(Debug)]
pub(crate) struct Embedded {
    server: ApiServer,
    /// For other programs; opened when first asked for.
    https: OnceCell<Listener>,
    /// The client's own door, where that is plain HTTP.
    http: OnceCell<Listener>,
}

impl Embedded {
    pub(crate) async fn start(server: ApiServerBuilder, door: Door) -> Result<(Client, Self), Error> {
        let embedded = Self { server: server.build(), https: OnceCell::new(), http: OnceCell::new() };
        let client = match door {
            Door::InProcess => Client::new(embedded.server.service(), "default"),
            Door::Http => {
                let listener = embedded.http.get_or_try_init(|| embedded.listen(Tls::Off)).await?;
                client_of(ORIGIN, embedded.kubeconfig_of(listener)?).await?
            }
            Door::Https => client_of(ORIGIN, embedded.kubeconfig().await?).await?,
        };
        Ok((client, embedded))
    }

    pub(crate) fn server(&self) -> &ApiServer {
        &self.server
    }

    pub(crate) async fn kubeconfig(&self) -> Result<Kubeconfig, Error> {
        let listener = self.https.get_or_try_init(|| self.listen(Tls::SelfSigned)).await?;
        self.kubeconfig_of(listener)
    }

    /// The kubeconfig of a user who shows a certificate.
    pub(crate) async fn kubeconfig_as(&self, user: &Identity) -> Result<Kubeconfig, Error> {
        let listener = self.https.get_or_try_init(|| self.listen(Tls::SelfSigned)).await?;
        let text = self.server.kubeconfig_as(listener, user);
        parsed(&text.map_err(|source| Error::Certificate { source: Box::new(source) })?)
    }

    pub(crate) async fn stop(self) {
        self.server.shutdown().await;
    }

    async fn listen(&self, tls: Tls) -> Result<Listener, Error> {
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listening = self.server.listen(ListenOptions { addr, tls }).await;
        listening.map_err(|source| Error::Listen { source: Box::new(source) })
    }

    fn kubeconfig_of(&self, listener: &Listener) -> Result<Kubeconfig, Error> {
        parsed(&self.server.kubeconfig(listener))
    }
}

const ORIGIN: &str = "of the embedded API server";

fn parsed(text: &str) -> Result<Kubeconfig, Error> {
    Kubeconfig::from_yaml(text)
        .map_err(|source| Error::Kubeconfig { origin: ORIGIN.to_owned(), source: Box::new(source) })
}
