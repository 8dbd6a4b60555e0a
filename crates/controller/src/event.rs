use std::sync::Arc;

/// What happened to an object, as predicates and handlers see it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<K> {
    /// It is there: it was made, or it was in the initial list.
    Created {
        /// The object.
        object: Arc<K>,
        /// Whether it was in the initial list.
        initial: bool,
    },
    /// It changed, or a resync repeats it.
    Updated {
        /// What it was.
        old: Arc<K>,
        /// What it is.
        new: Arc<K>,
    },
    /// It is gone.
    Deleted {
        /// What it was.
        object: Arc<K>,
        /// Its end was missed while there was no watch: `object` is the last known state, maybe not the last one.
        final_state_unknown: bool,
    },
    /// Something outside the cluster concerns it; a [channel](crate::source::channel) gives such events.
    Generic {
        /// The object.
        object: Arc<K>,
    },
}

impl<K> Event<K> {
    /// The object: of an update, what it is now.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Created { object, .. }
            | Self::Updated { new: object, .. }
            | Self::Deleted { object, .. }
            | Self::Generic { object } => object,
        }
    }

    /// All sides of the event: of an update what it was and what it is, else the one object.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<K>> {
        let old = if let Self::Updated { old, .. } = self { Some(old) } else { None };
        old.into_iter().chain([self.object()])
    }

    /// Whether the object was made or was in the initial list.
    pub fn is_created(&self) -> bool {
        matches!(self, Self::Created { .. })
    }

    /// Whether the object is gone.
    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::Deleted { .. })
    }
}

impl<K> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Created { object, initial } => Self::Created { object: object.clone(), initial: *initial },
            Self::Updated { old, new } => Self::Updated { old: old.clone(), new: new.clone() },
            Self::Deleted { object, final_state_unknown } => {
                Self::Deleted { object: object.clone(), final_state_unknown: *final_state_unknown }
            }
            Self::Generic { object } => Self::Generic { object: object.clone() },
        }
    }
}
