use std::sync::Arc;

use controller_runtime_scheme::{Kind, Object, ObjectKey};

use crate::error::CacheError;
use crate::informer::{Informer, Phase};
use crate::query::ListQuery;

/// Reads one kind from the cache.
///
/// The first read starts the kind's informer and waits for its first list. Reads wait, too, until the cache has seen
/// what was written before through the [`DelegatingClient`](crate::DelegatingClient); when nothing was, that costs two
/// loads. All waits are bounded by [`CacheOptions`](crate::CacheOptions). Cancel safe.
#[derive(Clone, Debug)]
pub struct Reader<K: Object> {
    informer: Informer<K>,
}

impl<K: Object> Reader<K> {
    pub(crate) fn new(informer: Informer<K>) -> Self {
        Self { informer }
    }

    /// The kind that is read.
    pub fn kind(&self) -> &Kind<K> {
        self.informer.kind()
    }

    /// The informer below.
    pub fn informer(&self) -> &Informer<K> {
        &self.informer
    }

    /// One object. [`CacheError::NotFound`] when it does not exist, [`CacheError::Undecodable`] when it does and does
    /// not fit its type.
    pub async fn get(&self, key: impl Into<ObjectKey>) -> Result<Arc<K>, CacheError> {
        let key = key.into();
        match self.find(&key).await? {
            Some(object) => Ok(object),
            None => Err(CacheError::NotFound { kind: self.kind().to_string(), key }),
        }
    }

    /// One object; none when it does not exist. One that does not fit its type is [`CacheError::Undecodable`].
    pub async fn get_opt(&self, key: impl Into<ObjectKey>) -> Result<Option<Arc<K>>, CacheError> {
        self.find(&key.into()).await
    }

    async fn find(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, CacheError> {
        let namespaced = self.kind().is_namespaced();
        if namespaced != key.namespace.is_some() {
            return Err(CacheError::WrongScope { kind: self.kind().to_string(), key: key.clone(), namespaced });
        }
        self.ready(key.namespace.as_deref()).await?;
        if self.informer.shared.is_undecodable(key) {
            self.informer.shared.metrics.refused_read();
            return Err(CacheError::Undecodable { kind: self.kind().to_string(), key: key.clone() });
        }
        Ok(self.informer.get(key))
    }

    /// The objects that match, by namespace, then name. An index that doesn't exist is an error. Of objects
    /// that don't fit their type it gives the last state that did, if there was one: one bad object doesn't stop
    /// controllers of the others.
    pub async fn list(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        self.ready(query.namespace.as_deref()).await?;
        self.informer.list(query)
    }

    /// Waits until the cache can answer for the namespace (for everything, if none).
    async fn ready(&self, namespace: Option<&str>) -> Result<(), CacheError> {
        let shared = &self.informer.shared;
        if let Some(namespace) = namespace
            && !shared.scopes.iter().any(|scope| scope.covers(Some(namespace)))
        {
            let kind = shared.kind_name();
            return Err(CacheError::UnknownNamespace { kind, namespace: namespace.to_owned() });
        }
        if !shared.has_synced() {
            if shared.phase() == Phase::Waiting {
                return Err(CacheError::NotStarted { kind: shared.kind_name() });
            }
            shared.wait_for_sync(shared.options.sync_timeout).await?;
        }
        if !shared.is_caught_up(namespace) {
            shared.wait_for_writes(namespace).await?;
        }
        Ok(())
    }
}
