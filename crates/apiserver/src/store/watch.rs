use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::{Event, RevisionError, State, Store};

/// How many events one look at the store takes along.
const BATCH: usize = 64;

/// A position in the history of one collection, or of all. It holds no events of its own: a watcher that is too slow
/// finds that the history has moved past it.
#[derive(Debug)]
pub(crate) struct Watch {
    store: Arc<Store>,
    collection: Option<String>,
    cursor: u64,
    id: u64,
    epoch: u64,
}

/// Why a watch gives no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchEnd {
    /// The watcher was so slow that what it should see next is forgotten.
    TooSlow,
    /// The resource type went away.
    Closed,
}

impl Store {
    /// Watches what happens after `revision`: in one collection, or in all when `None`. A revision in the future
    /// is fine: nothing is seen until then.
    pub(crate) fn watch(self: &Arc<Self>, collection: Option<&str>, revision: u64) -> Result<Watch, RevisionError> {
        let state = &mut *self.state.lock();
        let read_since = collection.and_then(|name| state.collections.get(name)).map_or(0, |all| all.read_since);
        let oldest = state.history.oldest(collection).max(read_since);
        if revision < oldest {
            return Err(RevisionError::TooOld { wanted: revision, oldest });
        }
        let epoch = match collection {
            Some(name) => {
                let name = state.collection_name(name);
                state.collections.get(&name).map_or(0, |all| all.epoch)
            }
            None => 0,
        };
        state.next_watch += 1;
        Ok(Watch {
            store: Arc::clone(self),
            collection: collection.map(str::to_owned),
            cursor: revision,
            id: state.next_watch,
            epoch,
        })
    }
}

impl Watch {
    /// The newest revision up to which everything has been seen.
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next events, oldest first, never none. Pending until there is one.
    pub(crate) fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<Arc<Event>>, WatchEnd>> {
        let store = Arc::clone(&self.store);
        let (next, replaced) = self.look(&mut store.state.lock(), cx);
        // Without the lock: dropping a waker may drop a task, and with it another watch.
        drop(replaced);
        next
    }

    /// Looks for events; leaves a waker when there are none, and returns the one that it replaces.
    fn look(&mut self, state: &mut State, cx: &mut Context<'_>) -> (Next, Option<Waker>) {
        if self.cursor < state.history.lost(self.collection.as_deref()) {
            return (Poll::Ready(Err(WatchEnd::TooSlow)), None);
        }
        let events: Vec<Arc<Event>> = match &self.collection {
            Some(name) => state.history.of_collection(name, self.cursor).take(BATCH).cloned().collect(),
            None => state.history.of_all(self.cursor).take(BATCH).cloned().collect(),
        };
        if let Some(last) = events.last() {
            self.cursor = last.revision();
            return (Poll::Ready(Ok(events)), None);
        }
        self.cursor = self.cursor.max(state.revision);
        let wakers = match &self.collection {
            None => &mut state.wakers,
            Some(name) => match state.collections.get_mut(name.as_str()) {
                Some(all) if all.epoch == self.epoch => &mut all.wakers,
                _ => return (Poll::Ready(Err(WatchEnd::Closed)), None),
            },
        };
        (Poll::Pending, wakers.insert(self.id, cx.waker().clone()))
    }
}

type Next = Poll<Result<Vec<Arc<Event>>, WatchEnd>>;

impl Drop for Watch {
    fn drop(&mut self) {
        let removed = {
            let state = &mut *self.store.state.lock();
            match &self.collection {
                None => state.wakers.remove(&self.id),
                Some(name) => state.collections.get_mut(name.as_str()).and_then(|all| all.wakers.remove(&self.id)),
            }
        };
        // Without the lock, for the same reason.
        drop(removed);
    }
}
