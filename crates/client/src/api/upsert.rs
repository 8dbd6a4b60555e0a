use controller_runtime_scheme::{Object, ObjectKey, with_type};
use serde_json::{Map, Value, json};

use crate::api::{Api, conversion};
use crate::error::{ClientError, RequestProblem, Verb};
use crate::finalizer::{self, FinalizeError, Finalized, Finalizers, Outcome};
use crate::patch::{Patch, merge_difference};
use crate::request::Request;

const STATUS: &str = "status";

/// What [`Api::create_or_update`] or [`Api::create_or_patch`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Upsert {
    /// There was no object.
    Created,
    /// The object was different.
    Updated,
    /// The object and its status were different.
    UpdatedWithStatus,
    /// Only the object's status was different.
    StatusUpdated,
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
        let request = self.about(Verb::Update, &key, None)?;
        let live = self.get_opt(&key).await?;
        let wanted = change_in_place(live.clone().unwrap_or(start), change, &request)?;
        let Some(live) = live else { return Ok((self.create(&wanted).await?, Upsert::Created)) };
        let value = |object| with_type(self.kind(), object).map_err(|source| conversion(&request, source));
        if value(&live)? == value(&wanted)? {
            return Ok((live, Upsert::Unchanged));
        }
        Ok((self.update(&wanted).await?, Upsert::Updated))
    }

    /// [`Api::create_or_update`] that writes an object which exists with merge patches of what `change` changed: one of
    /// the object, and one of its status through the subresource, each only if it has a change. The patches are tied to
    /// the object's uid but not to its version: fields that others write meanwhile stay, and lists are replaced whole.
    ///
    /// An object that is created gets its status from the server; what `change` made of it is not written then.
    pub async fn create_or_patch(
        &self,
        start: K,
        change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    ) -> Result<(K, Upsert), ClientError> {
        let key = ObjectKey::of(&start);
        let request = self.about(Verb::Patch, &key, None)?;
        let live = self.get_opt(&key).await?;
        let wanted = change_in_place(live.clone().unwrap_or(start), change, &request)?;
        let Some(live) = live else { return Ok((self.create(&wanted).await?, Upsert::Created)) };
        let value = |object| with_type(self.kind(), object).map_err(|source| conversion(&request, source));
        let Some(Value::Object(mut patch)) = merge_difference(&value(&live)?, &value(&wanted)?) else {
            return Ok((live, Upsert::Unchanged));
        };
        let uid = live.meta().uid.clone();
        let status = patch.remove(STATUS);
        let mut object = live;
        let changes_object = !patch.is_empty();
        if changes_object {
            object = self.patch(&key, &of_object(patch, uid.as_deref())).await?;
        }
        let Some(status) = status else { return Ok((object, Upsert::Updated)) };
        let patch = Map::from_iter([(STATUS.to_owned(), status)]);
        object = self.patch_status(&key, &of_object(patch, uid.as_deref())).await?;
        Ok((object, if changes_object { Upsert::UpdatedWithStatus } else { Upsert::StatusUpdated }))
    }

    /// Adds the finalizers that are missing to an object that lives, or runs those of an object that is being deleted
    /// and removes what is done; writes only a change, guarded by `object`'s version. Says what changed.
    ///
    /// When functions fail, what the others did is written nevertheless, and the error has both. When the last
    /// finalizer of an object that is being deleted goes, the object is gone afterwards.
    pub async fn finalize(&self, object: &K, finalizers: &Finalizers<K>) -> Result<(K, Finalized), FinalizeError> {
        let mut changed = object.clone();
        let Outcome { done, failures } = finalizers.run(&mut changed).await;
        if done.is_changed() {
            changed = self.write_finalizers(&changed).await?;
        }
        if failures.is_empty() {
            return Ok((changed, done));
        }
        Err(FinalizeError::Failed { key: ObjectKey::of(object), failures, done })
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
        let request = self.about(Verb::Patch, &key, None)?;
        let meta = object.meta();
        let Some(version) = &meta.resource_version else {
            return Err(request.refuse(RequestProblem::MissingResourceVersion));
        };
        let finalizers = meta.finalizers.clone().unwrap_or_default();
        let mut metadata = json!({"resourceVersion": version, "finalizers": finalizers});
        if let Some(uid) = &meta.uid {
            metadata["uid"] = json!(uid);
        }
        self.patch(key, &Patch::Merge(json!({"metadata": metadata}))).await
    }
}

fn change_in_place<K: Object>(
    mut object: K,
    change: impl FnOnce(&mut K) -> Result<(), ClientError>,
    request: &Request,
) -> Result<K, ClientError> {
    let key = ObjectKey::of(&object);
    change(&mut object)?;
    let changed = ObjectKey::of(&object);
    if changed == key { Ok(object) } else { Err(request.refuse(RequestProblem::Renamed(changed))) }
}

/// The merge patch, if it still is the object with this uid.
fn of_object(mut patch: Map<String, Value>, uid: Option<&str>) -> Patch {
    if let Some(uid) = uid {
        let metadata = patch.entry("metadata").or_insert_with(|| json!({}));
        metadata["uid"] = json!(uid);
    }
    Patch::Merge(Value::Object(patch))
}
