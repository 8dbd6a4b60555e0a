use std::sync::Arc;

use super::Object;

/// What a write did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventType {
    Added,
    Modified,
    Deleted,
}

/// One write.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) kind: EventType,
    /// The object after the write; for a deletion its last state with the revision of the deletion.
    pub(crate) object: Arc<Object>,
    /// The object before the write.
    pub(crate) previous: Option<Arc<Object>>,
}

impl Event {
    pub(super) fn added(object: Arc<Object>) -> Self {
        Self { kind: EventType::Added, object, previous: None }
    }

    pub(super) fn modified(object: Arc<Object>, previous: Arc<Object>) -> Self {
        Self { kind: EventType::Modified, object, previous: Some(previous) }
    }

    pub(super) fn deleted(object: Arc<Object>, previous: Arc<Object>) -> Self {
        Self { kind: EventType::Deleted, object, previous: Some(previous) }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.object.revision
    }
}
