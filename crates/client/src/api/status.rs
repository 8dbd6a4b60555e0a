use controller_runtime_scheme::{Object, ObjectKey, with_type};
use kube_core::Resource;
use kube_core::object::HasStatus;
use serde_json::{Map, Value, json};

use crate::api::{Api, conversion};
use crate::error::{ClientError, Verb};
use crate::patch::{Patch, merge_difference};
use crate::request::Request;

const STATUS: &str = "status";

impl<K: Object> Api<K> {
    /// Replaces the object's status. When `object` carries a `resourceVersion` and the server has another, that is a
    /// conflict.
    pub async fn update_status(&self, object: &K) -> Result<K, ClientError> {
        self.replace(object, Some(STATUS)).await
    }

    /// Changes parts of the object's status.
    pub async fn patch_status(&self, key: impl Into<ObjectKey>, patch: &Patch) -> Result<K, ClientError> {
        self.object(self.patch_request(&key.into(), Some(STATUS), patch)?).await
    }

    /// Server-side apply of the object's status, see [`Api::apply`].
    pub async fn apply_status(&self, object: &K) -> Result<K, ClientError> {
        self.object(self.apply_request(object, Some(STATUS))?).await
    }

    /// Changes the object's status to what `change` makes of it, and writes only what changed: nothing at all when
    /// `change` changed nothing.
    ///
    /// The write is a merge patch of the changed fields, tied to the object's uid but not to its version: a stale
    /// `object` is no conflict, and fields that others write at the same time stay. A list is one field and replaced
    /// whole, so where several write conditions, each should apply its own by [`Api::apply_status`]. Gives the server's
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
        let request = Request::object(self.kind(), Verb::Patch, &ObjectKey::of(object), Some(STATUS))?;
        let status_of = |object: &K| -> Result<Value, ClientError> {
            let value = with_type(self.kind(), object).map_err(|source| conversion(&request, source))?;
            // A status that isn't there and an empty one are different, but no reason to write.
            let status = value.get(STATUS).filter(|status| !status.is_null());
            Ok(status.cloned().unwrap_or_else(|| Value::Object(Map::new())))
        };
        let mut changed = object.clone();
        change(&mut changed);
        match merge_difference(&status_of(object)?, &status_of(&changed)?) {
            Some(difference) => {
                let mut patch = json!({"status": difference});
                if let Some(uid) = &Resource::meta(object).uid {
                    patch["metadata"] = json!({"uid": uid});
                }
                self.patch_status(ObjectKey::of(object), &Patch::Merge(patch)).await
            }
            None => Ok(object.clone()),
        }
    }
}
