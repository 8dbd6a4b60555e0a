use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, HashMap};

use kube_core::{ApiResource, GroupVersionKind, Version};

use crate::builder::SchemeBuilder;
use crate::conversion::{RequiredField, Strictness, convert, to_unstructured};
use crate::error::SchemeError;
use crate::group::TypeGroup;
use crate::kind::Kind;
use crate::object::{TypedObject, Unstructured};
use crate::registration::Registration;

/// The typed kinds a program knows, looked up by kind, list kind, resource and Rust type.
///
/// A scheme belongs to whoever made it, usually a manager; there is no global one.
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    kinds: BTreeMap<KindKey, Registration>,
    lists: BTreeMap<KindKey, KindKey>,
    resources: BTreeMap<KindKey, KindKey>,
    types: HashMap<TypeId, KindKey>,
}

/// Group, kind (or list kind, or plural), version: the versions of one kind stand together.
type KindKey = (String, String, String);

impl Scheme {
    /// A scheme without kinds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Collects what crates contribute.
    ///
    /// ```
    /// use controller_runtime_scheme::{Scheme, SchemeError};
    /// use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// /// What a crate exports.
    /// pub fn add_to_scheme(scheme: &mut Scheme) -> Result<(), SchemeError> {
    ///     scheme.register_group::<(Deployment, StatefulSet)>("apps", "v1")
    /// }
    ///
    /// let scheme = Scheme::builder().with(add_to_scheme).with(|scheme| scheme.register::<Pod>().map(drop)).build()?;
    /// assert_eq!(scheme.registrations().count(), 3);
    /// # Ok::<(), SchemeError>(())
    /// ```
    pub fn builder() -> SchemeBuilder {
        SchemeBuilder::default()
    }

    /// Registers the type `K` for its kind. Doing it again changes nothing; a second type for the same kind is
    /// [`SchemeError::KindTaken`].
    pub fn register<K: TypedObject>(&mut self) -> Result<Kind<K>, SchemeError> {
        self.register_kind(Kind::typed())
    }

    /// Registers the types of a tuple, all or, on an error, those before it.
    pub fn register_types<G: TypeGroup>(&mut self) -> Result<(), SchemeError> {
        G::register_all(self, None)
    }

    /// Registers the types of one API group and version. A type of another one is [`SchemeError::OtherGroup`].
    ///
    /// ```
    /// use controller_runtime_scheme::Scheme;
    /// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    ///
    /// Scheme::new().register_group::<(ConfigMap, Secret)>("", "v1")?;
    /// # Ok::<(), controller_runtime_scheme::SchemeError>(())
    /// ```
    pub fn register_group<G: TypeGroup>(&mut self, group: &str, version: &str) -> Result<(), SchemeError> {
        G::register_all(self, Some((group, version)))
    }

    /// [`Scheme::register`] with the kind at hand, for example one whose lists have another name.
    pub fn register_kind<K: TypedObject>(&mut self, kind: Kind<K>) -> Result<Kind<K>, SchemeError> {
        let resource = kind.resource();
        let key = key(&resource.group, &resource.kind, &resource.version);
        if let Some(known) = self.kinds.get(&key) {
            if known.type_id() == TypeId::of::<K>() {
                return Ok(kind);
            }
            return Err(SchemeError::KindTaken {
                api_version: resource.api_version.clone(),
                kind: resource.kind.clone(),
                registered: known.type_name(),
                refused: type_name::<K>(),
            });
        }
        let named = |name: &str| (resource.group.clone(), name.to_owned(), resource.version.clone());
        self.lists.insert(named(kind.list_kind()), key.clone());
        self.resources.insert(named(&resource.plural), key.clone());
        self.types.insert(TypeId::of::<K>(), key.clone());
        self.kinds.insert(key, Registration::of(&kind));
        Ok(kind)
    }

    pub(crate) fn register_in<K: TypedObject>(
        &mut self,
        group_version: Option<(&str, &str)>,
    ) -> Result<(), SchemeError> {
        let kind = Kind::<K>::typed();
        let resource = kind.resource();
        if let Some((group, version)) = group_version
            && (group, version) != (resource.group.as_str(), resource.version.as_str())
        {
            let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
            let ApiResource { api_version, kind, .. } = resource.clone();
            return Err(SchemeError::OtherGroup { api_version, kind, type_name: type_name::<K>(), group_version });
        }
        self.register_kind(kind).map(drop)
    }

