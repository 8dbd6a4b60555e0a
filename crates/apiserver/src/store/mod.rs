//! Stored objects under one revision counter, as etcd keeps them: every write takes the next revision, lists are
//! consistent snapshots, watches replay what happened since a revision.

mod event;
mod history;
mod object;
mod snapshot;
pub(crate) mod token;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;

pub(crate) use event::{Event, EventType};
pub(crate) use history::HistoryLimits;
pub(crate) use object::{Content, Object, ObjectKey, encode_tail};
pub(crate) use snapshot::{Page, Range};
pub(crate) use watch::{Watch, WatchEnd};

use history::History;

/// The largest object, in bytes of JSON, about: what etcd takes in one request.
const MAX_OBJECT_BYTES: usize = 3 << 19;

/// All objects of one server.
#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    revision: u64,
    collections: BTreeMap<Arc<str>, Collection>,
    history: History,
    stored_bytes: usize,
    max_bytes: usize,
    /// Watchers of everything, as garbage collection is one.
    wakers: BTreeMap<u64, Waker>,
    next_watch: u64,
    /// Counts how often a collection was closed.
    epoch: u64,
}

/// The objects of one resource type.
#[derive(Debug, Default)]
struct Collection {
    objects: BTreeMap<ObjectKey, Arc<Object>>,
    wakers: BTreeMap<u64, Waker>,
    /// Differs from that of a collection of the same name whose resource type went away: its watches are over.
    epoch: u64,
    /// No watch starts before this revision: what its objects are read as changed then.
    read_since: u64,
}

/// A write that did not happen.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The object is not, or no longer, as the caller saw it.
    Changed,
    /// The key is taken.
    Exists(Arc<Object>),
    /// The store is full.
    Full,
    /// The object is larger than etcd takes in one request.
    TooLarge,
}

/// A revision that is no longer, or not yet, known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RevisionError {
    /// Older than the history reaches.
    TooOld {
        /// The revision asked for.
        wanted: u64,
        /// The oldest that is known.
        oldest: u64,
    },
    /// Newer than the newest write.
    TooNew {
        /// The revision asked for.
        wanted: u64,
        /// The newest one.
        current: u64,
    },
}

impl Store {
    /// An empty store at revision 1, as a new etcd is. `max_bytes` bounds what all objects together may take.
    pub(crate) fn new(limits: HistoryLimits, max_bytes: usize) -> Self {
        Self {
            state: Mutex::new(State {
                revision: 1,
                collections: BTreeMap::new(),
                history: History::new(limits),
                stored_bytes: 0,
                max_bytes,
                wakers: BTreeMap::new(),
                next_watch: 0,
                epoch: 0,
            }),
        }
    }

    /// The newest revision.
    pub(crate) fn revision(&self) -> u64 {
        self.state.lock().revision
    }

    /// How many objects there are, by group and plural.
    pub(crate) fn sizes(&self) -> Vec<(String, String, usize)> {
        let state = self.state.lock();
        let sizes = state.collections.iter().map(|(name, collection)| {
            let (plural, group) = name.split_once('.').unwrap_or((name, ""));
            (group.to_owned(), plural.to_owned(), collection.objects.len())
        });
        sizes.collect()
    }

    /// The object under a key.
    pub(crate) fn get(&self, collection: &str, key: &ObjectKey) -> Option<Arc<Object>> {
        self.state.lock().collections.get(collection)?.objects.get(key).cloned()
    }

    /// Stores a new object.
    #[cfg(test)]
    pub(crate) fn create(
        &self,
        collection: &str,
        key: ObjectKey,
        value: serde_json::Value,
    ) -> Result<Arc<Object>, WriteError> {
        self.create_under(&[], collection, key, value)
    }

    /// Stores a new object, provided that `parents`, which it may only be created under, still are as the caller saw them.
    pub(crate) fn create_under(
        &self,
        parents: &[Arc<Object>],
        collection: &str,
        key: ObjectKey,
        content: impl Into<Content>,
    ) -> Result<Arc<Object>, WriteError> {
        let content = content.into();
        let size = object::size(content.stored());
        self.commit(collection, |state, name| {
            parents.iter().try_for_each(|parent| state.check_current(parent))?;
            if let Some(taken) = state.collections.get(name).and_then(|all| all.objects.get(&key)) {
                return Err(WriteError::Exists(Arc::clone(taken)));
            }
            state.check_room(size, 0)?;
            let object = Arc::new(Object::new(Arc::clone(name), key, state.revision + 1, content, size));
            Ok(Event::added(object))
        })
        .map(|event| Arc::clone(&event.object))
    }

    /// Replaces `current`, provided it still is what is stored.
    pub(crate) fn update(&self, current: &Arc<Object>, content: impl Into<Content>) -> Result<Arc<Object>, WriteError> {
        let content = content.into();
        let size = object::size(content.stored());
        self.commit(&current.collection, |state, name| {
            state.check_current(current)?;
            state.check_room(size, current.size)?;
            let object = Object::new(Arc::clone(name), current.key.clone(), state.revision + 1, content, size);
            Ok(Event::modified(Arc::new(object), Arc::clone(current)))
        })
        .map(|event| Arc::clone(&event.object))
    }

