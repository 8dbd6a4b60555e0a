use std::fmt::Debug;

use kube_core::discovery::Scope;
use kube_core::{ClusterResourceScope, NamespaceResourceScope, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::key::ObjectKey;

/// An object whose fields are known only at run time: JSON with typed metadata.
pub type Unstructured = kube_core::DynamicObject;

/// What the runtime asks of a Kubernetes object's Rust type. Every type that has the parts has the whole: the types
/// of k8s-openapi, those that kube-derive makes, [`Unstructured`], and kube-core's `PartialObjectMeta`, which makes
/// requests ask for metadata only.
pub trait Object: Resource + Serialize + DeserializeOwned + Clone + Debug + Send + Sync + 'static {}

impl<K> Object for K where K: Resource + Serialize + DeserializeOwned + Clone + Debug + Send + Sync + 'static {}

/// A scope that a type states, so that it needn't be asked of a server.
pub trait StaticScope {
    /// The scope.
    const SCOPE: Scope;
}

impl StaticScope for NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

impl StaticScope for ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

/// An [`Object`] whose type alone says which kind it is and where it is served.
pub trait TypedObject: Object<DynamicType: Default, Scope: StaticScope> {}

impl<K> TypedObject for K where K: Object<DynamicType: Default, Scope: StaticScope> {}

/// What is read from any object's metadata, whatever its type.
pub trait ObjectExt: Resource {
    /// The object's namespace and name.
    fn key(&self) -> ObjectKey {
        ObjectKey::from_meta(self.meta())
    }

    /// Whether the object is being deleted and waits for its finalizers.
    fn is_deleting(&self) -> bool {
        self.meta().deletion_timestamp.is_some()
    }
}

impl<K: Resource> ObjectExt for K {}
