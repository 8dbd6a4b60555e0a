use std::collections::BTreeSet;

use controller_runtime_scheme::{Object, ObjectKey};

use super::Handler;
use crate::event::Event;

/// The object itself is to be reconciled.
#[derive(Debug)]
pub(crate) struct Itself;

impl<K: Object> Handler<K> for Itself {
    fn keys(&self, event: &Event<K>) -> BTreeSet<ObjectKey> {
        BTreeSet::from([ObjectKey::of(&**event.object())])
    }
}
