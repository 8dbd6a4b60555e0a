use std::collections::BTreeSet;

use controller_runtime_scheme::ObjectKey;
use controller_runtime_workqueue::{Add, Queue};

/// What one event leads to. A key that is added several times counts once, since both sides of an update may lead to the
/// same object.
#[derive(Debug, Default)]
pub struct Triggers {
    keys: BTreeSet<ObjectKey>,
    others: Vec<(ObjectKey, Add)>,
}

impl Triggers {
    /// Reconcile this object, with the event's priority: that of objects of the initial list and of updates without a
    /// new version is low.
    pub fn add(&mut self, key: ObjectKey) {
        self.keys.insert(key);
    }

    /// Reconcile this object as `how` says, which has its own priority.
    pub fn add_with(&mut self, key: ObjectKey, how: Add) {
        self.others.push((key, how));
    }

    pub(crate) fn queue(self, queue: &Queue<ObjectKey>, priority: i32) {
        for key in self.keys {
            queue.add_with(key, Add::now().priority(priority));
        }
        for (key, how) in self.others {
            queue.add_with(key, how);
        }
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> Vec<String> {
        self.keys.iter().map(ToString::to_string).collect()
    }
}
