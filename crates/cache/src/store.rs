mod packed;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use controller_runtime_scheme::{Object, ObjectKey};
use kube_core::SelectorExt;
use parking_lot::RwLock;

use crate::event::ObjectEvent;
use crate::index::{Index, IndexFn};
use crate::query::ListQuery;

pub(crate) use packed::Packed;

/// The objects of one informer. Every change is one step for readers, a relist too.
#[derive(Debug)]
pub(crate) struct Store<K, P = Arc<K>> {
    contents: RwLock<Contents<K, P>>,
}

#[derive(Debug)]
struct Contents<K, P> {
    /// For single reads.
    by_key: HashMap<Arc<ObjectKey>, P>,
    /// For lists: in order, and a namespace is a range.
    ordered: BTreeMap<Arc<ObjectKey>, P>,
    indexes: BTreeMap<String, Index<K, P>>,
}

/// From how many objects the size of all is estimated: few enough for a scrape.
const SAMPLE: usize = 256;

/// Takes what is written and keeps only its length.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// No index has this name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MissingIndex(pub(crate) String);

impl<K: Object, P: Packed<K>> Store<K, P> {
    pub(crate) fn new() -> Self {
        let contents = Contents { by_key: HashMap::new(), ordered: BTreeMap::new(), indexes: BTreeMap::new() };
        Self { contents: RwLock::new(contents) }
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.contents.read().by_key.get(key).map(P::unpack)
    }

    pub(crate) fn len(&self) -> usize {
        self.contents.read().by_key.len()
    }

    /// About how many bytes the objects have as JSON, from a sample of them.
    pub(crate) fn estimated_size(&self) -> usize {
        let (sample, len) = {
            let contents = self.contents.read();
            let len = contents.by_key.len();
            let every = len.div_ceil(SAMPLE).max(1);
            (contents.ordered.values().step_by(every).map(P::unpack).collect::<Vec<_>>(), len)
        };
        let size = |object: &Arc<K>| {
            let mut counted = Counted(0);
            // What can't be written has no size.
            serde_json::to_writer(&mut counted, &**object).map_or(0, |()| counted.0)
        };
        let sampled: usize = sample.iter().map(size).sum();
        sampled.saturating_mul(len).checked_div(sample.len()).unwrap_or(0)
    }

    /// Objects by namespace, then name.
    pub(crate) fn list(&self, query: &ListQuery) -> Result<Vec<Arc<K>>, MissingIndex> {
        let contents = self.contents.read();
        let mut listed = Vec::with_capacity(query.indexes.len());
        for (name, value) in &query.indexes {
            listed.push(contents.indexes.get(name).ok_or_else(|| MissingIndex(name.clone()))?.get(value));
        }
        // Whatever the order of the query, the shortest of the lists is walked.
        let Some(mut listed) = listed.into_iter().collect::<Option<Vec<_>>>() else { return Ok(Vec::new()) };
        listed.sort_by_key(|objects| objects.len());
        let (objects, others) = match listed.split_first() {
            Some((shortest, others)) => (*shortest, others),
            None => (&contents.ordered, &[][..]),
        };
        let everywhere = |(key, packed): (&Arc<ObjectKey>, &P)| {
            others.iter().all(|others| others.contains_key(key)).then(|| packed.unpack())
        };
        let mut found: Vec<_> = match &query.namespace {
            None => objects.iter().filter_map(everywhere).collect(),
            Some(namespace) => in_namespace(objects, namespace).filter_map(everywhere).collect(),
        };
        drop(contents);
        if !query.labels.selects_all() {
            let none = BTreeMap::new();
            found.retain(|object: &Arc<K>| query.labels.matches(object.meta().labels.as_ref().unwrap_or(&none)));
        }
        Ok(found)
    }

    /// Adds an index over the present and all future objects. Says whether the name was free.
    pub(crate) fn add_index(&self, name: &str, values_of: IndexFn<K>) -> bool {
        let mut contents = self.contents.write();
        if contents.indexes.contains_key(name) {
            return false;
        }
        let mut index = Index::new(values_of);
        for (key, packed) in &contents.ordered {
            index.insert(key, &packed.unpack(), packed);
        }
        contents.indexes.insert(name.to_owned(), index);
        true
    }

