use controller_runtime_scheme::{Object, ObjectKey};
use kube_core::{Resource, Status};

use crate::api::{Api, conversion};
use crate::error::{ClientError, Verb};
use crate::options::{DeleteOptions, ListOptions};
use crate::transport::status_in;

/// What became of a deletion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Deletion<K> {
    /// The object is gone. `details.uid` says which it was.
    Gone(Box<Status>),
    /// The server answered with the object: in most cases it waits for finalizers or for its grace period, and
    /// carries a `deletionTimestamp`. Some kinds are answered so although the object is gone.
    Object(Box<K>),
}

impl<K: Resource> Deletion<K> {
    /// The uid of the object that was deleted, when the server says it.
    pub fn uid(&self) -> Option<&str> {
        match self {
            Self::Gone(status) => {
                status.details.as_ref().map(|details| details.uid.as_str()).filter(|uid| !uid.is_empty())
            }
            Self::Object(object) => object.meta().uid.as_deref(),
        }
    }

    /// Whether the object still exists and waits for finalizers or its grace period.
    pub fn is_pending(&self) -> bool {
        match self {
            Self::Gone(_) => false,
            Self::Object(object) => {
                let meta = object.meta();
                let waits = meta.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty())
                    || meta.deletion_grace_period_seconds.unwrap_or_default() > 0
                    // Namespaces wait for their content without a finalizer in their metadata.
                    || meta.namespace.is_none();
                meta.deletion_timestamp.is_some() && waits
            }
        }
    }
}

impl<K: Object> Api<K> {
    /// Deletes an object.
    pub async fn delete(&self, key: impl Into<ObjectKey>) -> Result<Deletion<K>, ClientError> {
        self.delete_with(key, &DeleteOptions::new()).await
    }

    /// Deletes an object, with preconditions, a grace period or a rule for what it owns.
    pub async fn delete_with(
        &self,
        key: impl Into<ObjectKey>,
        options: &DeleteOptions,
    ) -> Result<Deletion<K>, ClientError> {
        let request = self.about(Verb::Delete, key, None)?.with_delete(options, &self.write);
        let body = self.transport.fetch(&request).await?;
        if let Some(status) = status_in(&body) {
            return Ok(Deletion::Gone(Box::new(status)));
        }
        let object = self.decode(&body).map_err(|source| conversion(&request, source))?;
        Ok(Deletion::Object(Box::new(object)))
    }

    /// Deletes the objects that `selected` selects, at once. Not for all kinds and not atomic.
    pub async fn delete_all(&self, selected: &ListOptions, options: &DeleteOptions) -> Result<(), ClientError> {
        let request = self
            .about_all(Verb::DeleteCollection, selected.namespace.clone())?
            .with_list(selected)
            .with_delete(options, &self.write);
        self.transport.fetch(&request).await?;
        Ok(())
    }
}
