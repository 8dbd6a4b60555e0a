use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::informer::scope::number;
use crate::informer::write::{Ask, Target};
use crate::query::ListQuery;
use crate::store::Store;

/// How long the cache is watched for an object that is gone and that it doesn't show. Only a cache that is further
/// behind than this, and then catches up event by event, shows the object once more for a moment.
const FORGET_AFTER: Duration = Duration::from_mins(10);

/// Writes of ours that reads must see and that a single comparable version doesn't tell of: deletions, versions that
/// aren't numbers, and writes of which nobody knows what became.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// How many there are, so that nobody locks when there are none.
    count: AtomicUsize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last_id: u64,
    entries: Vec<Expectation>,
}

#[derive(Debug)]
struct Expectation {
    id: u64,
    target: Target,
    until: Until,
    since: Instant,
}

/// What the cache must show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Until {
    /// The object must have, or have had, this version.
    Version { version: String, uid: Option<String> },
    /// The object with this uid must not be there. This stays, because the cache may not yet know that it ever was,
    /// until its deletion is seen, or the version of something written later.
    Gone { uid: String, later: Option<u64> },
    /// Of the objects that are not newer than this version only those with these uids may be there.
    Only { alive: BTreeSet<String>, version: u64 },
    /// The server must be asked.
    Unsure,
}

impl Expectations {
    pub(crate) fn add(&self, target: Target, until: Until) {
        self.change(|open| {
            open.last_id += 1;
            open.entries.retain(|known| known.target != target || known.until != until);
            open.entries.push(Expectation { id: open.last_id, target, until, since: Instant::now() });
        });
    }

    /// Something was written in this version, after what was expected before `began`.
    pub(crate) fn wrote_later(&self, version: u64, began: Instant) {
        self.change_if_any(|open| {
            for entry in &mut open.entries {
                if let Until::Gone { later: later @ None, .. } = &mut entry.until
                    && entry.since < began
                {
                    *later = Some(version);
                }
            }
        });
    }

    /// An object was seen in this version.
    pub(crate) fn seen(&self, key: &ObjectKey, version: &str) {
        self.drop_where(|entry| {
            matches!(&entry.until, Until::Version { version: wanted, .. } if wanted == version) && entry.is_about(key)
        });
    }

    /// An object is gone; without a uid, whichever it was. None of its versions is still to come.
    pub(crate) fn gone(&self, key: &ObjectKey, uid: Option<&str>) {
        self.drop_where(|entry| {
            entry.is_about(key)
                && match &entry.until {
                    Until::Version { uid: expected, .. } => {
                        expected.is_none() || uid.is_none() || expected.as_deref() == uid
                    }
                    Until::Gone { uid: expected, .. } => uid == Some(expected),
                    Until::Only { .. } | Until::Unsure => false,
                }
        });
    }

    /// A list of those targets that began then shows everything written before.
    pub(crate) fn listed(&self, began: Instant, covers: impl Fn(&Target) -> bool) {
        self.drop_where(|entry| entry.since < began && covers(&entry.target));
    }

    /// What the server must be asked before the read is answered.
    pub(crate) fn unsure(&self, ask: Ask<'_>) -> Vec<(u64, Target)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let open = self.open.lock();
        let unsure = open.entries.iter().filter(|entry| entry.until == Until::Unsure && ask.concerns(&entry.target));
        unsure.map(|entry| (entry.id, entry.target.clone())).collect()
    }

    /// The server was asked.
    pub(crate) fn settled(&self, id: u64) {
        self.drop_where(|entry| entry.id == id);
    }

    /// Whether the read's answer shows what was written before; `seen` tells the version that the cache is as new as
    /// in a namespace.
    pub(crate) fn are_met<K: Object>(
        &self,
        ask: Ask<'_>,
        store: &Store<K>,
        seen: impl Fn(Option<&str>) -> u64,
    ) -> bool {
        self.drop_where(|entry| entry.is_over(store, seen(entry.target.namespace())));
        if self.count.load(Ordering::Acquire) == 0 {
            return true;
        }
        let open = self.open.lock();
        open.entries.iter().filter(|entry| ask.concerns(&entry.target)).all(|entry| entry.is_met(store))
    }

    fn drop_where(&self, over: impl Fn(&Expectation) -> bool) {
        self.change_if_any(|open| open.entries.retain(|entry| !over(entry)));
    }

    fn change_if_any(&self, change: impl FnOnce(&mut Open)) {
        if self.count.load(Ordering::Acquire) > 0 {
            self.change(change);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Open)) {
        let mut open = self.open.lock();
        change(&mut open);
        self.count.store(open.entries.len(), Ordering::Release);
    }
}

impl Expectation {
    fn is_about(&self, key: &ObjectKey) -> bool {
        matches!(&self.target, Target::Object(own) if own == key)
    }

    /// Whether the store shows nothing that contradicts it.
    fn is_met<K: Object>(&self, store: &Store<K>) -> bool {
        match &self.until {
            // An object that isn't there yet is still to come in this version.
            Until::Version { version, .. } => {
                self.objects(store, |object| object.meta().resource_version.as_ref() == Some(version), false)
            }
            Until::Gone { uid, .. } => self.objects(store, |object| object.meta().uid.as_ref() != Some(uid), true),
            Until::Only { alive, version } => {
                let is_alive = |object: &K| object.meta().uid.as_ref().is_some_and(|uid| alive.contains(uid));
                let is_newer = |object: &K| number(object.meta().resource_version.as_deref()) > *version;
                self.objects(store, |object| is_alive(object) || is_newer(object), true)
            }
            Until::Unsure => false,
        }
    }

    /// Whether it is met for good.
    fn is_over<K: Object>(&self, store: &Store<K>, seen: u64) -> bool {
        let passed = match &self.until {
            Until::Version { .. } => return self.is_met(store),
            Until::Gone { later, .. } => later.is_some_and(|later| seen >= later),
            Until::Only { version, .. } => seen >= *version,
            Until::Unsure => return false,
        };
        passed || (self.since.elapsed() > FORGET_AFTER && self.is_met(store))
    }

    /// Whether `right` is true of all objects of the target; `absent` is the answer for one object that isn't there.
    fn objects<K: Object>(&self, store: &Store<K>, right: impl Fn(&K) -> bool, absent: bool) -> bool {
        match &self.target {
            Target::Object(key) => store.get(key).map_or(absent, |object| right(&object)),
            Target::Objects { namespace, labels } => {
                let mut query = ListQuery::all().labels(labels.clone());
                query.namespace.clone_from(namespace);
                store.list(&query).unwrap_or_default().iter().all(|object| right(object))
            }
        }
    }
}
