use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use controller_runtime_scheme::ObjectKey;

/// The values under which an index lists an object.
pub(crate) type IndexFn<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// Objects by the values that a function gives for them.
pub(crate) struct Index<K, P> {
    values_of: IndexFn<K>,
    entries: BTreeMap<String, BTreeMap<Arc<ObjectKey>, P>>,
}

impl<K, P> Index<K, P> {
    pub(crate) fn new(values_of: IndexFn<K>) -> Self {
        Self { values_of, entries: BTreeMap::new() }
    }

    /// The object's values. A function that panics is reported, and lists its object nowhere.
    fn values(&self, key: &ObjectKey, object: &K) -> Vec<String> {
        catch_unwind(AssertUnwindSafe(|| (self.values_of)(object))).unwrap_or_else(|_| {
            tracing::error!(%key, "an index function panicked; the object is missing in its index");
            Vec::new()
        })
    }

    pub(crate) fn insert(&mut self, key: &Arc<ObjectKey>, object: &K, packed: &P)
    where
        P: Clone,
    {
        for value in self.values(key, object) {
            self.entries.entry(value).or_default().insert(key.clone(), packed.clone());
        }
    }

    pub(crate) fn remove(&mut self, key: &ObjectKey, object: &K) {
        for value in self.values(key, object) {
            let Some(entry) = self.entries.get_mut(&value) else { continue };
            entry.remove(key);
            if entry.is_empty() {
                self.entries.remove(&value);
            }
        }
    }

    pub(crate) fn get(&self, value: &str) -> Option<&BTreeMap<Arc<ObjectKey>, P>> {
        self.entries.get(value)
    }
}

impl<K, P> fmt::Debug for Index<K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("values", &self.entries.len()).finish_non_exhaustive()
    }
}
