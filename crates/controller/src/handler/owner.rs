use controller_runtime_scheme::{Kind, Object, ObjectKey};

use super::{Handler, Triggers};
use crate::event::Event;

/// See [`controller_owner`] and [`every_owner`].
#[derive(Clone, Debug)]
pub struct Owner {
    group: String,
    kind: String,
    namespaced: bool,
    only_controller: bool,
}

/// The owner of kind `kind` that is marked as the object's controller is to be reconciled.
///
/// It is recognised by group and kind: the version in the reference is the one that was current when it was written.
/// An owner of a namespaced kind is in the namespace of what it owns; one of a cluster-scoped kind has none.
pub fn controller_owner<K: Object>(kind: &Kind<K>) -> Owner {
    let resource = kind.resource();
    Owner {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        namespaced: kind.is_namespaced(),
        only_controller: true,
    }
}

/// Every owner of kind `kind` is to be reconciled, whether it is the object's controller or not; see
/// [`controller_owner`].
pub fn every_owner<K: Object>(kind: &Kind<K>) -> Owner {
    Owner { only_controller: false, ..controller_owner(kind) }
}

impl Owner {
    /// The same kind's owners, but all of them.
    pub(crate) fn every(self) -> Self {
        Self { only_controller: false, ..self }
    }

    pub(crate) fn group(&self) -> &str {
        &self.group
    }

    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    fn owners<W: Object>(&self, object: &W, triggers: &mut Triggers) {
        let meta = object.meta();
        for owner in meta.owner_references.iter().flatten() {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            if owner.kind != self.kind
                || group != self.group
                || (self.only_controller && owner.controller != Some(true))
            {
                continue;
            }
            let namespace = meta.namespace.clone().filter(|_| self.namespaced);
            triggers.add(ObjectKey { namespace, name: owner.name.clone() });
        }
    }
}

impl<W: Object> Handler<W> for Owner {
    fn handle(&self, event: &Event<W>, triggers: &mut Triggers) {
        for object in event.objects() {
            self.owners(&**object, triggers);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use controller_runtime_scheme::Kind;
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    use super::{Handler as _, Owner, Triggers, controller_owner, every_owner};
    use crate::event::Event;

    fn owner(api_version: &str, kind: &str, name: &str, controller: Option<bool>) -> OwnerReference {
        OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: "u".to_owned(),
            controller,
            ..OwnerReference::default()
        }
    }

    fn owned(by: Vec<OwnerReference>) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.namespace = Some("shop".to_owned());
        object.metadata.owner_references = Some(by);
        Arc::new(object)
    }

    fn names(handler: &Owner, event: &Event<ConfigMap>) -> Vec<String> {
        let mut triggers = Triggers::default();
        handler.handle(event, &mut triggers);
        triggers.names()
    }

    #[test]
    fn b35_only_a_controller_of_the_kind_counts_in_whatever_version() {
        let handler = controller_owner(&Kind::<Deployment>::typed());
        let check = |reference, expected: &[&str]| {
            let event = Event::Created { object: owned(vec![reference]), initial: false };
            assert_eq!(names(&handler, &event), expected);
        };
        check(owner("apps/v1", "Deployment", "web", Some(true)), &["shop/web"]);
        check(owner("apps/v1beta2", "Deployment", "web", Some(true)), &["shop/web"]);
        check(owner("apps/v1", "Deployment", "web", Some(false)), &[]);
        check(owner("apps/v1", "Deployment", "web", None), &[]);
        check(owner("apps/v1", "StatefulSet", "web", Some(true)), &[]);
        check(owner("ref.dev/v1", "Deployment", "web", Some(true)), &[]);
        check(owner("v1", "Deployment", "web", Some(true)), &[]);
    }

    #[test]
    fn b35_a_cluster_scoped_owner_has_no_namespace() {
        let handler = controller_owner(&Kind::<Node>::typed());
        let object = owned(vec![owner("v1", "Node", "n1", Some(true))]);
        assert_eq!(names(&handler, &Event::Created { object, initial: false }), ["n1"]);
    }

    #[test]
    fn every_owner_of_the_kind_counts_where_that_is_asked_for() {
        let handler = every_owner(&Kind::<Deployment>::typed());
        let references = vec![
            owner("apps/v1", "Deployment", "a", Some(true)),
            owner("apps/v1", "Deployment", "b", None),
            owner("apps/v1", "StatefulSet", "c", None),
        ];
        assert_eq!(names(&handler, &Event::Generic { object: owned(references) }), ["shop/a", "shop/b"]);
    }

    #[test]
    fn an_update_concerns_the_old_owner_and_the_new_one() {
        let handler = controller_owner(&Kind::<Deployment>::typed());
        let by = |name| owned(vec![owner("apps/v1", "Deployment", name, Some(true))]);
        let check = |old, new, expected: &[&str]| {
            assert_eq!(names(&handler, &Event::Updated { old: by(old), new: by(new) }), expected);
        };
        check("a", "b", &["shop/a", "shop/b"]);
        check("a", "a", &["shop/a"]);
    }
}