    /// Puts an object in. The events it makes: none when the store has it already.
    pub(crate) fn put(&self, object: &Arc<K>) -> Vec<ObjectEvent<K>> {
        let mut events = Vec::new();
        self.contents.write().put(object, false, &mut events);
        events
    }

    /// Takes an object out; `last` is the state it had when it was deleted.
    pub(crate) fn remove(&self, last: Arc<K>) -> Option<ObjectEvent<K>> {
        self.contents.write().take(&ObjectKey::of(&*last))?;
        Some(ObjectEvent::Deleted { object: last, final_state_unknown: false })
    }

    /// The keys of all objects of the namespace (of everything, if none), in order.
    pub(crate) fn keys(&self, namespace: Option<&str>) -> Vec<ObjectKey> {
        self.contents.read().keys(namespace)
    }

    /// Makes the store hold exactly `new` in `namespace` (everywhere, if none), but for what is missing in it and to
    /// be kept, which stays as it is. The events are the differences, by key.
    pub(crate) fn replace(
        &self,
        namespace: Option<&str>,
        mut new: BTreeMap<ObjectKey, Arc<K>>,
        keep: impl Fn(&ObjectKey) -> bool,
        initial: bool,
    ) -> Vec<ObjectEvent<K>> {
        let mut contents = self.contents.write();
        let mut keys: BTreeSet<ObjectKey> = contents.keys(namespace).into_iter().collect();
        keys.extend(new.keys().cloned());
        let mut events = Vec::new();
        for key in &keys {
            match new.remove(key) {
                Some(object) => contents.put(&object, initial, &mut events),
                None if keep(key) => {}
                None => events.extend(
                    contents.take(key).map(|object| ObjectEvent::Deleted { object, final_state_unknown: true }),
                ),
            }
        }
        events
    }
}

impl<K: Object, P: Packed<K>> Contents<K, P> {
    fn keys(&self, namespace: Option<&str>) -> Vec<ObjectKey> {
        match namespace {
            None => self.ordered.keys().map(|key| (**key).clone()).collect(),
            Some(namespace) => in_namespace(&self.ordered, namespace).map(|(key, _)| (**key).clone()).collect(),
        }
    }

    fn put(&mut self, object: &Arc<K>, initial: bool, events: &mut Vec<ObjectEvent<K>>) {
        let key = ObjectKey::of(&**object);
        let old = self.by_key.get(&key).map(P::unpack);
        match &old {
            Some(old) if same_version(&**old, &**object) => return,
            // Deleted and made anew while nobody looked.
            Some(old) if old.meta().uid != object.meta().uid => {
                events.push(ObjectEvent::Deleted { object: old.clone(), final_state_unknown: true });
                events.push(ObjectEvent::Added { object: object.clone(), initial: false });
            }
            Some(old) => events.push(ObjectEvent::Updated { old: old.clone(), new: object.clone() }),
            None => events.push(ObjectEvent::Added { object: object.clone(), initial }),
        }
        self.take(&key);
        let (key, packed) = (Arc::new(key), P::pack(object.clone()));
        for index in self.indexes.values_mut() {
            index.insert(&key, object, &packed);
        }
        self.ordered.insert(key.clone(), packed.clone());
        self.by_key.insert(key, packed);
    }

    fn take(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let old = self.by_key.remove(key)?.unpack();
        self.ordered.remove(key);
        for index in self.indexes.values_mut() {
            index.remove(key, &old);
        }
        Some(old)
    }
}

fn same_version<K: Object>(a: &K, b: &K) -> bool {
    let (a, b) = (a.meta(), b.meta());
    a.uid == b.uid && a.resource_version == b.resource_version && a.resource_version.is_some()
}

fn in_namespace<'a, P>(
    objects: &'a BTreeMap<Arc<ObjectKey>, P>,
    namespace: &'a str,
) -> impl Iterator<Item = (&'a Arc<ObjectKey>, &'a P)> {
    let first = ObjectKey::namespaced(namespace, "");
    objects.range::<ObjectKey, _>(first..).take_while(move |(key, _)| key.namespace.as_deref() == Some(namespace))
}
