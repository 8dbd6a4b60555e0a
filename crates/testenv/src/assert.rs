use std::fmt;
use std::pin::pin;
use std::time::Duration;

use controller_runtime_scheme::{Kind, Object, ObjectKey};
use futures::TryStreamExt;
use kube_client::Api;
use kube_client::api::{ListParams, WatchParams};
use kube_core::WatchEvent;

use crate::error::Error;

const DEFAULT_WITHIN: Duration = Duration::from_secs(10);
/// Between the end of a watch and the next list.
const RELIST_AFTER: Duration = Duration::from_millis(50);

/// Waits for the state of one object: lists it, then watches it, so that no state between is missed for long and
/// nothing polls. Made by [`Environment::eventually`](crate::Environment::eventually).
///
/// All waits are cancel safe: dropping one ends its watch and nothing else.
#[derive(Clone)]
#[must_use = "it does nothing until one of its conditions is awaited"]
pub struct Eventually<K: Object> {
    client: kube_client::Client,
    kind: Kind<K>,
    key: ObjectKey,
    within: Duration,
}

impl<K: Object> Eventually<K> {
    /// For the object `key` of `kind`, as `client` sees it.
    pub fn new(client: kube_client::Client, kind: Kind<K>, key: impl Into<ObjectKey>) -> Self {
        Self { client, kind, key: key.into(), within: DEFAULT_WITHIN }
    }

    /// How long to wait; 10 seconds by default.
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Waits until the object exists.
    pub async fn exists(&self) -> Result<K, Error> {
        self.satisfies("exists", |_| true).await
    }

    /// Waits until the object doesn't exist.
    pub async fn is_gone(&self) -> Result<(), Error> {
        self.wait("is gone", |object| object.is_none()).await.map(drop)
    }

    /// Waits until the object exists and `condition` holds of it; returns that state. `name` says in the error what
    /// was waited for. Fails with [`Error::Timeout`], which shows the last state seen, or when a request fails.
    pub async fn satisfies(&self, name: &str, mut condition: impl FnMut(&K) -> bool) -> Result<K, Error> {
        match self.wait(name, |object| object.is_some_and(&mut condition)).await? {
            Some(object) => Ok(object),
            // `wait` returns only states that the condition held of.
            None => Err(self.timeout(name, None)),
        }
    }

    async fn wait(&self, name: &str, mut condition: impl FnMut(Option<&K>) -> bool) -> Result<Option<K>, Error> {
        let mut last = None;
        let watched = tokio::time::timeout(self.within, self.follow(&mut last, &mut condition)).await;
        match watched {
            Ok(Ok(())) => Ok(last),
            Ok(Err(source)) => Err(Error::request(format!("watch {} {}", self.kind.name(), self.key))(source)),
            Err(_) => Err(self.timeout(name, last.as_ref())),
        }
    }

    /// Keeps `last` at the object's state until `condition` holds of it.
    async fn follow(
        &self,
        last: &mut Option<K>,
        condition: &mut impl FnMut(Option<&K>) -> bool,
    ) -> Result<(), kube_client::Error> {
        let api = Api::<K>::all_with(self.client.clone(), self.kind.dynamic_type());
        let fields = self.fields();
        loop {
            let listed = api.list(&ListParams::default().fields(&fields)).await?;
            *last = listed.items.into_iter().next();
            if condition(last.as_ref()) {
                return Ok(());
            }
            let version = listed.metadata.resource_version.unwrap_or_default();
            let events = api.watch(&WatchParams::default().fields(&fields), &version).await?;
            let mut events = pin!(events);
            while let Some(event) = events.try_next().await? {
                match event {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => *last = Some(object),
                    WatchEvent::Deleted(_) => *last = None,
                    WatchEvent::Bookmark(_) => continue,
                    // The version expired, or the server ends the watch: list again.
                    WatchEvent::Error(_) => break,
                }
                if condition(last.as_ref()) {
                    return Ok(());
                }
            }
            tokio::time::sleep(RELIST_AFTER).await;
        }
    }

    fn fields(&self) -> String {
        let name = &self.key.name;
        match &self.key.namespace {
            Some(namespace) => format!("metadata.name={name},metadata.namespace={namespace}"),
            None => format!("metadata.name={name}"),
        }
    }

    fn timeout(&self, condition: &str, last: Option<&K>) -> Error {
        let shown = last.map(|object| serde_json::to_string(object).unwrap_or_else(|error| error.to_string()));
        Error::Timeout {
            object: format!("{} {}", self.kind.name(), self.key),
            condition: condition.to_owned(),
            after: self.within,
            last: shown.unwrap_or_else(|| "no such object".to_owned()),
        }
    }
}

impl<K: Object> fmt::Debug for Eventually<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eventually")
            .field("kind", &self.kind.name())
            .field("key", &self.key)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}
