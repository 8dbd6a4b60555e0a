use controller_runtime_scheme::{Kind, Object, ObjectKey, TypedObject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube_core::Resource;

/// An owner reference could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnerError {
    /// The owner has no uid: it was not read from the server.
    #[error("{owner} cannot own {child}: it has no uid, because it does not come from the server")]
    NoUid {
        /// Kind, namespace and name of the owner.
        owner: String,
        /// Namespace and name of the object it was to own.
        child: String,
    },
    /// A namespaced object owns only objects of its own namespace.
    #[error("{owner} cannot own {child}: a namespaced owner owns only objects of its own namespace")]
    OtherNamespace {
        /// Kind, namespace and name of the owner.
        owner: String,
        /// Namespace and name of the object it was to own.
        child: String,
    },
    /// Another object is the controller.
    #[error("{owner} cannot control {child}: {controller} controls it")]
    AlreadyOwned {
        /// Kind, namespace and name of the owner.
        owner: String,
        /// Namespace and name of the object it was to own.
        child: String,
        /// Kind and name of the controller it has.
        controller: String,
    },
}

/// Makes `owner` the controller of `child`: the garbage collector deletes the child with it, and a controller that
/// owns the child's kind is told of the child's changes. `blockOwnerDeletion` is set.
///
/// A reference to the same owner (of whatever version of its API, or of an earlier owner of the same name) is
/// replaced.
pub fn set_controller_reference<C: Object, O: Object>(
    child: &mut C,
    owner: &O,
    kind: &Kind<O>,
) -> Result<(), OwnerError> {
    let reference = OwnerReference {
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..reference_to(child, owner, kind)?
    };
    let other = controller_of(child).filter(|controller| !same_owner(controller, &reference));
    if let Some(controller) = other {
        return Err(OwnerError::AlreadyOwned {
            owner: format!("{} {}", kind.name(), ObjectKey::of(owner)),
            child: ObjectKey::of(child).to_string(),
            controller: format!("{} {}", controller.kind, controller.name),
        });
    }
    put(child, reference);
    Ok(())
}

/// Makes `owner` an owner of `child` without controlling it: the garbage collector deletes the child when all its
/// owners are gone.
pub fn set_owner_reference<C: Object, O: Object>(child: &mut C, owner: &O, kind: &Kind<O>) -> Result<(), OwnerError> {
    let reference = reference_to(child, owner, kind)?;
    put(child, reference);
    Ok(())
}

/// Whether `owner` is among the owners of `child`, whatever the version of its API in the reference.
pub fn has_owner_reference<C: Resource, O: Object>(child: &C, owner: &O, kind: &Kind<O>) -> bool {
    child.meta().owner_references.iter().flatten().any(|reference| refers_to(reference, owner, kind))
}

/// Removes `owner` from the owners of `child`, in memory. Says whether that changed it.
pub fn remove_owner_reference<C: Resource, O: Object>(child: &mut C, owner: &O, kind: &Kind<O>) -> bool {
    remove_where(child, |reference| refers_to(reference, owner, kind))
}

/// Removes `owner` from the owners of `child` if it controls it, in memory. Says whether that changed it.
pub fn remove_controller_reference<C: Resource, O: Object>(child: &mut C, owner: &O, kind: &Kind<O>) -> bool {
    remove_where(child, |reference| reference.controller == Some(true) && refers_to(reference, owner, kind))
}

/// The owner that controls the object.
pub fn controller_of<K: Resource>(object: &K) -> Option<&OwnerReference> {
    object.meta().owner_references.iter().flatten().find(|reference| reference.controller == Some(true))
}

