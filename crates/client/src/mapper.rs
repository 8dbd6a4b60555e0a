use std::sync::Arc;
use std::time::Duration;

use controller_runtime_scheme::{GroupVersionKind, Kind, Unstructured};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::client::Client;
use crate::discovery::{Served, resources_of};
use crate::error::ClientError;
use crate::transport::Transport;

/// How often the server is asked again, at most, because something is unknown.
const REFRESH_AFTER: Duration = Duration::from_secs(1);

/// A resource and the kind of its objects, as the server serves them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mapping {
    /// The kind, with its plural and scope.
    pub kind: Kind<Unstructured>,
    /// The resource's name for one object, for example `deployment`.
    pub singular: String,
    /// Its short names, for example `deploy`.
    pub short_names: Vec<String>,
    /// What can be done with it, as RBAC names it.
    pub verbs: Vec<String>,
    /// Its subresources, for example `status` and `scale`.
    pub subresources: Vec<String>,
}

/// Finds where kinds and resources are served, both ways, through the server's discovery documents.
///
/// Making one sends nothing. The first look-up asks the server twice (aggregated discovery, KEP-3352; more often where a
/// server has only legacy discovery), later ones answer from memory. A look-up of what is unknown asks again, because a
/// definition may have been installed meanwhile, at most once a second. Cloning is cheap; clones share what they
/// learn, and so do all mappers of one [`Client`] and its clones.
#[derive(Clone, Debug)]
pub struct RestMapper {
    transport: Arc<Transport>,
}

/// What discovery found, shared by the clones of a client.
#[derive(Debug)]
pub(crate) struct Discovered {
    served: Mutex<Option<(Instant, Arc<Served>)>>,
    /// The right to ask the server: one look-up at a time, the others wait for what it learns.
    refresh: Semaphore,
}

impl Default for Discovered {
    fn default() -> Self {
        Self { served: Mutex::new(None), refresh: Semaphore::new(1) }
    }
}

impl RestMapper {
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }

    /// Where a kind is served. One that the server does not serve is [`ClientError::UnknownKind`].
    pub async fn kind(&self, wanted: &GroupVersionKind) -> Result<Kind<Unstructured>, ClientError> {
        self.mapping(wanted).await.map(|mapping| mapping.kind)
    }

    /// Where a kind is served, and what can be done with it.
    pub async fn mapping(&self, wanted: &GroupVersionKind) -> Result<Mapping, ClientError> {
        let find = |served: &Served| {
            let version = served.versions(&wanted.group).iter().find(|version| version.name == wanted.version)?;
            version.resources.iter().find(|mapping| mapping.kind.name() == wanted.kind).cloned()
        };
        self.find(find).await?.ok_or_else(|| ClientError::UnknownKind { kind: Box::new(wanted.clone()) })
    }

    /// A kind in the group's preferred version that serves it.
    pub async fn preferred(&self, group: &str, kind: &str) -> Result<Kind<Unstructured>, ClientError> {
        let find = |served: &Served| {
            let mut mappings = served.versions(group).iter().flat_map(|version| &version.resources);
            mappings.find(|mapping| mapping.kind.name() == kind).map(|mapping| mapping.kind.clone())
        };
        let unknown = || GroupVersionKind::gvk(group, "*", kind);
        self.find(find).await?.ok_or_else(|| ClientError::UnknownKind { kind: Box::new(unknown()) })
    }

    /// The kind of a resource's objects. `resource` is its plural, singular or a short name; without a version the
    /// preferred one that serves it. One that the server does not serve is [`ClientError::UnknownResource`].
    pub async fn resource(&self, group: &str, version: Option<&str>, resource: &str) -> Result<Mapping, ClientError> {
        let find = |served: &Served| {
            let versions = served.versions(group).iter();
            let versions = versions.filter(|served| version.is_none_or(|wanted| served.name == wanted));
            let mappings: Vec<_> = versions.flat_map(|version| &version.resources).collect();
            // A short name may be another resource's plural; the plural wins.
            let by_plural = mappings.iter().find(|mapping| mapping.kind.resource().plural == resource);
            let by_name = || mappings.iter().find(|mapping| mapping.is_called(resource));
            by_plural.or_else(by_name).map(|mapping| (*mapping).clone())
        };
        self.find(find).await?.ok_or_else(|| ClientError::UnknownResource {
            resource: resource.to_owned(),
            group_version: GroupVersionKind::gvk(group, version.unwrap_or("*"), "").api_version(),
        })
    }

    /// Forgets everything: the next look-up asks the server.
    pub fn reset(&self) {
        *self.transport.discovered.served.lock() = None;
    }

    /// What `find` finds in what is known, or else in what the server says now.
    async fn find<T>(&self, find: impl Fn(&Served) -> Option<T>) -> Result<Option<T>, ClientError> {
        let known = || {
            let discovered = self.transport.discovered.served.lock().clone();
            discovered.map(|(since, served)| (since, find(&served)))
        };
        if let Some((_, Some(found))) = known() {
            return Ok(Some(found));
        }
        // It is never closed. Whoever holds it ends within the deadlines of its requests.
        let _turn = self.transport.discovered.refresh.acquire().await.ok();
        match known() {
            Some((_, Some(found))) => return Ok(Some(found)),
            Some((since, None)) if since.elapsed() < REFRESH_AFTER => return Ok(None),
            _ => {}
        }
        let served = Arc::new(Served::load(&self.transport).await?);
        let found = find(&served);
        *self.transport.discovered.served.lock() = Some((Instant::now(), served));
        Ok(found)
    }
}

impl Mapping {
    fn is_called(&self, name: &str) -> bool {
        self.singular == name || self.short_names.iter().any(|short| short == name)
    }
}

impl Client {
    /// Asks the server now whether and where it serves a kind: one request, nothing is remembered. A kind it does not
    /// serve is [`ClientError::UnknownKind`]. [`Client::mapper`] answers from memory.
    pub async fn discover(&self, wanted: &GroupVersionKind) -> Result<Kind<Unstructured>, ClientError> {
        let unknown = || ClientError::UnknownKind { kind: Box::new(wanted.clone()) };
        let resources = match resources_of(self.transport(), &wanted.group, &wanted.version).await {
            Err(error) if error.is_kind_not_served() || error.is_not_found() => return Err(unknown()),
            result => result?,
        };
        let mut kinds = resources.into_iter().map(|mapping| mapping.kind);
        kinds.find(|kind| kind.name() == wanted.kind).ok_or_else(unknown)
    }
}
