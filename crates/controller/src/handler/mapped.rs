use std::fmt;

use controller_runtime_scheme::ObjectKey;

use super::{Handler, Triggers};
use crate::event::Event;

/// See [`mapped`].
#[derive(Clone, Copy)]
pub struct Mapped<F>(F);

/// The objects that `map` names are to be reconciled. Of an update it is called with what the object was and with what
/// it is, and each name counts once.
pub fn mapped<W, F: Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static>(map: F) -> Mapped<F> {
    Mapped(map)
}

impl<W, F> Handler<W> for Mapped<F>
where
    F: Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static,
{
    fn handle(&self, event: &Event<W>, triggers: &mut Triggers) {
        for key in event.objects().flat_map(|object| (self.0)(object)) {
            triggers.add(key);
        }
    }
}

impl<F> fmt::Debug for Mapped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use controller_runtime_scheme::ObjectKey;
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::{Handler as _, Triggers, mapped};
    use crate::event::Event;

    #[test]
    fn b36_an_update_is_mapped_on_both_sides_and_each_key_counts_once() {
        let handler = mapped(|object: &ConfigMap| {
            let data = object.data.iter().flatten();
            data.map(|(key, _)| ObjectKey::namespaced("shop", key)).collect()
        });
        let object = |keys: &[&str]| {
            let data = keys.iter().map(|key| ((*key).to_owned(), String::new())).collect();
            Arc::new(ConfigMap { data: Some(data), ..ConfigMap::default() })
        };
        let mut triggers = Triggers::default();
        handler.handle(&Event::Updated { old: object(&["a", "b"]), new: object(&["b", "c"]) }, &mut triggers);
        assert_eq!(triggers.names(), ["shop/a", "shop/b", "shop/c"]);
    }
}