/// [`set_controller_reference`] in the middle of building an object.
pub trait OwnedBy: Object {
    /// The object, controlled by `owner`.
    ///
    /// ```
    /// use controller_runtime_client::OwnedBy;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    ///
    /// let mut meta = ObjectMeta { namespace: Some("ns".into()), name: Some("parent".into()), ..Default::default() };
    /// meta.uid = Some("6dfd8e9a-9d4c-4d0c-8f2e-3a6f6f0a0c11".into());
    /// let parent = ConfigMap { metadata: meta, ..Default::default() };
    ///
    /// let meta = ObjectMeta { namespace: Some("ns".into()), name: Some("child".into()), ..Default::default() };
    /// let child = ConfigMap { metadata: meta, ..Default::default() }.owned_by(&parent)?;
    /// assert_eq!(child.metadata.owner_references.unwrap()[0].name, "parent");
    /// # Ok::<(), controller_runtime_client::OwnerError>(())
    /// ```
    fn owned_by<O: TypedObject>(mut self, owner: &O) -> Result<Self, OwnerError> {
        set_controller_reference(&mut self, owner, &Kind::typed())?;
        Ok(self)
    }

    /// The object, controlled by `owner` of this kind: for owners whose type alone does not say what they are.
    fn owned_by_kind<O: Object>(mut self, owner: &O, kind: &Kind<O>) -> Result<Self, OwnerError> {
        set_controller_reference(&mut self, owner, kind)?;
        Ok(self)
    }
}

impl<K: Object> OwnedBy for K {}

fn reference_to<C: Object, O: Object>(child: &C, owner: &O, kind: &Kind<O>) -> Result<OwnerReference, OwnerError> {
    let (owner_key, child_key) = (ObjectKey::of(owner), ObjectKey::of(child));
    let names = || (format!("{} {owner_key}", kind.name()), child_key.to_string());
    let uid = owner.meta().uid.clone().filter(|uid| !uid.is_empty());
    let Some(uid) = uid else {
        let (owner, child) = names();
        return Err(OwnerError::NoUid { owner, child });
    };
    if owner_key.namespace.is_some() && owner_key.namespace != child_key.namespace {
        let (owner, child) = names();
        return Err(OwnerError::OtherNamespace { owner, child });
    }
    Ok(OwnerReference {
        api_version: kind.resource().api_version.clone(),
        kind: kind.name().to_owned(),
        name: owner_key.name,
        uid,
        controller: None,
        block_owner_deletion: None,
    })
}

fn put<C: Object>(child: &mut C, reference: OwnerReference) {
    let references = child.meta_mut().owner_references.get_or_insert_default();
    match references.iter_mut().find(|present| same_owner(present, &reference)) {
        Some(present) => *present = reference,
        None => references.push(reference),
    }
}

fn remove_where<C: Resource>(child: &mut C, removed: impl Fn(&OwnerReference) -> bool) -> bool {
    let meta = child.meta_mut();
    let Some(references) = &mut meta.owner_references else { return false };
    let before = references.len();
    references.retain(|reference| !removed(reference));
    references.len() < before
}

fn refers_to<O: Object>(reference: &OwnerReference, owner: &O, kind: &Kind<O>) -> bool {
    group(&reference.api_version) == kind.resource().group
        && reference.kind == kind.name()
        && Some(&reference.name) == owner.meta().name.as_ref()
}

