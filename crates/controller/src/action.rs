use std::time::Duration;

/// What is to happen after a reconcile that went well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "an action says when the object is reconciled next"]
pub struct Action {
    pub(crate) requeue: Requeue,
    pub(crate) priority: Option<i32>,
}

/// When the object is to be reconciled again without an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Requeue {
    #[default]
    Never,
    After(Duration),
    WithBackoff,
}

impl Action {
    /// Nothing more to do until something changes.
    pub fn done() -> Self {
        Self::default()
    }

    /// Reconcile the object again after `delay`, or earlier when something changes. Earlier failures are forgotten.
    pub fn requeue_after(delay: Duration) -> Self {
        Self { requeue: Requeue::After(delay), priority: None }
    }

    /// Reconcile the object again after its back-off, which grows each time until [`Action::done`] or
    /// [`Action::requeue_after`]. Prefer a definite delay, or a watch on what is being waited for.
    pub fn requeue() -> Self {
        Self { requeue: Requeue::WithBackoff, priority: None }
    }

    /// The priority with which the object is queued again; by default the one it came with.
    pub fn with_priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }
}
