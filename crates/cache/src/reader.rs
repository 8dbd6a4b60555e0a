use std::sync::Arc;
use std::time::Duration;

use controller_runtime_scheme::{Kind, Object, ObjectKey};

use crate::cache::Cache;
use crate::error::CacheError;
use crate::query::ListQuery;
use crate::route::Route;

/// Reads one kind from the cache. Cloning is cheap.
///
/// The first read starts the kind's informer, and one that is removed is started anew; with
/// [`reads_start_informers`](crate::CacheOptions::reads_start_informers) off that is an error instead. A read waits for
/// the first list, and until the cache has seen what was written before through the
/// [`DelegatingClient`](crate::DelegatingClient); when nothing was, that costs two loads. All waits are bounded. Cancel
/// safe.
///
/// Of a kind with [`Bounds`](crate::Bounds) it reads what was read before, or else the server; lists are refused.
#[derive(Clone, Debug)]
pub struct Reader<K: Object> {
    cache: Cache,
    route: Arc<Route<K>>,
    within: Duration,
}

impl<K: Object> Reader<K> {
    pub(crate) fn new(cache: Cache, route: Arc<Route<K>>) -> Self {
        let within = cache.options().sync_timeout;
        Self { cache, route, within }
    }

    /// The kind that is read.
    pub fn kind(&self) -> &Kind<K> {
        self.route.kind()
    }

    /// The same reader, whose reads wait no longer than this for the first list, and, where that is there, for our own
    /// writes. Default: [`CacheOptions::sync_timeout`](crate::CacheOptions::sync_timeout) and
    /// [`CacheOptions::write_timeout`](crate::CacheOptions::write_timeout).
    #[must_use]
    pub fn with_timeout(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// One object. [`CacheError::NotFound`] when it does not exist, [`CacheError::Undecodable`] when it does and does
    /// not fit its type.
    pub async fn get(&self, key: impl Into<ObjectKey>) -> Result<Arc<K>, CacheError> {
        let key = key.into();
        match self.route.find(&self.cache, &key, self.within).await? {
            Some(object) => Ok(object),
            None => Err(CacheError::NotFound { kind: self.kind().to_string(), key }),
        }
    }

    /// One object; none when it does not exist. One that does not fit its type is [`CacheError::Undecodable`].
    pub async fn get_opt(&self, key: impl Into<ObjectKey>) -> Result<Option<Arc<K>>, CacheError> {
        self.route.find(&self.cache, &key.into(), self.within).await
    }

    /// The objects that match, by namespace, then name. An index that doesn't exist is an error. Of objects
    /// that don't fit their type it gives the last state that did, if there was one: one bad object doesn't stop
    /// controllers of the others.
    pub async fn list(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        self.route.list(&self.cache, query, self.within).await
    }
}
