use std::collections::BTreeSet;

use controller_runtime_cache::Cache;
use controller_runtime_scheme::{Object, ObjectKey};

use super::Handler;
use crate::event::Event;

/// A user's function says which objects are to be reconciled.
pub(crate) struct Mapped<F> {
    map: F,
    cache: Cache,
}

impl<F> Mapped<F> {
    pub(crate) fn new(map: F, cache: Cache) -> Self {
        Self { map, cache }
    }
}

impl<W, F> Handler<W> for Mapped<F>
where
    W: Object,
    F: Fn(&W, &Cache) -> Vec<ObjectKey> + Send + Sync + 'static,
{
    fn keys(&self, event: &Event<W>) -> BTreeSet<ObjectKey> {
        event.objects().flat_map(|object| (self.map)(object, &self.cache)).collect()
    }
}
