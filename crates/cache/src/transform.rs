use std::any::Any;
use std::fmt;
use std::sync::Arc;

use controller_runtime_scheme::Object;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// What is done to each object before it is stored, so that the cache holds only what is needed. Readers and handlers
/// see what is left. It can't change the object's name, namespace, uid and version.
///
/// ```
/// use controller_runtime_cache::Transform;
/// use k8s_openapi::api::core::v1::Secret;
///
/// let names_only = Transform::strip_managed_fields().then(Transform::of::<Secret>(|secret| secret.data = None));
/// # let _ = names_only;
/// ```
#[derive(Clone)]
pub struct Transform {
    change: Arc<Change>,
}

type Change = dyn Fn(&mut dyn Target) + Send + Sync;

/// An object of any type.
trait Target {
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<K: Object> Target for K {
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        kube_core::Resource::meta_mut(self)
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Transform {
    /// Changes objects of the Rust type `K`; others stay as they are.
    pub fn of<K: Object>(change: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        Self {
            change: Arc::new(move |target| {
                if let Some(object) = target.as_any_mut().downcast_mut() {
                    change(object);
                }
            }),
        }
    }

    /// Changes the metadata of objects of any type.
    pub fn of_metadata(change: impl Fn(&mut ObjectMeta) + Send + Sync + 'static) -> Self {
        Self { change: Arc::new(move |target| change(target.meta_mut())) }
    }

    /// Drops `metadata.managedFields`, often the larger half of an object. An object that is read from such a cache
    /// can be written with an update or a patch all the same: the server keeps its own.
    pub fn strip_managed_fields() -> Self {
        Self::of_metadata(|meta| meta.managed_fields = None)
    }

    /// This one, then another.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let (first, second) = (self.change, next.change);
        Self {
            change: Arc::new(move |target| {
                first(target);
                second(target);
            }),
        }
    }

    pub(crate) fn apply<K: Object>(&self, object: &mut K) {
        let meta = object.meta();
        let (name, namespace) = (meta.name.clone(), meta.namespace.clone());
        let (uid, version) = (meta.uid.clone(), meta.resource_version.clone());
        (self.change)(object);
        let meta = kube_core::Resource::meta_mut(object);
        (meta.name, meta.namespace, meta.uid, meta.resource_version) = (name, namespace, uid, version);
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transform").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::Transform;

    fn map() -> ConfigMap {
        serde_json::from_value(json!({"data": {"k": "v"}, "metadata": {
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1", "managedFields": [{"manager": "m"}],
        }}))
        .expect("it is a ConfigMap")
    }

    #[test]
    fn only_the_named_type_and_never_the_identity_changes() {
        let mut object = map();
        let transform = Transform::strip_managed_fields()
            .then(Transform::of::<Secret>(|_| panic!("it is no Secret")))
            .then(Transform::of::<ConfigMap>(|map| {
                map.data = None;
                map.metadata.name = None;
                map.metadata.resource_version = Some("2".to_owned());
            }));
        transform.apply(&mut object);
        let mut expected = map();
        expected.data = None;
        expected.metadata.managed_fields = None;
        assert_eq!(object, expected);
    }
}