    /// Makes fields required in strict conversions to the registered type `K`, besides those that its `Deserialize`
    /// requires. The types of k8s-openapi fill in what is missing without a word, so for them this is the only way.
    ///
    /// A path is `spec.template`, with `[]` for every item of a list and `*` for every value of a map:
    /// `spec.containers[].name`. A field is required where the object around it is there. Null counts as missing.
    pub fn require<K: 'static>(&mut self, paths: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), SchemeError> {
        let type_name = type_name::<K>();
        let parse = |path: &str| {
            RequiredField::parse(path).ok_or_else(|| SchemeError::InvalidPath { path: path.to_owned(), type_name })
        };
        let fields = paths.into_iter().map(|path| parse(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let key = self.types.get(&TypeId::of::<K>());
        let known = key.and_then(|key| self.kinds.get_mut(key)).ok_or(SchemeError::UnknownType { type_name })?;
        known.required.extend(fields);
        Ok(())
    }

    /// What is registered for a kind.
    pub fn get(&self, kind: &GroupVersionKind) -> Option<&Registration> {
        self.kinds.get(&key(&kind.group, &kind.kind, &kind.version))
    }

    /// What is registered for the items of a kind of list.
    pub fn get_by_list(&self, list_kind: &GroupVersionKind) -> Option<&Registration> {
        self.kinds.get(self.lists.get(&key(&list_kind.group, &list_kind.kind, &list_kind.version))?)
    }

    /// What is registered for a resource, named by its plural: `deployments`.
    pub fn get_by_resource(&self, group: &str, version: &str, plural: &str) -> Option<&Registration> {
        self.kinds.get(self.resources.get(&key(group, plural, version))?)
    }

    /// What is registered for a Rust type.
    pub fn get_by_type<K: 'static>(&self) -> Option<&Registration> {
        self.kinds.get(self.types.get(&TypeId::of::<K>())?)
    }

    /// What is registered for the versions of a kind, in the order in which Kubernetes prefers versions: `v2` before `v1`
    /// before `v1beta2`.
    pub fn versions(&self, group: &str, kind: &str) -> Vec<&Registration> {
        let from = key(group, kind, "");
        let versions = self.kinds.range(from..).take_while(|(key, _)| key.0 == group && key.1 == kind);
        let mut versions: Vec<_> = versions.map(|(_, registration)| registration).collect();
        versions.sort_by_cached_key(|known| std::cmp::Reverse(Version::parse(&known.resource().version).priority()));
        versions
    }

    /// Everything registered, by group, then kind, then version.
    pub fn registrations(&self) -> impl Iterator<Item = &Registration> {
        self.kinds.values()
    }

    /// The object as the type `K`; see [`Strictness`]. The error of an object that doesn't fit, or is of another
    /// `apiVersion` or kind, is [`SchemeError::Conversion`].
    ///
    /// `K` needs to be registered only for what [`Scheme::require`] asks of it.
    pub fn to_typed<K: TypedObject>(&self, object: &Unstructured, strictness: Strictness) -> Result<K, SchemeError> {
        let required = self.get_by_type::<K>().map_or(&[][..], |known| &known.required);
        Ok(convert(&Kind::typed(), object, strictness, required)?)
    }

    /// The object as whatever type is registered for its kind, to be had by a downcast. Without one, the error is
    /// [`SchemeError::UnknownKind`].
    pub fn to_any(
        &self,
        object: &Unstructured,
        strictness: Strictness,
    ) -> Result<Box<dyn Any + Send + Sync>, SchemeError> {
        let types = object.types.clone().unwrap_or_default();
        let known = GroupVersionKind::try_from(&types).ok().and_then(|kind| self.get(&kind));
        let known = known.ok_or(SchemeError::UnknownKind { api_version: types.api_version, kind: types.kind })?;
        Ok(known.to_any(object, strictness)?)
    }

    /// The object as an unstructured one, with its `apiVersion` and `kind`.
    pub fn to_unstructured<K: TypedObject>(&self, object: &K) -> Result<Unstructured, SchemeError> {
        Ok(to_unstructured(&Kind::typed(), object)?)
    }
}

fn key(group: &str, name: &str, version: &str) -> KindKey {
    (group.to_owned(), name.to_owned(), version.to_owned())
}
