use std::sync::Arc;

use controller_runtime_scheme::{Object, ObjectKey};

/// What happened to an object, as an informer tells its handlers.
#[derive(Debug)]
#[non_exhaustive]
pub enum ObjectEvent<K> {
    /// The object is new to the cache.
    Added {
        /// The object.
        object: Arc<K>,
        /// Whether the object was there when the cache or the handler started, so that nothing has happened.
        initial: bool,
    },
    /// The object changed, or a resync repeats it: then both are the same.
    Updated {
        /// What it was.
        old: Arc<K>,
        /// What it is.
        new: Arc<K>,
    },
    /// The object is gone.
    Deleted {
        /// Its last state.
        object: Arc<K>,
        /// Whether the deletion itself was missed during a gap in the watch, so that `object` is the last state
        /// that was seen rather than the last one it had.
        final_state_unknown: bool,
    },
}

impl<K: Object> ObjectEvent<K> {
    /// The object; of an update what it is now.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Added { object, .. } | Self::Updated { new: object, .. } | Self::Deleted { object, .. } => object,
        }
    }

    /// Whether nothing has happened: the object was there when the cache or the handler started, or a resync repeats
    /// it. Whoever reacts to events can let others go first.
    pub fn is_repetition(&self) -> bool {
        match self {
            Self::Added { initial, .. } => *initial,
            Self::Updated { old, new } => old.meta().resource_version == new.meta().resource_version,
            Self::Deleted { .. } => false,
        }
    }

    /// The object's namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::of(&**self.object())
    }
}

// Derived Clone would ask for `K: Clone`, and what is cloned are pointers.
impl<K> Clone for ObjectEvent<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { object, initial } => Self::Added { object: object.clone(), initial: *initial },
            Self::Updated { old, new } => Self::Updated { old: old.clone(), new: new.clone() },
            Self::Deleted { object, final_state_unknown } => {
                Self::Deleted { object: object.clone(), final_state_unknown: *final_state_unknown }
            }
        }
    }
}
