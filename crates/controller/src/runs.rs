use std::collections::BTreeMap;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;

use crate::event::Event;
use crate::handler::{Handler, Triggers};

/// Which version of an object each run has, so that a newer one can cancel it.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    running: Mutex<BTreeMap<ObjectKey, Version>>,
}

#[derive(Debug)]
struct Version {
    cancel: CancellationToken,
    /// What the run was given; none as long as it is being read.
    given: Option<String>,
    /// What has been seen since the run began.
    seen: Option<String>,
}

/// A run's entry; dropping it removes it.
pub(crate) struct Entered<'a> {
    runs: &'a Runs,
    key: &'a ObjectKey,
}

impl Runs {
    /// A run begins that `cancel` cancels. At most one run has a key.
    pub(crate) fn enter<'a>(&'a self, key: &'a ObjectKey, cancel: &CancellationToken) -> Entered<'a> {
        let version = Version { cancel: cancel.clone(), given: None, seen: None };
        self.running.lock().insert(key.clone(), version);
        Entered { runs: self, key }
    }

    fn change(&self, key: &ObjectKey, change: impl FnOnce(&mut Version)) {
        if let Some(version) = self.running.lock().get_mut(key) {
            change(version);
            if let (Some(given), Some(seen)) = (&version.given, &version.seen)
                && given != seen
            {
                version.cancel.cancel();
            }
        }
    }
}

impl Entered<'_> {
    /// The run gets the object in this version.
    pub(crate) fn given(&self, version: &str) {
        self.runs.change(self.key, |run| run.given = Some(version.to_owned()));
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.runs.running.lock().remove(self.key);
    }
}

/// Like [`Itself`](crate::handler::Itself), and cancels a run that has an older version of the object.
pub(crate) struct Newest(pub(crate) std::sync::Arc<Runs>);

impl<K: Object> Handler<K> for Newest {
    fn handle(&self, event: &Event<K>, triggers: &mut Triggers) {
        let object = event.object();
        let key = ObjectKey::of(&**object);
        let version = if event.is_deleted() { "gone" } else { object.meta().resource_version.as_deref().unwrap_or("") };
        self.0.change(&key, |run| run.seen = Some(version.to_owned()));
        triggers.add(key);
    }
}
