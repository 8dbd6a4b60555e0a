use std::any::{TypeId, type_name};
use std::collections::{BTreeMap, HashMap};

use kube_core::discovery::Scope;
use kube_core::{ApiResource, GroupVersionKind};

use crate::conversion::{ConversionError, from_unstructured};
use crate::kind::Kind;
use crate::object::{TypedObject, Unstructured};

/// The typed kinds a program knows, looked up by kind and by Rust type.
///
/// A scheme belongs to whoever made it, usually a manager; there is no global one.
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    kinds: BTreeMap<KindKey, Registration>,
    lists: BTreeMap<KindKey, KindKey>,
    types: HashMap<TypeId, KindKey>,
}

/// Group, kind, version: the versions of one kind stand together.
type KindKey = (String, String, String);

/// What a [`Scheme`] knows of one kind.
#[derive(Clone, Debug)]
pub struct Registration {
    resource: ApiResource,
    scope: Scope,
    list_kind: String,
    type_id: TypeId,
    type_name: &'static str,
}

impl Registration {
    /// Group, version, kind and plural.
    pub fn resource(&self) -> &ApiResource {
        &self.resource
    }

    /// Whether objects live in namespaces.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The kind of lists of this kind.
    pub fn list_kind(&self) -> &str {
        &self.list_kind
    }

    /// The Rust type's name, for messages.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Whether `K` is the registered type.
    pub fn is<K: 'static>(&self) -> bool {
        self.type_id == TypeId::of::<K>()
    }

    /// The kind for unstructured objects.
    pub fn kind(&self) -> Kind<Unstructured> {
        Kind::dynamic(self.resource.clone(), self.scope.clone())
    }
}

/// A [`Scheme`] refused a registration or could not convert.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// Another type is registered for the kind.
    #[error("{kind} of {api_version} is registered for the type {registered} and cannot be registered for {refused}")]
    KindTaken {
        /// The `apiVersion`.
        api_version: String,
        /// The kind.
        kind: String,
        /// The type that has the kind.
        registered: &'static str,
        /// The type that was refused.
        refused: &'static str,
    },
    /// The object is of another kind than the type.
    #[error("{found} is not the kind of the type {type_name}, which is {expected}")]
    WrongKind {
        /// The object's `apiVersion` and kind.
        found: String,
        /// The type's kind.
        expected: String,
        /// The type.
        type_name: &'static str,
    },
    /// The object's fields don't fit the type.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
}

impl Scheme {
    /// A scheme without kinds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers the type `K` for its kind. Doing it again changes nothing; a second type for the same kind is
    /// [`SchemeError::KindTaken`].
    pub fn register<K: TypedObject>(&mut self) -> Result<Kind<K>, SchemeError> {
        let kind = Kind::<K>::typed();
        let key = key_of(kind.resource());
        let type_id = TypeId::of::<K>();
        if let Some(taken) = self.kinds.get(&key).filter(|registration| registration.type_id != type_id) {
            return Err(SchemeError::KindTaken {
                api_version: taken.resource.api_version.clone(),
                kind: taken.resource.kind.clone(),
                registered: taken.type_name,
                refused: type_name::<K>(),
            });
        }
        let list_key = (key.0.clone(), kind.list_kind().to_owned(), key.2.clone());
        self.lists.insert(list_key, key.clone());
        self.types.insert(type_id, key.clone());
        let registration = Registration {
            resource: kind.resource().clone(),
            scope: kind.scope().clone(),
            list_kind: kind.list_kind().to_owned(),
            type_id,
            type_name: type_name::<K>(),
        };
        self.kinds.insert(key, registration);
        Ok(kind)
    }

    /// What is registered for a kind.
    pub fn get(&self, kind: &GroupVersionKind) -> Option<&Registration> {
        self.kinds.get(&(kind.group.clone(), kind.kind.clone(), kind.version.clone()))
    }

    /// What is registered for the items of a kind of list.
    pub fn get_by_list(&self, list_kind: &GroupVersionKind) -> Option<&Registration> {
        let key = (list_kind.group.clone(), list_kind.kind.clone(), list_kind.version.clone());
        self.kinds.get(self.lists.get(&key)?)
    }

    /// What is registered for a Rust type.
    pub fn get_by_type<K: 'static>(&self) -> Option<&Registration> {
        self.kinds.get(self.types.get(&TypeId::of::<K>())?)
    }

    /// Everything registered, by group, then kind, then version.
    pub fn registrations(&self) -> impl Iterator<Item = &Registration> {
        self.kinds.values()
    }

    /// The object as the registered type `K`. An object of another `apiVersion` or kind is
    /// [`SchemeError::WrongKind`].
    pub fn typed<K: TypedObject>(&self, object: Unstructured) -> Result<K, SchemeError> {
        let kind = Kind::<K>::typed();
        if let Some(types) = object.types.as_ref().filter(|types| **types != kind.type_meta()) {
            return Err(SchemeError::WrongKind {
                found: format!("{} of {}", types.kind, types.api_version),
                expected: format!("{} of {}", kind.name(), kind.resource().api_version),
                type_name: type_name::<K>(),
            });
        }
        Ok(from_unstructured(&kind, object)?)
    }
}

fn key_of(resource: &ApiResource) -> KindKey {
    (resource.group.clone(), resource.kind.clone(), resource.version.clone())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    use kube_core::{GroupVersionKind, PartialObjectMeta};

    use super::Scheme;
    use crate::Unstructured;

    #[test]
    fn look_ups_go_both_ways() {
        let mut scheme = Scheme::new();
        scheme.register::<Deployment>().unwrap();
        scheme.register::<Namespace>().unwrap();
        scheme.register::<Deployment>().unwrap();

        let by_kind = scheme.get(&GroupVersionKind::gvk("apps", "v1", "Deployment")).unwrap();
        assert!(by_kind.is::<Deployment>());
        let by_list = scheme.get_by_list(&GroupVersionKind::gvk("", "v1", "NamespaceList")).unwrap();
        assert!(by_list.is::<Namespace>());
        assert_eq!(scheme.get_by_type::<Deployment>().unwrap().resource().plural, "deployments");
        assert!(scheme.get_by_type::<ConfigMap>().is_none());
        assert!(scheme.get(&GroupVersionKind::gvk("apps", "v1beta1", "Deployment")).is_none());
        let kinds: Vec<_> = scheme.registrations().map(|registration| &registration.resource().kind).collect();
        assert_eq!(kinds, ["Namespace", "Deployment"]);
    }

    #[test]
    fn a_second_type_for_a_kind_is_refused() {
        let mut scheme = Scheme::new();
        scheme.register::<Deployment>().unwrap();
        let error = scheme.register::<PartialObjectMeta<Deployment>>().unwrap_err().to_string();
        assert!(error.starts_with("Deployment of apps/v1 is registered for the type "), "{error}");
        assert!(scheme.get_by_type::<Deployment>().is_some());
    }

    #[test]
    fn an_object_of_another_kind_is_refused() {
        let object: Unstructured = serde_json::from_value(
            serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
        )
        .unwrap();
        let error = Scheme::new().typed::<ConfigMap>(object).unwrap_err().to_string();
        assert!(error.starts_with("Secret of v1 is not the kind of the type "), "{error}");
    }
}
