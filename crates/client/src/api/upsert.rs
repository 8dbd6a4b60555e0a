use controller_runtime_scheme::{Object, ObjectKey, with_type};
use serde_json::json;

use crate::api::{Api, conversion};
use crate::error::{ClientError, RequestProblem, Verb};
use crate::finalizer;
use crate::patch::Patch;
use crate::request::Request;

/// What [`Api::create_or_update`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Upsert {
    /// There was no object.
    Created,
    /// The object was different.
    Updated,
    /// The object was as it should be; nothing was written.
    Unchanged,
}

impl<K: Object> Api<K> {
    /// Reads the object that `start` names (from the server), lets `change` make it as it should be, and creates or
    /// updates it if that made a difference. `change` starts from `start` where there is no object yet. A
    /// `change` that renames the object is an error.
    ///
    /// Server-side apply does this in one request and without conflicts; prefer it where the whole desire is known.
    pub async fn create_or_update(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), ClientError> {
        let key = ObjectKey::of(&start);
        let request = Request::object(self.kind(), Verb::Update, &key, None)?;
        let live = self.get_opt(&key).await?;
        let mut wanted = live.clone().unwrap_or(start);
        change(&mut wanted)?;
        let wanted_key = ObjectKey::of(&wanted);
        if wanted_key != key {
            return Err(request.refuse(RequestProblem::Renamed(wanted_key)));
        }
        let Some(live) = live else { return Ok((self.create(&wanted).await?, Upsert::Created)) };
        let value = |object| with_type(self.kind(), object).map_err(|source| conversion(&request, source));
        if value(&live)? == value(&wanted)? {
            return Ok((live, Upsert::Unchanged));
        }
        Ok((self.update(&wanted).await?, Upsert::Updated))
    }

    /// Adds the finalizer to the object on the server, unless `object` has it. Guarded by `object`'s version, because
    /// the list of finalizers is written whole: a stale `object` is a conflict.
    pub async fn add_finalizer(&self, object: &K, name: &str) -> Result<K, ClientError> {
        let mut changed = object.clone();
        if !finalizer::add_finalizer(&mut changed, name) {
            return Ok(changed);
        }
        self.write_finalizers(&changed).await
    }

    /// Removes the finalizer from the object on the server, unless `object` lacks it. Guarded by `object`'s version.
    /// When it was the last one of an object that is being deleted, the object is gone afterwards.
    pub async fn remove_finalizer(&self, object: &K, name: &str) -> Result<K, ClientError> {
        let mut changed = object.clone();
        if !finalizer::remove_finalizer(&mut changed, name) {
            return Ok(changed);
        }
        self.write_finalizers(&changed).await
    }

    async fn write_finalizers(&self, object: &K) -> Result<K, ClientError> {
        let key = ObjectKey::of(object);
        let request = Request::object(self.kind(), Verb::Patch, &key, None)?;
        let meta = object.meta();
        let Some(version) = &meta.resource_version else {
            return Err(request.refuse(RequestProblem::MissingResourceVersion));
        };
        let finalizers = meta.finalizers.clone().unwrap_or_default();
        let metadata = json!({"uid": meta.uid, "resourceVersion": version, "finalizers": finalizers});
        self.patch(key, &Patch::Merge(json!({"metadata": metadata}))).await
    }
}
