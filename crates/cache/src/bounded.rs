use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use controller_runtime_client::{Api, ClientError};
use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::informer::Target;
use crate::options::{Bounds, Plan};

/// Some objects of one kind, each for a while. It has no watch: what it lacks, or has had for too long, is read from
/// the server.
#[derive(Debug)]
pub(crate) struct Bounded<K: Object> {
    api: Api<K>,
    bounds: Bounds,
    plans: Vec<Plan>,
    held: Mutex<Held<K>>,
}

#[derive(Debug)]
struct Held<K> {
    entries: HashMap<ObjectKey, Entry<K>>,
    /// By when they were last used; each has a turn of its own.
    order: BTreeMap<u64, ObjectKey>,
    turn: u64,
    /// How many writes of ours there were: what was read before the last of them may be older than it.
    writes: u64,
}

#[derive(Debug)]
struct Entry<K> {
    object: Arc<K>,
    read_at: Instant,
    turn: u64,
}

impl<K: Object> Bounded<K> {
    pub(crate) fn new(api: Api<K>, bounds: Bounds, plans: Vec<Plan>) -> Self {
        let held = Held { entries: HashMap::new(), order: BTreeMap::new(), turn: 0, writes: 0 };
        Self { api, bounds, plans, held: Mutex::new(held) }
    }

    /// Whether it may be asked for the namespace.
    pub(crate) fn covers(&self, namespace: Option<&str>) -> bool {
        self.plans.iter().any(|plan| plan.covers(namespace))
    }

    /// The object, from the server if need be. Cancel safe.
    pub(crate) async fn get(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, ClientError> {
        let writes = {
            let mut held = self.held.lock();
            if let Some(object) = held.fresh(key, self.bounds) {
                return Ok(Some(object));
            }
            held.writes
        };
        let began = Instant::now();
        let Some(mut object) = self.api.get_opt(key).await? else {
            self.forget(key);
            return Ok(None);
        };
        let plan = self.plans.iter().find(|plan| plan.covers(key.namespace.as_deref()));
        let labels = object.meta().labels.clone().unwrap_or_default();
        if !plan.is_some_and(|plan| plan.selection.matches_labels(&labels)) {
            return Ok(None);
        }
        if let Some(transform) = plan.and_then(|plan| plan.transform.as_ref()) {
            transform.apply(&mut object);
        }
        let object = Arc::new(object);
        let mut held = self.held.lock();
        if held.writes == writes {
            held.put(key, &object, began, self.bounds);
        }
        Ok(Some(object))
    }

    fn forget(&self, key: &ObjectKey) {
        self.held.lock().take(key);
    }

    /// We wrote: the next read of the target asks the server.
    pub(crate) fn wrote(&self, target: &Target) {
        let mut held = self.held.lock();
        held.writes += 1;
        match target {
            Target::Object(key) => held.take(key),
            // Which objects it was only the server knows.
            Target::Objects { .. } => {
                held.entries.clear();
                held.order.clear();
            }
        }
    }
}

impl<K> Held<K> {
    fn fresh(&mut self, key: &ObjectKey, bounds: Bounds) -> Option<Arc<K>> {
        let entry = self.entries.get_mut(key)?;
        if entry.read_at.elapsed() >= bounds.max_age {
            self.take(key);
            return None;
        }
        self.turn += 1;
        self.order.remove(&entry.turn);
        self.order.insert(self.turn, key.clone());
        entry.turn = self.turn;
        Some(entry.object.clone())
    }

    fn put(&mut self, key: &ObjectKey, object: &Arc<K>, read_at: Instant, bounds: Bounds) {
        if self.entries.get(key).is_some_and(|entry| entry.read_at > read_at) {
            return;
        }
        self.take(key);
        self.turn += 1;
        self.order.insert(self.turn, key.clone());
        self.entries.insert(key.clone(), Entry { object: object.clone(), read_at, turn: self.turn });
        while self.entries.len() > bounds.max_entries {
            let Some((_, oldest)) = self.order.pop_first() else { return };
            self.entries.remove(&oldest);
        }
    }

    fn take(&mut self, key: &ObjectKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.turn);
        }
    }
}
