use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::{Object, ObjectKey, RevisionError, State, Store};

/// Which objects of a collection are wanted, at which revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Range<'a> {
    /// Only this namespace; all when `None`.
    pub(crate) namespace: Option<&'a str>,
    /// Only objects after this one, in order of namespace and name.
    pub(crate) after: Option<&'a ObjectKey>,
    /// The state at this revision; the newest when `None`.
    pub(crate) revision: Option<u64>,
    /// At most so many objects; 0 means all.
    pub(crate) limit: usize,
    /// Whether the objects beyond the limit are counted, which takes long where there are many.
    pub(crate) counts_rest: bool,
}

/// Objects as they were at one revision, in order of namespace and name.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) revision: u64,
    pub(crate) objects: Vec<Arc<Object>>,
    /// How many more objects the range has, matching or not; 0 when this is all. 1 for any number that wasn't counted.
    pub(crate) remaining: usize,
}

impl Store {
    /// A consistent snapshot of a range, filtered.
    pub(crate) fn list(
        &self,
        collection: &str,
        range: &Range<'_>,
        matches: impl Fn(&Object) -> bool,
    ) -> Result<Page, RevisionError> {
        let state = self.state.lock();
        let revision = state.check(collection, range.revision)?;
        if revision != state.revision {
            let objects = state.past(collection, range, revision);
            drop(state);
            return Ok(page(revision, objects.values(), range, matches));
        }
        if range.limit > 0 {
            return Ok(page(revision, state.current(collection, range), range, matches));
        }
        // All of them: what matches is found out without the lock.
        let mut objects: Vec<_> = state.current(collection, range).cloned().collect();
        drop(state);
        objects.retain(|object| matches(object));
        Ok(Page { revision, objects, remaining: 0 })
    }
}

fn page<'a>(
    revision: u64,
    mut all: impl Iterator<Item = &'a Arc<Object>>,
    range: &Range<'_>,
    matches: impl Fn(&Object) -> bool,
) -> Page {
    let mut objects = Vec::new();
    while range.limit == 0 || objects.len() < range.limit {
        let Some(object) = all.next() else { return Page { revision, objects, remaining: 0 } };
        if matches(object) {
            objects.push(Arc::clone(object));
        }
    }
    let remaining = if range.counts_rest { all.count() } else { usize::from(all.next().is_some()) };
    Page { revision, objects, remaining }
}

impl State {
    pub(super) fn check(&self, collection: &str, wanted: Option<u64>) -> Result<u64, RevisionError> {
        let wanted = wanted.unwrap_or(self.revision);
        if wanted > self.revision {
            return Err(RevisionError::TooNew { wanted, current: self.revision });
        }
        let oldest = self.history.oldest(Some(collection));
        if wanted < oldest { Err(RevisionError::TooOld { wanted, oldest }) } else { Ok(wanted) }
    }

    fn current<'a>(&'a self, collection: &str, range: &Range<'_>) -> impl Iterator<Item = &'a Arc<Object>> {
        let objects = self.collections.get(collection).map(|all| &all.objects);
        let (start, end) = bounds(range);
        objects.filter(|_| !is_empty(&start, &end)).into_iter().flat_map(move |objects| {
            objects.range::<ObjectKey, _>((start.as_ref(), end.as_ref())).map(|(_, object)| object)
        })
    }

    /// Undoes, newest first, what was written after `revision`.
    fn past(&self, collection: &str, range: &Range<'_>, revision: u64) -> BTreeMap<ObjectKey, Arc<Object>> {
        let mut objects: BTreeMap<ObjectKey, Arc<Object>> =
            self.current(collection, range).map(|object| (object.key.clone(), Arc::clone(object))).collect();
        let (start, end) = bounds(range);
        for event in self.history.of_collection(collection, revision).rev() {
            let key = &event.object.key;
            if !is_within(key, &start, &end) {
                continue;
            }
            match &event.previous {
                Some(previous) => objects.insert(key.clone(), Arc::clone(previous)),
                None => objects.remove(key),
            };
        }
        objects
    }
}

fn bounds(range: &Range<'_>) -> (Bound<ObjectKey>, Bound<ObjectKey>) {
    let first = range.namespace.map(|namespace| ObjectKey::new(namespace, ""));
    let start = match (range.after, first) {
        (Some(after), Some(first)) if *after < first => Bound::Included(first),
        (Some(after), _) => Bound::Excluded(after.clone()),
        (None, Some(first)) => Bound::Included(first),
        (None, None) => Bound::Unbounded,
    };
    // No namespace sorts between `x` and `x` followed by the lowest character.
    let end = range
        .namespace
        .map_or(Bound::Unbounded, |namespace| Bound::Excluded(ObjectKey::new(format!("{namespace}\0"), "")));
    (start, end)
}

fn is_empty(start: &Bound<ObjectKey>, end: &Bound<ObjectKey>) -> bool {
    match (start, end) {
        (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end)) => start >= end,
        _ => false,
    }
}

fn is_within(key: &ObjectKey, start: &Bound<ObjectKey>, end: &Bound<ObjectKey>) -> bool {
    let after_start = match start {
        Bound::Included(start) => key >= start,
        Bound::Excluded(start) => key > start,
        Bound::Unbounded => true,
    };
    after_start
        && match end {
            Bound::Excluded(end) => key < end,
            _ => true,
        }
}
