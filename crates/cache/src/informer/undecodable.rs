use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use controller_runtime_scheme::ObjectKey;
use parking_lot::Mutex;

/// The objects that exist on the server and don't fit their type, so that reads don't take them for absent.
///
/// A key is put in before the store may lose or keep an old state of it, and goes only when the store has what is true:
/// a read that looks here first, and then in the store, is never wrong.
#[derive(Debug, Default)]
pub(crate) struct Undecodable {
    /// How many there are, so that nobody locks when there are none.
    count: AtomicUsize,
    keys: Mutex<BTreeSet<ObjectKey>>,
}

impl Undecodable {
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.keys.lock().contains(key)
    }

    pub(crate) fn add(&self, keys: impl IntoIterator<Item = ObjectKey>) {
        self.change(|known| known.extend(keys));
    }

    pub(crate) fn remove(&self, key: &ObjectKey) {
        if self.count.load(Ordering::Acquire) > 0 {
            self.change(|known| {
                known.remove(key);
            });
        }
    }

    /// Only those are left of which this is true.
    pub(crate) fn keep(&self, stays: impl Fn(&ObjectKey) -> bool) {
        self.change(|known| known.retain(|key| stays(key)));
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<ObjectKey>)) {
        let mut keys = self.keys.lock();
        change(&mut keys);
        self.count.store(keys.len(), Ordering::Release);
    }
}
