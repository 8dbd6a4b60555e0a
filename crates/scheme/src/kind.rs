use std::fmt;
use std::sync::Arc;

use kube_core::discovery::Scope;
use kube_core::{ApiResource, GroupVersionKind, PartialObjectMeta, TypeMeta};

use crate::object::{Object, StaticScope, TypedObject, Unstructured};

/// A kind of object as the server serves it, tied to the Rust type `K` of its objects. Cloning is cheap.
pub struct Kind<K: Object> {
    inner: Arc<Inner<K>>,
    list_kind: Arc<str>,
}

struct Inner<K: Object> {
    dynamic: K::DynamicType,
    resource: ApiResource,
    scope: Scope,
}

impl<K: TypedObject> Kind<K> {
    /// The kind that the type `K` states.
    pub fn typed() -> Self {
        Self::new(K::DynamicType::default(), <K::Scope as StaticScope>::SCOPE)
    }
}

impl Kind<Unstructured> {
    /// A kind known at run time only, for example from discovery.
    pub fn dynamic(resource: ApiResource, scope: Scope) -> Self {
        Self::new(resource, scope)
    }
}

impl<K: Object> Kind<K> {
    /// A kind of any type: what the type needs to know at run time, and its scope.
    pub fn new(dynamic: K::DynamicType, scope: Scope) -> Self {
        let resource = ApiResource::erase::<K>(&dynamic);
        let list_kind = format!("{}List", resource.kind).into();
        Self { inner: Arc::new(Inner { dynamic, resource, scope }), list_kind }
    }

    /// The same kind, whose lists are called otherwise than the kind with `List` behind it.
    #[must_use]
    pub fn with_list_kind(self, list_kind: impl Into<String>) -> Self {
        Self { inner: self.inner, list_kind: list_kind.into().into() }
    }

    /// Group, version, kind and plural.
    pub fn resource(&self) -> &ApiResource {
        &self.inner.resource
    }

    /// What the type `K` needs to know at run time.
    pub fn dynamic_type(&self) -> &K::DynamicType {
        &self.inner.dynamic
    }

    /// Whether objects live in namespaces.
    pub fn scope(&self) -> &Scope {
        &self.inner.scope
    }

    /// Whether objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.inner.scope == Scope::Namespaced
    }

    /// The kind's name, for example `Deployment`.
    pub fn name(&self) -> &str {
        &self.inner.resource.kind
    }

    /// The kind of its lists, for example `DeploymentList`.
    pub fn list_kind(&self) -> &str {
        &self.list_kind
    }

    /// Group, version and kind.
    pub fn group_version_kind(&self) -> GroupVersionKind {
        let resource = self.resource();
        GroupVersionKind::gvk(&resource.group, &resource.version, &resource.kind)
    }

    /// The `apiVersion` and `kind` that objects carry.
    pub fn type_meta(&self) -> TypeMeta {
        TypeMeta { api_version: self.resource().api_version.clone(), kind: self.resource().kind.clone() }
    }

    /// The same kind for unstructured objects.
    pub fn erase(&self) -> Kind<Unstructured> {
        Kind::dynamic(self.resource().clone(), self.scope().clone()).with_list_kind(self.list_kind())
    }

    /// The same kind with only its objects' metadata: requests for it ask the server to leave out the rest.
    pub fn metadata_only(&self) -> Kind<PartialObjectMeta> {
        Kind::new(self.resource().clone(), self.scope().clone())
    }
}

impl<K: Object> Clone for Kind<K> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), list_kind: self.list_kind.clone() }
    }
}

impl<K: Object> fmt::Debug for Kind<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("resource", &self.inner.resource)
            .field("scope", &self.inner.scope)
            .finish_non_exhaustive()
    }
}

/// Two kinds are equal when they are the same resource of the same scope.
impl<K: Object> PartialEq for Kind<K> {
    fn eq(&self, other: &Self) -> bool {
        self.resource() == other.resource() && self.scope() == other.scope()
    }
}

impl<K: Object> Eq for Kind<K> {}

/// `Deployment.apps/v1`, or `ConfigMap/v1` in the core group.
impl<K: Object> fmt::Display for Kind<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource();
        if resource.group.is_empty() {
            write!(f, "{}/{}", resource.kind, resource.version)
        } else {
            write!(f, "{}.{}/{}", resource.kind, resource.group, resource.version)
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    use kube_core::{ApiResource, GroupVersionKind, PartialObjectMeta};

    use super::{Kind, Scope, TypedObject};

    #[test]
    fn a_type_states_its_kind() {
        fn check<K: TypedObject>(display: &str, plural: &str, namespaced: bool) {
            let kind = Kind::<K>::typed();
            assert_eq!(kind.to_string(), display);
            assert_eq!(kind.resource().plural, plural);
            assert_eq!(kind.is_namespaced(), namespaced);
            assert_eq!(kind.erase().resource(), kind.resource());
        }
        check::<Deployment>("Deployment.apps/v1", "deployments", true);
        check::<ConfigMap>("ConfigMap/v1", "configmaps", true);
        check::<Namespace>("Namespace/v1", "namespaces", false);
        check::<PartialObjectMeta<Deployment>>("Deployment.apps/v1", "deployments", true);
    }

    #[test]
    fn a_dynamic_kind_keeps_its_plural() {
        let gvk = GroupVersionKind::gvk("ref.dev", "v1", "Ox");
        let kind = Kind::dynamic(ApiResource::from_gvk_with_plural(&gvk, "oxen"), Scope::Cluster);
        assert_eq!((kind.resource().plural.as_str(), kind.list_kind()), ("oxen", "OxList"));
        assert!(!kind.is_namespaced());
        assert_eq!(kind.group_version_kind(), gvk);
        assert_eq!(kind.with_list_kind("Oxen").list_kind(), "Oxen");
    }
}
