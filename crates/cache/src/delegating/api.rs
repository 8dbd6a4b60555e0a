use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use controller_runtime_client::{Api, Client, ClientError, DeleteOptions, Deletion, Patch, Upsert};
use controller_runtime_scheme::{Kind, Object, ObjectKey};
use kube_core::object::HasStatus;

use crate::cache::Cache;
use crate::error::CacheError;
use crate::informer::Write;
use crate::query::ListQuery;
use crate::reader::Reader;

/// The verbs of a [`DelegatingClient`](crate::DelegatingClient) for the objects of one kind.
#[derive(Clone)]
pub struct DelegatingApi<K: Object> {
    reader: Reader<K>,
    api: Api<K>,
    cache: Cache,
    dry_run: bool,
}

impl<K: Object> DelegatingApi<K> {
    pub(super) fn new(reader: Reader<K>, api: Api<K>, cache: Cache, client: &Client) -> Self {
        Self { reader, api, cache, dry_run: client.is_dry_run() }
    }

    /// The kind of its objects.
    pub fn kind(&self) -> &Kind<K> {
        self.api.kind()
    }

    /// The verbs that read from the server, too.
    pub fn live(&self) -> &Api<K> {
        &self.api
    }

    /// See [`Reader::get`].
    pub async fn get(&self, key: impl Into<ObjectKey>) -> Result<Arc<K>, CacheError> {
        self.reader.get(key).await
    }

    /// See [`Reader::get_opt`].
    pub async fn get_opt(&self, key: impl Into<ObjectKey>) -> Result<Option<Arc<K>>, CacheError> {
        self.reader.get_opt(key).await
    }

    /// See [`Reader::list`].
    pub async fn list(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        self.reader.list(query).await
    }

    /// See [`Api::create`].
    pub async fn create(&self, object: &K) -> Result<K, CacheError> {
        self.wrote(self.api.create(object).await)
    }

    /// See [`Api::update`].
    pub async fn update(&self, object: &K) -> Result<K, CacheError> {
        self.wrote(self.api.update(object).await)
    }

    /// See [`Api::patch`].
    pub async fn patch(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, CacheError> {
        self.wrote(self.api.patch(key, patch).await)
    }

    /// See [`Api::apply`].
    pub async fn apply(&self, object: &K) -> Result<K, CacheError> {
        self.wrote(self.api.apply(object).await)
    }

    /// See [`Api::update_status`].
    pub async fn update_status(&self, object: &K) -> Result<K, CacheError> {
        self.wrote(self.api.update_status(object).await)
    }

    /// See [`Api::patch_status`].
    pub async fn patch_status(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, CacheError> {
        self.wrote(self.api.patch_status(key, patch).await)
    }

    /// See [`Api::apply_status`].
    pub async fn apply_status(&self, object: &K) -> Result<K, CacheError> {
        self.wrote(self.api.apply_status(object).await)
    }

    /// See [`Api::change_status`].
    pub async fn change_status(&self, object: &K, change: impl FnOnce(&mut K::Status)) -> Result<K, CacheError>
    where
        K: HasStatus<Status: Default>,
    {
        self.wrote(self.api.change_status(object, change).await)
    }

    /// See [`Api::change_status_of`].
    pub async fn change_status_of(&self, object: &K, change: impl FnOnce(&mut K)) -> Result<K, CacheError> {
        self.wrote(self.api.change_status_of(object, change).await)
    }

    /// See [`Api::create_or_update`].
    pub async fn create_or_update(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), CacheError> {
        let (object, done) = self.api.create_or_update(start, change).await?;
        Ok((self.wrote(Ok(object))?, done))
    }

    /// See [`Api::add_finalizer`].
    pub async fn add_finalizer(&self, object: &K, name: &str) -> Result<K, CacheError> {
        self.wrote(self.api.add_finalizer(object, name).await)
    }

    /// See [`Api::remove_finalizer`].
    pub async fn remove_finalizer(&self, object: &K, name: &str) -> Result<K, CacheError> {
        self.wrote(self.api.remove_finalizer(object, name).await)
    }

    /// See [`Api::delete`].
    pub async fn delete(&self, key: impl Into<ObjectKey>) -> Result<Deletion<K>, CacheError> {
        self.delete_with(key, &DeleteOptions::new()).await
    }

    /// See [`Api::delete_with`].
    pub async fn delete_with(
        &self,
        key: impl Into<ObjectKey>,
        options: &DeleteOptions,
    ) -> Result<Deletion<K>, CacheError> {
        let key = key.into();
        let deletion = self.api.delete_with(&key, options).await?;
        let gone = !deletion.is_pending();
        let version = match &deletion {
            Deletion::Object(object) => object.meta().resource_version.clone(),
            _ => None,
        };
        let labels = match &deletion {
            Deletion::Object(object) => object.meta().labels.clone().unwrap_or_default(),
            _ => BTreeMap::new(),
        };
        self.remember(&Write { key, uid: deletion.uid().map(str::to_owned), version, labels, gone });
        Ok(deletion)
    }

    /// Remembers a write for the reads after it.
    fn wrote(&self, result: Result<K, ClientError>) -> Result<K, CacheError> {
        let object = result?;
        let meta = object.meta();
        // The write that removes the last finalizer of an object that is being deleted removes the object.
        let unfinished = meta.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty())
            || meta.deletion_grace_period_seconds.unwrap_or_default() > 0
            || self.kind().name() == "Namespace";
        self.remember(&Write {
            key: ObjectKey::of(&object),
            uid: meta.uid.clone(),
            version: meta.resource_version.clone(),
            labels: meta.labels.clone().unwrap_or_default(),
            gone: meta.deletion_timestamp.is_some() && !unfinished,
        });
        Ok(object)
    }

    fn remember(&self, write: &Write) {
        if !self.dry_run {
            self.cache.wrote(self.kind().resource(), write);
        }
    }
}

impl<K: Object> fmt::Debug for DelegatingApi<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegatingApi").field("api", &self.api).finish_non_exhaustive()
    }
}
