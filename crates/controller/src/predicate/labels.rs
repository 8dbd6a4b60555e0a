use kube_core::{Resource, ResourceExt as _, Selector, SelectorExt as _};

use super::Predicate;
use crate::event::Event;

/// See [`matches()`].
#[derive(Clone, Debug)]
pub struct Matches(Selector);

/// Passes events of objects whose labels the selector matches. An update is passed when either side matches, so that
/// an object which leaves the selection is seen to do so.
pub fn matches(selector: impl Into<Selector>) -> Matches {
    Matches(selector.into())
}

impl<K: Resource> Predicate<K> for Matches {
    fn test(&self, event: &Event<K>) -> bool {
        event.objects().any(|object| self.0.matches(object.labels()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube_core::Expression;

    use crate::event::Event;
    use crate::predicate::{self, Predicate};

    #[test]
    fn either_side_of_an_update_may_match() {
        let object = |app: &str| {
            let mut object = ConfigMap::default();
            object.metadata.labels = Some([("app".to_owned(), app.to_owned())].into());
            Arc::new(object)
        };
        let check = |old: &str, new: &str, expected| {
            let matches = predicate::matches(Expression::Equal("app".to_owned(), "web".to_owned()));
            let event = Event::Updated { old: object(old), new: object(new) };
            assert_eq!(matches.test(&event), expected, "{old} {new}");
            let event = Event::Deleted { object: object(new), final_state_unknown: false };
            assert_eq!(matches.test(&event), new == "web");
        };
        check("web", "web", true);
        check("web", "db", true);
        check("db", "web", true);
        check("db", "db", false);
    }
}