/// The version of the API does not matter: all versions of a kind are one object.
fn same_owner(a: &OwnerReference, b: &OwnerReference) -> bool {
    group(&a.api_version) == group(&b.api_version) && a.kind == b.kind && a.name == b.name
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use controller_runtime_scheme::{Kind, Unstructured};
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kube_core::{ApiResource, GroupVersionKind, discovery::Scope};

    use super::{
        OwnedBy, controller_of, has_owner_reference, remove_controller_reference, remove_owner_reference,
        set_owner_reference,
    };

    fn meta(namespace: &str, name: &str, uid: &str) -> ObjectMeta {
        let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ObjectMeta { namespace: set(namespace), name: set(name), uid: set(uid), ..ObjectMeta::default() }
    }

    fn config_map(namespace: &str, name: &str) -> ConfigMap {
        ConfigMap { metadata: meta(namespace, name, ""), ..ConfigMap::default() }
    }

    fn deployment(namespace: &str, name: &str, uid: &str) -> Deployment {
        Deployment { metadata: meta(namespace, name, uid), ..Deployment::default() }
    }

    #[test]
    fn an_owned_object_names_its_controller() {
        let child = config_map("ns", "a").owned_by(&deployment("ns", "web", "u1")).unwrap();
        insta::assert_json_snapshot!(child.metadata.owner_references, @r#"
        [
          {
            "apiVersion": "apps/v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "Deployment",
            "name": "web",
            "uid": "u1"
          }
        ]
        "#);
    }

    #[test]
    fn an_owner_known_at_run_time_is_named_as_its_kind() {
        let gvk = GroupVersionKind::gvk("ref.dev", "v1", "App");
        let kind = Kind::dynamic(ApiResource::from_gvk(&gvk), Scope::Namespaced);
        let mut owner = Unstructured::new("web", kind.resource());
        owner.metadata = meta("ns", "web", "u1");
        let child = config_map("ns", "a").owned_by_kind(&owner, &kind).unwrap();
        let reference = controller_of(&child).unwrap();
        assert_eq!((reference.api_version.as_str(), reference.kind.as_str()), ("ref.dev/v1", "App"));
        assert!(has_owner_reference(&child, &owner, &kind));
    }

    #[test]
    fn references_go_by_group_kind_and_name() {
        let (kind, web) = (Kind::<Deployment>::typed(), deployment("ns", "web", "u1"));
        let node = Node { metadata: meta("", "n1", "u2"), ..Node::default() };
        let mut child = config_map("ns", "a").owned_by(&web).unwrap();
        set_owner_reference(&mut child, &node, &Kind::typed()).unwrap();
        child.metadata.owner_references.as_mut().unwrap()[0].api_version = "apps/v1beta1".to_owned();
        assert!(has_owner_reference(&child, &web, &kind));
        assert!(!has_owner_reference(&child, &deployment("ns", "api", "u1"), &kind));
        assert!(!remove_controller_reference(&mut child, &node, &Kind::typed()), "the node does not control it");
        assert!(remove_controller_reference(&mut child, &web, &kind));
        assert!(!remove_owner_reference(&mut child, &web, &kind));
        assert!(remove_owner_reference(&mut child, &node, &Kind::typed()));
        assert_eq!(child.metadata.owner_references.unwrap(), []);
    }

    #[test]
    fn b45_a_version_change_replaces_the_reference() {
        let mut child = config_map("ns", "a").owned_by(&deployment("ns", "web", "u1")).unwrap();
        child.metadata.owner_references.as_mut().unwrap()[0].api_version = "apps/v1beta1".to_owned();
        let child = child.owned_by(&deployment("ns", "web", "u2")).unwrap();
        let references = child.metadata.owner_references.unwrap();
        assert_eq!(references.len(), 1);
        assert_eq!((references[0].api_version.as_str(), references[0].uid.as_str()), ("apps/v1", "u2"));
    }

    #[test]
    fn b45_refused_owners() {
        fn check(child: ConfigMap, owner: &Deployment, expected: &str) {
            assert_eq!(child.owned_by(owner).unwrap_err().to_string(), expected);
        }
        check(
            config_map("ns", "a"),
            &deployment("ns", "web", ""),
            "Deployment ns/web cannot own ns/a: it has no uid, because it does not come from the server",
        );
        check(
            config_map("other", "a"),
            &deployment("ns", "web", "u1"),
            "Deployment ns/web cannot own other/a: a namespaced owner owns only objects of its own namespace",
        );
        check(
            config_map("ns", "a").owned_by(&deployment("ns", "web", "u1")).unwrap(),
            &deployment("ns", "api", "u2"),
            "Deployment ns/api cannot control ns/a: Deployment web controls it",
        );
    }

    #[test]
    fn a_second_owner_does_not_control() {
        let mut child = config_map("ns", "a").owned_by(&deployment("ns", "web", "u1")).unwrap();
        let node = Node { metadata: meta("", "n1", "u2"), ..Node::default() };
        set_owner_reference(&mut child, &node, &Kind::typed()).unwrap();
        let references = child.metadata.owner_references.unwrap();
        assert_eq!(references.iter().map(|reference| reference.controller).collect::<Vec<_>>(), [Some(true), None]);
    }
}
