use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_client::{
    Api, Client, ClientError, DeleteOptions, Deletion, FinalizeError, Finalized, Finalizers, ListOptions, Patch,
    Selector, Upsert,
};
use controller_runtime_scheme::{Kind, Object, ObjectKey};
use kube_core::object::HasStatus;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::cache::Cache;
use crate::delegating::in_flight::InFlight;
use crate::error::CacheError;
use crate::informer::{Target, Write, Written};
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

    /// The same verbs, whose reads wait no longer than this for the cache, see [`Reader::with_timeout`].
    #[must_use]
    pub fn with_read_timeout(mut self, within: Duration) -> Self {
        self.reader = self.reader.with_timeout(within);
        self
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
        self.write_object(object, self.api.create(object)).await
    }

    /// See [`Api::update`].
    pub async fn update(&self, object: &K) -> Result<K, CacheError> {
        self.write_object(object, self.api.update(object)).await
    }

    /// See [`Api::patch`].
    pub async fn patch(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, CacheError> {
        let key = key.into();
        self.write(Target::Object(key.clone()), self.api.patch(key, patch)).await
    }

    /// See [`Api::apply`].
    pub async fn apply(&self, object: &K) -> Result<K, CacheError> {
        self.write_object(object, self.api.apply(object)).await
    }

    /// See [`Api::update_status`].
    pub async fn update_status(&self, object: &K) -> Result<K, CacheError> {
        self.write_object(object, self.api.update_status(object)).await
    }

    /// See [`Api::patch_status`].
    pub async fn patch_status(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, CacheError> {
        let key = key.into();
        self.write(Target::Object(key.clone()), self.api.patch_status(key, patch)).await
    }

    /// See [`Api::apply_status`].
    pub async fn apply_status(&self, object: &K) -> Result<K, CacheError> {
        self.write_object(object, self.api.apply_status(object)).await
    }

    /// See [`Api::change_status`].
    pub async fn change_status(&self, object: &K, change: impl FnOnce(&mut K::Status)) -> Result<K, CacheError>
    where
        K: HasStatus<Status: Default>,
    {
        self.write_object(object, self.api.change_status(object, change)).await
    }

    /// See [`Api::change_status_of`].
    pub async fn change_status_of(&self, object: &K, change: impl FnOnce(&mut K)) -> Result<K, CacheError> {
        self.write_object(object, self.api.change_status_of(object, change)).await
    }

    /// See [`Api::create_or_update`].
    pub async fn create_or_update(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), CacheError> {
        let target = target_of(&start);
        self.upsert(target, self.api.create_or_update(start, change)).await
    }

    /// See [`Api::create_or_patch`].
    pub async fn create_or_patch(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), CacheError> {
        let target = target_of(&start);
        self.upsert(target, self.api.create_or_patch(start, change)).await
    }

    /// See [`Api::add_finalizer`].
    pub async fn add_finalizer(&self, object: &K, name: &str) -> Result<K, CacheError> {
        self.write_object(object, self.api.add_finalizer(object, name)).await
    }

    /// See [`Api::remove_finalizer`].
    pub async fn remove_finalizer(&self, object: &K, name: &str) -> Result<K, CacheError> {
        self.write_object(object, self.api.remove_finalizer(object, name)).await
    }

    /// See [`Api::finalize`].
    pub async fn finalize(&self, object: &K, finalizers: &Finalizers<K>) -> Result<(K, Finalized), FinalizeError> {
        let in_flight = self.begin(target_of(object));
        let result = self.api.finalize(object, finalizers).await;
        match &result {
            Ok((written, done)) if done.is_changed() => self.wrote(in_flight, written),
            Err(FinalizeError::Failed { done, .. }) if done.is_changed() => in_flight.wrote_somehow(),
            Err(FinalizeError::Client(error)) => in_flight.failed(error),
            _ => in_flight.did_nothing(),
        }
        result
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
        let in_flight = self.begin(Target::Object(key.clone()));
        let deletion = match self.api.delete_with(&key, options).await {
            Ok(deletion) => deletion,
            Err(error) => {
                in_flight.failed(&error);
                return Err(error.into());
            }
        };
        match (&deletion, deletion.uid()) {
            (Deletion::Gone(_), Some(uid)) => in_flight.wrote(&Write::Gone { key, uid: uid.to_owned() }),
            (Deletion::Object(object), _) if self.is_held(&**object) => self.wrote(in_flight, object),
            // Some kinds are answered with the object although it is gone.
            _ => in_flight.wrote_somehow(),
        }
        Ok(deletion)
    }

    /// See [`Api::delete_all`]. Reads after it ask the server once which of the objects are left.
    pub async fn delete_all(&self, selected: &ListOptions, options: &DeleteOptions) -> Result<(), CacheError> {
        let (namespace, labels) = (selected.namespace.clone(), selected.labels.clone());
        let in_flight = self.begin(Target::Objects { namespace, labels });
        let result = self.api.delete_all(selected, options).await;
        wrote_unseen(in_flight, result)
    }

    /// See [`Api::create_subresource`]. Reads of the object after it ask the server once what it became.
    pub async fn create_subresource<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        body: &B,
    ) -> Result<T, CacheError> {
        let key = key.into();
        let in_flight = self.begin(Target::Object(key.clone()));
        let result = self.api.create_subresource(key, subresource, body).await;
        wrote_unseen(in_flight, result)
    }

    /// See [`Api::update_subresource`]. Reads of the object after it ask the server once what it became.
    pub async fn update_subresource<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        body: &B,
    ) -> Result<T, CacheError> {
        let key = key.into();
        let in_flight = self.begin(Target::Object(key.clone()));
        let result = self.api.update_subresource(key, subresource, body).await;
        wrote_unseen(in_flight, result)
    }

    /// See [`Api::patch_subresource`]. Reads of the object after it ask the server once what it became.
    pub async fn patch_subresource<T: DeserializeOwned>(
        &self,
        key: impl Into<ObjectKey>,
        subresource: &str,
        patch: &Patch,
    ) -> Result<T, CacheError> {
        let key = key.into();
        let in_flight = self.begin(Target::Object(key.clone()));
        let result = self.api.patch_subresource(key, subresource, patch).await;
        wrote_unseen(in_flight, result)
    }

    /// See [`Api::scale`]. Reads of the object after it ask the server once what it became.
    pub async fn scale(&self, key: impl Into<ObjectKey>, replicas: i32) -> Result<(), CacheError> {
        let key = key.into();
        let in_flight = self.begin(Target::Object(key.clone()));
        let result = self.api.scale(key, replicas).await;
        wrote_unseen(in_flight, result)
    }

    fn begin(&self, target: Target) -> InFlight<'_> {
        InFlight::new(&self.cache, self.kind().resource(), (!self.dry_run).then_some(target))
    }

    async fn write_object(
        &self,
        object: &K,
        request: impl Future<Output = Result<K, ClientError>>,
    ) -> Result<K, CacheError> {
        self.write(target_of(object), request).await
    }

    async fn write(
        &self,
        target: Target,
        request: impl Future<Output = Result<K, ClientError>>,
    ) -> Result<K, CacheError> {
        let in_flight = self.begin(target);
        match request.await {
            Ok(object) => {
                self.wrote(in_flight, &object);
                Ok(object)
            }
            Err(error) => {
                in_flight.failed(&error);
                Err(error.into())
            }
        }
    }

    async fn upsert(
        &self,
        target: Target,
        request: impl Future<Output = Result<(K, Upsert), ClientError>>,
    ) -> Result<(K, Upsert), CacheError> {
        let mut done = Upsert::Unchanged;
        let request = async {
            let (object, did) = request.await?;
            done = did;
            Ok(object)
        };
        let object = self.write(target, request).await?;
        Ok((object, done))
    }

    /// Remembers for the reads after it what a write was answered with.
    fn wrote(&self, in_flight: InFlight<'_>, object: &K) {
        let (meta, key) = (object.meta(), ObjectKey::of(object));
        let began: Instant = in_flight.began();
        // The write that removes the last finalizer of an object that is being deleted removes the object.
        let gone = meta.deletion_timestamp.is_some() && !self.is_held(object);
        match (&meta.uid, &meta.resource_version) {
            (Some(uid), _) if gone => in_flight.wrote(&Write::Gone { key, uid: uid.clone() }),
            (uid, Some(version)) => in_flight.wrote(&Write::Object(Written {
                key,
                uid: uid.clone(),
                version: version.clone(),
                labels: meta.labels.clone().unwrap_or_default(),
                began,
            })),
            _ => in_flight.wrote_somehow(),
        }
    }

    /// Whether an object that is being deleted stays for now.
    fn is_held(&self, object: &K) -> bool {
        let meta = object.meta();
        meta.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty())
            || meta.deletion_grace_period_seconds.unwrap_or_default() > 0
            // Namespaces wait for their content without a finalizer in their metadata.
            || self.kind().name() == "Namespace"
    }
}

/// The answer to a write, which does not say what the objects became.
fn wrote_unseen<T>(in_flight: InFlight<'_>, result: Result<T, ClientError>) -> Result<T, CacheError> {
    match &result {
        Ok(_) => in_flight.wrote_somehow(),
        Err(error) => in_flight.failed(error),
    }
    Ok(result?)
}

/// What a write of the object is about. An object without a name gets one from the server.
fn target_of<K: Object>(object: &K) -> Target {
    let key = ObjectKey::of(object);
    if key.name.is_empty() {
        Target::Objects { namespace: key.namespace, labels: Selector::default() }
    } else {
        Target::Object(key)
    }
}

impl<K: Object> fmt::Debug for DelegatingApi<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegatingApi").field("api", &self.api).finish_non_exhaustive()
    }
}
