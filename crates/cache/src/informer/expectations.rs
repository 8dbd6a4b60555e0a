use std::sync::atomic::{AtomicUsize, Ordering};

use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::store::Store;

/// Writes of ours that the cache must show and that have no comparable version: deletions, and versions that aren't
/// numbers.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// How many there are, so that nobody locks when there are none.
    count: AtomicUsize,
    open: Mutex<Vec<Expectation>>,
}

#[derive(Debug)]
struct Expectation {
    key: ObjectKey,
    until: Until,
    since: Instant,
}

/// When an expectation is met.
#[derive(Debug)]
pub(crate) enum Until {
    /// The object with this uid is gone.
    Gone(String),
    /// The object has, or has had, this version.
    Version(String),
}

impl Expectations {
    pub(crate) fn add(&self, key: ObjectKey, until: Until) {
        let mut open = self.open.lock();
        open.push(Expectation { key, until, since: Instant::now() });
        self.count.store(open.len(), Ordering::Release);
    }

    /// An object was seen in this version.
    pub(crate) fn seen<K: Object>(&self, object: &K) {
        let version = object.meta().resource_version.as_deref();
        self.drop_where(|expectation| {
            matches!(&expectation.until, Until::Version(wanted) if Some(wanted.as_str()) == version)
                && expectation.key == ObjectKey::of(object)
        });
    }

    /// An object is gone: none of its versions is still to come.
    pub(crate) fn gone(&self, key: &ObjectKey) {
        self.drop_where(|expectation| matches!(expectation.until, Until::Version(_)) && expectation.key == *key);
    }

    /// A list that began then shows everything written before.
    pub(crate) fn listed(&self, began: Instant) {
        self.drop_where(|expectation| expectation.since < began);
    }

    /// Whether everything expected in the namespace (everywhere, if none) has come.
    pub(crate) fn are_met<K: Object>(&self, store: &Store<K>, namespace: Option<&str>) -> bool {
        if self.count.load(Ordering::Acquire) == 0 {
            return true;
        }
        // Of another namespace the store may lack an object only because it has not seen its creation yet.
        let asked = |key: &ObjectKey| namespace.is_none() || key.namespace.as_deref() == namespace;
        self.drop_where(|Expectation { key, until, .. }| {
            asked(key)
                && match until {
                    Until::Gone(uid) => store.get(key).is_none_or(|object| object.meta().uid.as_ref() != Some(uid)),
                    // An object that isn't there yet is still to come in this version.
                    Until::Version(version) => {
                        store.get(key).is_some_and(|object| object.meta().resource_version.as_ref() == Some(version))
                    }
                }
        });
        let open = self.open.lock();
        !open.iter().any(|expectation| asked(&expectation.key))
    }

    fn drop_where(&self, mut met: impl FnMut(&Expectation) -> bool) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut open = self.open.lock();
        open.retain(|expectation| !met(expectation));
        self.count.store(open.len(), Ordering::Release);
    }
}
