use controller_runtime_scheme::{Object, ObjectKey, with_type};
use kube_core::Resource;
use kube_core::object::HasStatus;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::api::{Api, conversion};
use crate::class::Classify;
use crate::error::{ClientError, RequestProblem, Verb};
use crate::patch::{Patch, merge_difference};
use crate::request::Request;
use crate::retry::{ATTEMPTS, conflict_backoff};
use crate::three_way::{Clash, changes_a_list, three_way};

const STATUS: &str = "status";

impl<K: Object> Api<K> {
    /// Replaces the object's status. When `object` carries a `resourceVersion` and the server has another, that is a
    /// conflict.
    pub async fn update_status(&self, object: &K) -> Result<K, ClientError> {
        self.replace(object, Some(STATUS)).await
    }

    /// Changes parts of the object's status.
    pub async fn patch_status(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, ClientError> {
        self.object(self.patch_request(key, Some(STATUS), patch)?).await
    }

    /// Server-side apply of the object's status, see [`Api::apply`].
    pub async fn apply_status(&self, object: &K) -> Result<K, ClientError> {
        self.object(self.apply_request(object, Some(STATUS))?).await
    }

    /// Changes the object's status to what `change` makes of it, and writes only what changed: nothing at all when
    /// `change` changed nothing.
    ///
    /// The write is a merge patch of the changed fields, tied to the object's uid but not to its version: a stale
    /// `object` is no conflict, and fields that others write at the same time stay. A merge patch replaces lists whole.
    /// Where a list is among the changes the patch is therefore tied to the version too, and when somebody else has
    /// written since, the changes are put on top of the newest status, up to five times: lists whose items have a
    /// `type`, `name`, `key`, `id` or `ip` of their own, such as conditions, merge item by item, so that of several
    /// writers none loses what it wrote. Other lists that two writers change at once are a conflict. Gives the server's
    /// object, or a copy of `object` when there was nothing to write.
    pub async fn change_status(&self, object: &K, change: impl FnOnce(&mut K::Status)) -> Result<K, ClientError>
    where
        K: HasStatus<Status: Default>,
    {
        self.change_status_of(object, |object| change(object.status_mut().get_or_insert_default())).await
    }

    /// [`Api::change_status`] for types that don't implement kube-core's `HasStatus`, such as the built-in ones. Only
    /// what `change` does to the status counts.
    pub async fn change_status_of(&self, object: &K, change: impl FnOnce(&mut K)) -> Result<K, ClientError> {
        let request = self.about(Verb::Patch, ObjectKey::of(object), Some(STATUS))?;
        let mut changed = object.clone();
        change(&mut changed);
        let (base, ours) = (self.status_of(object, &request)?, self.status_of(&changed, &request)?);
        let Some(difference) = merge_difference(&base, &ours) else { return Ok(object.clone()) };
        let key = ObjectKey::of(object);
        if !changes_a_list(&difference) {
            return self.patch_status(key, &status_patch(object, difference, false)).await;
        }
        self.merge_status(object, &base, &ours, &request).await
    }

    /// Writes the changes that lead from `base` to `ours`, on top of what the status is, until nobody else wrote
    /// meanwhile.
    async fn merge_status(&self, object: &K, base: &Value, ours: &Value, request: &Request) -> Result<K, ClientError> {
        let (key, meta) = (ObjectKey::of(object), Resource::meta(object));
        let mut backoff = conflict_backoff(&self.transport.options.ambient);
        let mut live = match meta.resource_version {
            Some(_) => object.clone(),
            None => self.get(&key).await?,
        };
        let mut left = ATTEMPTS;
        loop {
            let theirs = self.status_of(&live, request)?;
            let merged = three_way(base, ours, &theirs).map_err(|Clash| request.refuse(RequestProblem::ListChanged))?;
            let Some(difference) = merge_difference(&theirs, &merged) else { return Ok(live) };
            left -= 1;
            match self.patch_status(&key, &status_patch(&live, difference, true)).await {
                Err(error) if error.is_stale_write() && left > 0 => {
                    sleep(backoff.next_delay()).await;
                    live = self.get(&key).await?;
                    if meta.uid.is_some() && Resource::meta(&live).uid != meta.uid {
                        // It is another object of the same name.
                        return Err(error);
                    }
                }
                result => return result,
            }
        }
    }

    fn status_of(&self, object: &K, request: &Request) -> Result<Value, ClientError> {
        let value = with_type(self.kind(), object).map_err(|source| conversion(request, source))?;
        // A status that isn't there and an empty one are different, but no reason to write.
        let status = value.get(STATUS).filter(|status| !status.is_null());
        Ok(status.cloned().unwrap_or_else(|| Value::Object(Map::new())))
    }
}

/// The patch for the status of `object`, if it still is that object, and, when `guarded`, that version of it.
fn status_patch<K: Resource>(object: &K, difference: Value, guarded: bool) -> Patch {
    let meta = object.meta();
    let mut metadata = Map::new();
    if let Some(uid) = &meta.uid {
        metadata.insert("uid".to_owned(), json!(uid));
    }
    if let Some(version) = meta.resource_version.as_ref().filter(|_| guarded) {
        metadata.insert("resourceVersion".to_owned(), json!(version));
    }
    let mut patch = Map::from_iter([(STATUS.to_owned(), difference)]);
    if !metadata.is_empty() {
        patch.insert("metadata".to_owned(), Value::Object(metadata));
    }
    Patch::Merge(Value::Object(patch))
}
