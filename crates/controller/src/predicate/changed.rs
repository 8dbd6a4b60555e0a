use kube_core::{Resource, ResourceExt as _};

use super::Predicate;
use crate::event::Event;

/// See [`generation_changed`].
#[derive(Clone, Copy, Debug)]
pub struct GenerationChanged;

/// See [`resource_version_changed`].
#[derive(Clone, Copy, Debug)]
pub struct ResourceVersionChanged;

/// See [`labels_changed`].
#[derive(Clone, Copy, Debug)]
pub struct LabelsChanged;

/// See [`annotations_changed`].
#[derive(Clone, Copy, Debug)]
pub struct AnnotationsChanged;

/// Drops updates that keep the object's generation: those of status, labels and annotations, for kinds that have a
/// generation. Kinds without one, such as ConfigMap, lose all their updates. Everything else is passed.
pub fn generation_changed() -> GenerationChanged {
    GenerationChanged
}

/// Drops updates that change nothing, such as those of a resync. Everything else is passed.
pub fn resource_version_changed() -> ResourceVersionChanged {
    ResourceVersionChanged
}

/// Drops updates that keep the labels. Everything else is passed.
pub fn labels_changed() -> LabelsChanged {
    LabelsChanged
}

/// Drops updates that keep the annotations. Everything else is passed.
pub fn annotations_changed() -> AnnotationsChanged {
    AnnotationsChanged
}

/// Whether the event is no update, or one whose sides differ.
fn changed<K>(event: &Event<K>, differ: impl Fn(&K, &K) -> bool) -> bool {
    match event {
        Event::Updated { old, new } => differ(old, new),
        _ => true,
    }
}

impl<K: Resource> Predicate<K> for GenerationChanged {
    fn test(&self, event: &Event<K>) -> bool {
        changed(event, |old, new| old.meta().generation != new.meta().generation)
    }
}

impl<K: Resource> Predicate<K> for ResourceVersionChanged {
    fn test(&self, event: &Event<K>) -> bool {
        changed(event, |old, new| old.meta().resource_version != new.meta().resource_version)
    }
}

impl<K: Resource> Predicate<K> for LabelsChanged {
    fn test(&self, event: &Event<K>) -> bool {
        changed(event, |old, new| old.labels() != new.labels())
    }
}

impl<K: Resource> Predicate<K> for AnnotationsChanged {
    fn test(&self, event: &Event<K>) -> bool {
        changed(event, |old, new| old.annotations() != new.annotations())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use crate::event::Event;
    use crate::predicate::{self, Predicate};

    fn object(generation: i64, version: &str, label: &str, annotation: &str) -> Arc<Deployment> {
        let one = |value: &str| Some([("k".to_owned(), value.to_owned())].into());
        let metadata = ObjectMeta {
            generation: Some(generation),
            resource_version: Some(version.to_owned()),
            labels: one(label),
            annotations: one(annotation),
            ..ObjectMeta::default()
        };
        Arc::new(Deployment { metadata, ..Deployment::default() })
    }

    /// What each predicate says: generation, version, labels, annotations.
    fn verdicts(event: &Event<Deployment>) -> [bool; 4] {
        [
            predicate::generation_changed().test(event),
            predicate::resource_version_changed().test(event),
            predicate::labels_changed().test(event),
            predicate::annotations_changed().test(event),
        ]
    }

    #[test]
    fn updates_must_change_what_is_asked_for() {
        let check = |new: Arc<Deployment>, expected| {
            assert_eq!(verdicts(&Event::Updated { old: object(1, "1", "a", "a"), new }), expected);
        };
        check(object(1, "1", "a", "a"), [false; 4]);
        check(object(1, "2", "a", "a"), [false, true, false, false]);
        check(object(2, "2", "a", "a"), [true, true, false, false]);
        check(object(1, "2", "b", "a"), [false, true, true, false]);
        check(object(1, "2", "a", "b"), [false, true, false, true]);
    }

    #[test]
    fn b37_creates_deletes_and_generic_events_are_always_passed() {
        let object = object(1, "1", "a", "a");
        for event in [
            Event::Created { object: object.clone(), initial: true },
            Event::Deleted { object: object.clone(), final_state_unknown: true },
            Event::Generic { object },
        ] {
            assert_eq!(verdicts(&event), [true; 4]);
        }
    }

    #[test]
    fn they_combine() {
        let event = Event::Updated { old: object(1, "1", "a", "a"), new: object(1, "2", "b", "a") };
        let (yes, no) = (predicate::labels_changed(), predicate::generation_changed());
        assert!(predicate::or(yes, no).test(&event) && predicate::or(no, yes).test(&event));
        assert!(predicate::and(yes, yes).test(&event) && !predicate::or(no, no).test(&event));
        assert!(!predicate::and(yes, no).test(&event) && !predicate::and(no, yes).test(&event));
        assert!(predicate::not(no).test(&event));
        assert!(predicate::not(|event: &Event<Deployment>| event.is_deleted()).test(&event));
    }
}
