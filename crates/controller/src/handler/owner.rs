use std::collections::BTreeSet;

use controller_runtime_scheme::{Kind, Object, ObjectKey};

use super::Handler;
use crate::event::Event;

/// The object that controls this one is to be reconciled.
///
/// Only the one owner that is marked as the controller counts. It is recognised by group and kind: the version in the
/// reference is the one that was current when it was written.
#[derive(Debug)]
pub(crate) struct ControllerOwner {
    group: String,
    kind: String,
    namespaced: bool,
}

impl ControllerOwner {
    pub(crate) fn of<K: Object>(kind: &Kind<K>) -> Self {
        let resource = kind.resource();
        Self { group: resource.group.clone(), kind: resource.kind.clone(), namespaced: kind.is_namespaced() }
    }

    fn key<W: Object>(&self, object: &W) -> Option<ObjectKey> {
        let meta = object.meta();
        let owner = meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))?;
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        if owner.kind != self.kind || group != self.group {
            return None;
        }
        // An owner is in the same namespace as what it owns, or in none.
        let namespace = meta.namespace.clone().filter(|_| self.namespaced);
        Some(ObjectKey { namespace, name: owner.name.clone() })
    }
}

impl<W: Object> Handler<W> for ControllerOwner {
    fn keys(&self, event: &Event<W>) -> BTreeSet<ObjectKey> {
        event.objects().filter_map(|object| self.key(&**object)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use controller_runtime_scheme::{Kind, ObjectKey};
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    use super::{ControllerOwner, Handler};
    use crate::event::Event;

    fn owned_by(api_version: &str, kind: &str, name: &str, controller: Option<bool>) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.namespace = Some("shop".to_owned());
        object.metadata.owner_references = Some(vec![OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: "u".to_owned(),
            controller,
            ..OwnerReference::default()
        }]);
        Arc::new(object)
    }

    fn created(object: Arc<ConfigMap>) -> Event<ConfigMap> {
        Event::Created { object, initial: false }
    }

    #[test]
    fn only_a_controller_of_the_kind_counts_in_whatever_version() {
        let handler = ControllerOwner::of(&Kind::<Deployment>::typed());
        let check = |object, expected: &[&str]| {
            let names: Vec<String> = handler.keys(&created(object)).iter().map(ToString::to_string).collect();
            assert_eq!(names, expected);
        };
        check(owned_by("apps/v1", "Deployment", "web", Some(true)), &["shop/web"]);
        check(owned_by("apps/v1beta2", "Deployment", "web", Some(true)), &["shop/web"]);
        check(owned_by("apps/v1", "Deployment", "web", Some(false)), &[]);
        check(owned_by("apps/v1", "Deployment", "web", None), &[]);
        check(owned_by("apps/v1", "StatefulSet", "web", Some(true)), &[]);
        check(owned_by("ref.dev/v1", "Deployment", "web", Some(true)), &[]);
        check(owned_by("v1", "Deployment", "web", Some(true)), &[]);
        check(Arc::new(ConfigMap::default()), &[]);
    }

    #[test]
    fn a_cluster_scoped_owner_has_no_namespace() {
        let handler = ControllerOwner::of(&Kind::<Node>::typed());
        let keys = handler.keys(&created(owned_by("v1", "Node", "n1", Some(true))));
        assert_eq!(keys.into_iter().collect::<Vec<_>>(), [ObjectKey::cluster("n1")]);
    }

    #[test]
    fn an_update_concerns_the_old_owner_and_the_new_one() {
        let handler = ControllerOwner::of(&Kind::<Deployment>::typed());
        let owned = |name| owned_by("apps/v1", "Deployment", name, Some(true));
        let keys = |old, new| handler.keys(&Event::Updated { old, new }).len();
        assert_eq!(keys(owned("a"), owned("b")), 2);
        assert_eq!(keys(owned("a"), owned("a")), 1);
    }
}
