use controller_runtime_scheme::{Object, ObjectKey};

use super::{Handler, Triggers};
use crate::event::Event;

/// See [`itself`].
#[derive(Clone, Copy, Debug)]
pub struct Itself;

/// The event's object is to be reconciled.
pub fn itself() -> Itself {
    Itself
}

impl<K: Object> Handler<K> for Itself {
    fn handle(&self, event: &Event<K>, triggers: &mut Triggers) {
        triggers.add(ObjectKey::of(&**event.object()));
    }
}

/// See [`key`].
#[derive(Clone, Copy, Debug)]
pub struct Key;

/// The event's object is itself the key of what is to be reconciled.
pub fn key() -> Key {
    Key
}

impl Handler<ObjectKey> for Key {
    fn handle(&self, event: &Event<ObjectKey>, triggers: &mut Triggers) {
        triggers.add((**event.object()).clone());
    }
}
