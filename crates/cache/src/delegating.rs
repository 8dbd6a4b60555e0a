mod api;
mod in_flight;

use std::sync::Arc;

use controller_runtime_client::{
    Classify, Client, ClientError, DeleteOptions, Deletion, FinalizeError, Finalized, Finalizers, ListOptions, Patch,
    Upsert,
};
use controller_runtime_scheme::{Kind, Object, ObjectKey, TypedObject};
use kube_core::object::HasStatus;

use crate::cache::Cache;
use crate::error::CacheError;
use crate::query::ListQuery;

pub use api::DelegatingApi;

/// Reads from the cache, writes to the server, and reads its own writes: after a write, reads of that kind wait until
/// the cache has seen it. Cloning is cheap.
///
/// A write of which nobody knows what became, because it timed out, its connection broke, or its future was dropped,
/// counts as written: the next read that it could change asks the server once (a list by name), and then waits for what
/// it said. So do reads after a conflict, an object that exists already and one that is not found, which all mean that
/// the cache is behind, and after writes whose answer does not show the object. If such a request reaches the server
/// only after that, it counts as somebody else's write.
///
/// A cache that selects by labels waits only for objects that it will show; one that selects by fields asks the server
/// after each write, because only that can tell. A created object that the selection leaves out is not found.
///
/// Its verbs are for types that state their kind. [`DelegatingClient::api`] gives the same verbs for any kind.
#[derive(Clone, Debug)]
pub struct DelegatingClient {
    client: Client,
    cache: Cache,
}

impl DelegatingClient {
    /// A client that writes through `client` and reads from `cache`. Both must be of the same server.
    pub fn new(client: Client, cache: Cache) -> Self {
        Self { client, cache }
    }

    /// The client that reads from the server, too.
    pub fn live(&self) -> &Client {
        &self.client
    }

    /// The cache it reads from.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The same with another client for writes, for example one with another field manager.
    #[must_use]
    pub fn with_client(&self, client: Client) -> Self {
        Self { client, cache: self.cache.clone() }
    }

    /// The verbs for any kind: unstructured, metadata only, or typed.
    pub fn api<K: Object>(&self, kind: &Kind<K>) -> DelegatingApi<K> {
        DelegatingApi::new(self.cache.reader(kind), self.client.api(kind.clone()), self.cache.clone(), &self.client)
    }

    fn typed<K: TypedObject>(&self) -> DelegatingApi<K> {
        self.api(&Kind::typed())
    }

    /// See [`Reader::get`](crate::Reader::get).
    pub async fn get<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Arc<K>, CacheError> {
        self.cache.get(key).await
    }

    /// See [`Reader::get_opt`](crate::Reader::get_opt).
    pub async fn get_opt<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Option<Arc<K>>, CacheError> {
        self.cache.get_opt(key).await
    }

    /// See [`Reader::list`](crate::Reader::list).
    pub async fn list<K: TypedObject>(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, CacheError> {
        self.cache.list(query).await
    }

    /// See [`Api::create`](controller_runtime_client::Api::create).
    pub async fn create<K: TypedObject>(&self, object: &K) -> Result<K, CacheError> {
        self.typed().create(object).await
    }

    /// See [`Api::update`](controller_runtime_client::Api::update).
    pub async fn update<K: TypedObject>(&self, object: &K) -> Result<K, CacheError> {
        self.typed().update(object).await
    }

    /// See [`Api::patch`](controller_runtime_client::Api::patch).
    pub async fn patch<K: TypedObject>(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, CacheError> {
        self.typed().patch(key, patch).await
    }

    /// See [`Api::apply`](controller_runtime_client::Api::apply).
    pub async fn apply<K: TypedObject>(&self, object: &K) -> Result<K, CacheError> {
        self.typed().apply(object).await
    }

    /// See [`Api::delete`](controller_runtime_client::Api::delete).
    pub async fn delete<K: TypedObject>(&self, key: impl Into<ObjectKey>) -> Result<Deletion<K>, CacheError> {
        self.typed().delete(key).await
    }

    /// See [`Api::delete_with`](controller_runtime_client::Api::delete_with).
    pub async fn delete_with<K: TypedObject>(
        &self,
        key: impl Into<ObjectKey>,
        options: &DeleteOptions,
    ) -> Result<Deletion<K>, CacheError> {
        self.typed().delete_with(key, options).await
    }

    /// See [`DelegatingApi::delete_all`].
    pub async fn delete_all<K: TypedObject>(
        &self,
        selected: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<(), CacheError> {
        self.typed::<K>().delete_all(selected, options).await
    }

    /// See [`DelegatingApi::scale`].
    pub async fn scale<K: TypedObject>(&self, key: impl Into<ObjectKey>, replicas: i32) -> Result<(), CacheError> {
        self.typed::<K>().scale(key, replicas).await
    }

    /// See [`Api::create_or_patch`](controller_runtime_client::Api::create_or_patch).
    pub async fn create_or_patch<K: TypedObject>(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), CacheError> {
        self.typed().create_or_patch(start, change).await
    }

    /// See [`Api::create_or_update`](controller_runtime_client::Api::create_or_update).
    pub async fn create_or_update<K: TypedObject>(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), CacheError> {
        self.typed().create_or_update(start, change).await
    }

    /// See [`Api::update_status`](controller_runtime_client::Api::update_status).
    pub async fn update_status<K: TypedObject>(&self, object: &K) -> Result<K, CacheError> {
        self.typed().update_status(object).await
    }

    /// See [`Api::patch_status`](controller_runtime_client::Api::patch_status).
    pub async fn patch_status<K: TypedObject>(
        &self,
        key: impl Into<ObjectKey>,
        patch: &Patch,
    ) -> Result<K, CacheError> {
        self.typed().patch_status(key, patch).await
    }

    /// See [`Api::apply_status`](controller_runtime_client::Api::apply_status).
    pub async fn apply_status<K: TypedObject>(&self, object: &K) -> Result<K, CacheError> {
        self.typed().apply_status(object).await
    }

    /// See [`Api::change_status`](controller_runtime_client::Api::change_status).
    pub async fn change_status<K>(&self, object: &K, change: impl FnOnce(&mut K::Status)) -> Result<K, CacheError>
    where
        K: TypedObject + HasStatus<Status: Default>,
    {
        self.typed().change_status(object, change).await
    }

    /// See [`Api::add_finalizer`](controller_runtime_client::Api::add_finalizer).
    pub async fn add_finalizer<K: TypedObject>(&self, object: &K, name: &str) -> Result<K, CacheError> {
        self.typed().add_finalizer(object, name).await
    }

    /// See [`Api::remove_finalizer`](controller_runtime_client::Api::remove_finalizer).
    pub async fn remove_finalizer<K: TypedObject>(&self, object: &K, name: &str) -> Result<K, CacheError> {
        self.typed().remove_finalizer(object, name).await
    }

    /// See [`Api::finalize`](controller_runtime_client::Api::finalize).
    pub async fn finalize<K: TypedObject>(
        &self,
        object: &K,
        finalizers: &Finalizers<K>,
    ) -> Result<(K, Finalized), FinalizeError> {
        self.typed().finalize(object, finalizers).await
    }

    /// Runs `attempt` again while it ends in a conflict, see
    /// [`retry_on_conflict`](controller_runtime_client::retry_on_conflict). Its reads see what it lost against.
    pub async fn retry_on_conflict<T, E, F>(&self, attempt: impl FnMut() -> F) -> Result<T, E>
    where
        E: Classify,
        F: Future<Output = Result<T, E>>,
    {
        self.client.retry_on_conflict(attempt).await
    }
}
