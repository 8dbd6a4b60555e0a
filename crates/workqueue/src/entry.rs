use std::sync::Arc;

/// A moment, in nanoseconds since the queue was made.
pub(crate) type Moment = u64;

/// Where in the slab a key's entry is.
pub(crate) type Slot = u32;

/// What is known of one key. It is there while the key is queued, being worked on, or has failures to remember.
#[derive(Debug)]
pub(crate) struct Entry<K> {
    pub(crate) key: Arc<K>,
    pub(crate) hash: u64,
    pub(crate) pending: Pending,
    pub(crate) running: Option<Running>,
    /// How often the key was added rate-limited since it was last forgotten.
    pub(crate) failures: u32,
    /// Of the pending trigger.
    pub(crate) priority: i32,
}

/// The trigger that a key still has to be delivered for. There is at most one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    None,
    /// It waits until `at`; `order` makes equal moments distinct.
    Delayed {
        at: Moment,
        order: u64,
    },
    /// It has been ready since then. While the key is running, it isn't in the ready list and has no turn.
    Ready {
        since: Moment,
        turn: u64,
    },
}

/// A worker has the key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) since: Moment,
    /// The place in the list of running slots.
    pub(crate) position: usize,
}

/// The entries, at places that stay while a key is known. A place's ticket changes whenever what it says may be stale.
#[derive(Debug)]
pub(crate) struct Slab<K> {
    places: Vec<Place<K>>,
    free: Vec<Slot>,
}

#[derive(Debug)]
struct Place<K> {
    ticket: u32,
    entry: Option<Entry<K>>,
}

impl<K> Entry<K> {
    /// Since when it has been ready.
    pub(crate) fn ready_since(&self) -> Option<Moment> {
        match self.pending {
            Pending::Ready { since, .. } => Some(since),
            Pending::None | Pending::Delayed { .. } => None,
        }
    }
}

impl<K> Slab<K> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, entry: Entry<K>) -> Slot {
        if let Some(slot) = self.free.pop() {
            if let Some(place) = self.places.get_mut(slot as usize) {
                place.entry = Some(entry);
            }
            return slot;
        }
        // More than 2^32 keys don't fit into memory: each place takes tens of bytes.
        let slot = Slot::try_from(self.places.len()).unwrap_or(Slot::MAX);
        self.places.push(Place { ticket: 0, entry: Some(entry) });
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<Entry<K>> {
        let entry = self.places.get_mut(slot as usize)?.entry.take()?;
        self.free.push(slot);
        Some(entry)
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&Entry<K>> {
        self.places.get(slot as usize)?.entry.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut Entry<K>> {
        self.places.get_mut(slot as usize)?.entry.as_mut()
    }

    /// A new ticket for the slot; earlier ones are void.
    pub(crate) fn renew(&mut self, slot: Slot) -> u32 {
        self.places.get_mut(slot as usize).map_or(0, |place| {
            place.ticket = place.ticket.wrapping_add(1);
            place.ticket
        })
    }

    pub(crate) fn is_current(&self, slot: Slot, ticket: u32) -> bool {
        self.places.get(slot as usize).is_some_and(|place| place.ticket == ticket && place.entry.is_some())
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.places.capacity()
    }
}
