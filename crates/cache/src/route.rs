use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use controller_runtime_scheme::{Kind, Object, ObjectKey};

use crate::bounded::Bounded;
use crate::cache::Cache;
use crate::error::CacheError;
use crate::informer::{Ask, Phase, Shared};
use crate::query::ListQuery;

/// Where reads of one kind go: to its informer, started when need be, or to its bounded cache.
#[derive(Debug)]
pub(crate) struct Route<K: Object> {
    kind: Kind<K>,
    bounded: Option<Arc<Bounded<K>>>,
    /// The informer that the last read used.
    known: ArcSwapOption<Shared<K>>,
}

impl<K: Object> Route<K> {
    pub(crate) fn new(kind: Kind<K>, bounded: Option<Arc<Bounded<K>>>) -> Self {
        Self { kind, bounded, known: ArcSwapOption::empty() }
    }

    pub(crate) fn kind(&self) -> &Kind<K> {
        &self.kind
    }

    fn informer(&self, cache: &Cache) -> Result<Arc<Shared<K>>, CacheError> {
        if let Some(known) = self.known.load_full()
            && known.progress.phase() != Phase::Removed
        {
            return Ok(known);
        }
        let shared = cache.informer_for_reads(&self.kind)?;
        self.known.store(Some(shared.clone()));
        Ok(shared)
    }

    pub(crate) async fn find(
        &self,
        cache: &Cache,
        key: &ObjectKey,
        within: Duration,
    ) -> Result<Option<Arc<K>>, CacheError> {
        let namespaced = self.kind.is_namespaced();
        // An empty namespace is none.
        let namespace = key.namespace.as_deref().filter(|namespace| !namespace.is_empty());
        if namespaced != namespace.is_some() || key.namespace.is_some() != namespace.is_some() {
            return Err(CacheError::WrongScope { kind: self.kind.to_string(), key: key.clone(), namespaced });
        }
        if let Some(bounded) = &self.bounded {
            self.known_namespace(namespace, || bounded.covers(namespace))?;
            return Ok(bounded.get(key).await?);
        }
        loop {
            let shared = self.informer(cache)?;
            match self.ready(&shared, Ask::Object(key), within).await {
                Err(CacheError::Removed { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) if shared.is_undecodable(key) => {
                    shared.metrics.refused_read();
                    return Err(CacheError::Undecodable { kind: self.kind.to_string(), key: key.clone() });
                }
                Ok(()) => {
                    let found = shared.store.get(key);
                    // What the cache learned meanwhile may be from before a write of ours.
                    if shared.shows_nothing_gone(Ask::Object(key)) {
                        return Ok(found);
                    }
                }
            }
        }
    }

    pub(crate) async fn list(
        &self,
        cache: &Cache,
        query: &ListQuery,
        within: Duration,
    ) -> Result<Vec<Arc<K>>, CacheError> {
        query.check_namespace(&self.kind)?;
        if self.bounded.is_some() {
            return Err(CacheError::ListRefused { kind: self.kind.to_string() });
        }
        loop {
            let shared = self.informer(cache)?;
            let ask = Ask::Objects(query.namespace.as_deref());
            match self.ready(&shared, ask, within).await {
                Err(CacheError::Removed { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    let found = shared.list(query);
                    if shared.shows_nothing_gone(ask) {
                        return found;
                    }
                }
            }
        }
    }

    /// Waits until the informer can answer.
    async fn ready(&self, shared: &Shared<K>, ask: Ask<'_>, within: Duration) -> Result<(), CacheError> {
        let namespace = ask.namespace();
        self.known_namespace(namespace, || namespace.is_none_or(|namespace| shared.covers(namespace)))?;
        if !shared.progress.has_synced() {
            if shared.progress.phase() == Phase::Waiting {
                return Err(CacheError::NotStarted { kind: self.kind.to_string() });
            }
            shared.progress.wait_for_sync(within).await?;
        }
        if !shared.is_caught_up(ask) {
            shared.wait_for_writes(ask, within).await?;
        }
        Ok(())
    }

    fn known_namespace(&self, namespace: Option<&str>, covered: impl FnOnce() -> bool) -> Result<(), CacheError> {
        match namespace {
            Some(namespace) if !covered() => {
                Err(CacheError::UnknownNamespace { kind: self.kind.to_string(), namespace: namespace.to_owned() })
            }
            _ => Ok(()),
        }
    }
}