    /// Replaces what `current` is read as, provided it still is what is stored: no revision is taken and no watch hears of
    /// it. For what reading brings about: a definition changed what its stored objects mean.
    pub(crate) fn amend(&self, current: &Arc<Object>, content: Content) -> Result<(), WriteError> {
        let size = object::size(content.stored());
        let state = &mut *self.state.lock();
        state.check_current(current)?;
        let (name, key) = (Arc::clone(&current.collection), current.key.clone());
        let object = Arc::new(Object::new(name, key.clone(), current.revision, content, size));
        if let Some(all) = state.collections.get_mut(&current.collection) {
            state.stored_bytes = state.stored_bytes.saturating_sub(current.size).saturating_add(size);
            all.objects.insert(key, object);
        }
        Ok(())
    }

    /// Removes `current`, provided it still is what is stored. Returns it as the deletion event shows it: with the
    /// revision of the deletion.
    pub(crate) fn delete(&self, current: &Arc<Object>) -> Result<Arc<Object>, WriteError> {
        self.commit(&current.collection, |state, name| {
            state.check_current(current)?;
            let value = current.value().clone();
            let last =
                Object::new(Arc::clone(name), current.key.clone(), state.revision + 1, value.into(), current.size);
            Ok(Event::deleted(Arc::new(last), Arc::clone(current)))
        })
        .map(|event| Arc::clone(&event.object))
    }

    /// Makes every revision before the newest too old, as a compaction does.
    pub(crate) fn compact(&self) {
        let state = &mut *self.state.lock();
        state.history.compact(state.revision);
    }

    /// Ends all watches of one collection, as its objects are read as something else from now on: who watches has to list
    /// again.
    pub(crate) fn end_watches(&self, collection: &str) {
        let wakers = {
            let state = &mut *self.state.lock();
            let (name, now) = (state.collection_name(collection), state.revision);
            if let Some(all) = state.collections.get_mut(&name) {
                all.read_since = now;
            }
            state.end_watches(collection)
        };
        wake(wakers);
    }

    /// Ends all watches of one collection, and forgets it when it is empty.
    pub(crate) fn close_collection(&self, collection: &str) {
        let wakers = {
            let state = &mut *self.state.lock();
            let wakers = state.end_watches(collection);
            if state.collections.get(collection).is_some_and(|all| all.objects.is_empty()) {
                state.collections.remove(collection);
            }
            wakers
        };
        wake(wakers);
    }

    /// Runs `decide` under the lock, makes its event the next revision and wakes whoever waits for it.
    fn commit(
        &self,
        collection: &str,
        decide: impl FnOnce(&mut State, &Arc<str>) -> Result<Event, WriteError>,
    ) -> Result<Arc<Event>, WriteError> {
        let (event, own, global) = {
            let state = &mut *self.state.lock();
            let name = state.collection_name(collection);
            let event = Arc::new(decide(state, &name)?);
            state.apply(&event);
            let own = state.collections.get_mut(&name).map(|all| std::mem::take(&mut all.wakers));
            (event, own.unwrap_or_default(), std::mem::take(&mut state.wakers))
        };
        wake(own);
        wake(global);
        Ok(event)
    }
}

impl State {
    /// Watches that were opened before this end; whom to wake for that.
    fn end_watches(&mut self, collection: &str) -> BTreeMap<u64, Waker> {
        self.epoch += 1;
        let epoch = self.epoch;
        let ended = self.collections.get_mut(collection).map(|all| {
            all.epoch = epoch;
            std::mem::take(&mut all.wakers)
        });
        ended.unwrap_or_default()
    }

    fn collection_name(&mut self, name: &str) -> Arc<str> {
        if let Some((known, _)) = self.collections.get_key_value(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = Arc::from(name);
        self.collections.insert(Arc::clone(&name), Collection { epoch: self.epoch, ..Collection::default() });
        name
    }

    fn check_current(&self, current: &Arc<Object>) -> Result<(), WriteError> {
        let stored = self.collections.get(&current.collection).and_then(|all| all.objects.get(&current.key));
        if stored.is_some_and(|stored| stored.revision == current.revision) { Ok(()) } else { Err(WriteError::Changed) }
    }

    /// Whether an object of `size` bytes may take the place of one of `freed` bytes.
    fn check_room(&self, size: usize, freed: usize) -> Result<(), WriteError> {
        if size > MAX_OBJECT_BYTES {
            return Err(WriteError::TooLarge);
        }
        let after = self.stored_bytes.saturating_sub(freed).saturating_add(size);
        if after > self.max_bytes { Err(WriteError::Full) } else { Ok(()) }
    }

    fn apply(&mut self, event: &Arc<Event>) {
        self.revision = event.object.revision;
        if let Some(previous) = &event.previous {
            self.stored_bytes = self.stored_bytes.saturating_sub(previous.size);
        }
        let all = self.collections.entry(Arc::clone(&event.object.collection)).or_default();
        if event.kind == EventType::Deleted {
            all.objects.remove(&event.object.key);
        } else {
            self.stored_bytes = self.stored_bytes.saturating_add(event.object.size);
            all.objects.insert(event.object.key.clone(), Arc::clone(&event.object));
        }
        self.history.push(Arc::clone(event));
    }
}

/// Wakes in the order in which the watches were opened.
fn wake(wakers: BTreeMap<u64, Waker>) {
    wakers.into_values().for_each(Waker::wake);
}

#[cfg(test)]
mod tests;
