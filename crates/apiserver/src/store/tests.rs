use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};

use super::token::ContinueToken;
use super::{Content, HistoryLimits, Object, ObjectKey, Range, RevisionError, Store, WatchEnd, WriteError};

fn store(events: usize) -> Arc<Store> {
    Arc::new(Store::new(HistoryLimits { events, bytes: 1 << 20 }, 1 << 20))
}

fn value(text: &str) -> Value {
    json!({"metadata": {"name": "x"}, "data": {"v": text}})
}

fn names(store: &Store, range: &Range<'_>) -> Result<Vec<String>, RevisionError> {
    let page = store.list("things", range, |_| true)?;
    Ok(page
        .objects
        .iter()
        .map(|object| {
            format!("{}/{}={}", object.key.namespace, object.key.name, object.value()["data"]["v"].as_str().unwrap())
        })
        .collect())
}

#[test]
fn each_write_takes_the_next_revision() {
    let store = store(10);
    let a = store.create("things", ObjectKey::new("n", "a"), value("1")).unwrap();
    assert_eq!((a.revision, a.value()["metadata"]["resourceVersion"].as_str()), (2, Some("2")));
    assert!(matches!(store.create("things", ObjectKey::new("n", "a"), value("1")), Err(WriteError::Exists(_))));
    let b = store.update(&a, value("2")).unwrap();
    assert_eq!(b.revision, 3);
    assert!(matches!(store.update(&a, value("3")), Err(WriteError::Changed)));
    assert!(matches!(store.delete(&a), Err(WriteError::Changed)));
    let last = store.delete(&b).unwrap();
    assert_eq!((last.revision, last.value()["data"]["v"].as_str()), (4, Some("2")));
    assert_eq!(store.revision(), 4);
    assert!(store.get("things", &ObjectKey::new("n", "a")).is_none());
}

#[test]
fn a_snapshot_of_the_past_undoes_later_writes() {
    let store = store(10);
    let a = store.create("things", ObjectKey::new("n", "a"), value("1")).unwrap();
    store.create("things", ObjectKey::new("m", "b"), value("1")).unwrap();
    let a = store.update(&a, value("2")).unwrap();
    store.delete(&a).unwrap();
    store.create("things", ObjectKey::new("n", "c"), value("1")).unwrap();
    let at = |revision| names(&store, &Range { revision: Some(revision), ..Range::default() });
    assert_eq!(at(1).unwrap(), Vec::<String>::new());
    assert_eq!(at(2).unwrap(), ["n/a=1"]);
    assert_eq!(at(3).unwrap(), ["m/b=1", "n/a=1"]);
    assert_eq!(at(4).unwrap(), ["m/b=1", "n/a=2"]);
    assert_eq!(at(5).unwrap(), ["m/b=1"]);
    assert_eq!(at(6).unwrap(), ["m/b=1", "n/c=1"]);
    assert_eq!(at(7), Err(RevisionError::TooNew { wanted: 7, current: 6 }));
    store.compact();
    assert_eq!(at(5), Err(RevisionError::TooOld { wanted: 5, oldest: 6 }));
    let in_n = Range { namespace: Some("n"), ..Range::default() };
    assert_eq!(names(&store, &in_n).unwrap(), ["n/c=1"]);
}

#[test]
fn pages_count_what_remains() {
    let store = store(10);
    for name in ["a", "b", "c", "d"] {
        store.create("things", ObjectKey::new("n", name), value(name)).unwrap();
    }
    let after = ObjectKey::new("n", "a");
    let range = Range { namespace: Some("n"), after: Some(&after), limit: 2, counts_rest: true, ..Range::default() };
    let page = store.list("things", &range, |_| true).unwrap();
    assert_eq!((page.objects.len(), page.remaining, page.revision), (2, 1, 5));
    assert_eq!(names(&store, &range).unwrap(), ["n/b=b", "n/c=c"]);
    let uncounted = Range { namespace: Some("n"), limit: 1, ..Range::default() };
    assert_eq!(store.list("things", &uncounted, |_| true).unwrap().remaining, 1);
}

#[test]
fn who_watches_lists_again_when_objects_are_read_as_something_else() {
    let (store, mut cx) = (store(10), Context::from_waker(Waker::noop()));
    let key = ObjectKey::new("n", "a");
    let stored = store.create("things", key.clone(), value("1")).unwrap();
    let mut watch = store.watch(Some("things"), stored.revision).unwrap();
    store.create("others", key.clone(), value("1")).unwrap();
    store.amend(&stored, Content { read: value("2"), stored: Some(value("1")) }).unwrap();
    store.end_watches("things");
    assert!(matches!(watch.poll_events(&mut cx), Poll::Ready(Err(WatchEnd::Closed))));
    assert!(matches!(
        store.watch(Some("things"), stored.revision),
        Err(RevisionError::TooOld { wanted: 2, oldest: 3 })
    ));
    assert!(store.watch(Some("things"), store.revision()).is_ok());
    let read = store.get("things", &key).unwrap();
    assert_eq!((read.value()["data"]["v"].as_str(), read.stored()["data"]["v"].as_str()), (Some("2"), Some("1")));
    assert_eq!(names(&store, &Range::default()).unwrap(), ["n/a=2"]);
}

#[test]
fn a_watch_sees_every_write_once_and_a_slow_one_ends() {
    let store = store(3);
    let mut cx = Context::from_waker(Waker::noop());
    let mut watch = store.watch(Some("things"), 1).unwrap();
    assert!(watch.poll_events(&mut cx).is_pending());
    store.create("others", ObjectKey::new("", "x"), value("")).unwrap();
    let a = store.create("things", ObjectKey::new("n", "a"), value("1")).unwrap();
    store.delete(&a).unwrap();
    let Poll::Ready(Ok(events)) = watch.poll_events(&mut cx) else { panic!("there are events") };
    let seen: Vec<_> = events.iter().map(|event| (format!("{:?}", event.kind), event.revision())).collect();
    assert_eq!(seen, [("Added".to_owned(), 3), ("Deleted".to_owned(), 4)]);
    for name in ["b", "c", "d", "e"] {
        store.create("things", ObjectKey::new("n", name), value(name)).unwrap();
    }
    assert!(matches!(watch.poll_events(&mut cx), Poll::Ready(Err(WatchEnd::TooSlow))));
    assert!(matches!(store.watch(Some("things"), 3), Err(RevisionError::TooOld { .. })));
    let mut late = store.watch(Some("things"), store.revision()).unwrap();
    assert!(late.poll_events(&mut cx).is_pending());
    store.close_collection("things");
    assert!(matches!(late.poll_events(&mut cx), Poll::Ready(Err(WatchEnd::Closed))));
}

#[test]
fn a_closed_collection_leaves_nothing() {
    let store = Arc::new(Store::new(HistoryLimits { events: 10, bytes: 1000 }, 10_000));
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..3 {
        let mut watch = store.watch(Some("things"), store.revision()).unwrap();
        assert!(watch.poll_events(&mut cx).is_pending());
        let a = store.create("things", ObjectKey::new("n", "a"), value("1")).unwrap();
        store.delete(&a).unwrap();
        assert!(matches!(watch.poll_events(&mut cx), Poll::Ready(Ok(_))));
        store.close_collection("things");
        assert!(store.state.lock().collections.is_empty());
        assert!(matches!(watch.poll_events(&mut cx), Poll::Ready(Err(WatchEnd::Closed))));
    }
    // The watch of a type that went away does not see the next one of its name.
    let mut old = store.watch(Some("things"), store.revision()).unwrap();
    store.close_collection("things");
    let _new = store.watch(Some("things"), store.revision()).unwrap();
    assert!(matches!(old.poll_events(&mut cx), Poll::Ready(Err(WatchEnd::Closed))));
}

#[test]
fn nothing_is_created_under_what_has_changed() {
    let store = Store::new(HistoryLimits { events: 10, bytes: 1000 }, 10_000);
    let seen = store.create("parents", ObjectKey::new("", "n"), value("1")).unwrap();
    let changed = store.update(&seen, value("2")).unwrap();
    let create = |parent: &Arc<Object>| {
        store.create_under(&[Arc::clone(parent)], "things", ObjectKey::new("n", "a"), value("1"))
    };
    assert!(matches!(create(&seen), Err(WriteError::Changed)));
    assert!(create(&changed).is_ok());
    store.delete(&changed).unwrap();
    assert!(matches!(create(&changed), Err(WriteError::Changed)));
}

#[test]
fn a_full_store_refuses_writes() {
    let store = Store::new(HistoryLimits { events: 10, bytes: 1000 }, 100);
    let big = "x".repeat(200);
    assert!(matches!(store.create("things", ObjectKey::new("n", "a"), value(&big)), Err(WriteError::Full)));
    let huge = "x".repeat(3 << 19);
    assert!(matches!(store.create("things", ObjectKey::new("n", "a"), value(&huge)), Err(WriteError::TooLarge)));
    assert_eq!(store.revision(), 1);
}

#[test]
fn continue_tokens_survive_the_round_trip() {
    let token = ContinueToken { revision: Some(7), after: ObjectKey::new("n", "a") };
    assert_eq!(ContinueToken::decode(&token.encode()).unwrap(), token);
    for bad in ["abc", "e30", "", "%%%"] {
        assert!(ContinueToken::decode(bad).is_err(), "{bad}");
    }
}

#[test]
fn writers_on_many_threads_lose_nothing() {
    let store = store(1000);
    let mut watch = store.watch(Some("things"), 1).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = Arc::clone(&store);
            scope.spawn(move || {
                for number in 0..100 {
                    let created = store.create("things", ObjectKey::new("n", format!("{thread}-{number}")), value("1"));
                    let created = created.unwrap();
                    if number % 2 == 0 {
                        store.delete(&created).unwrap();
                    }
                }
            });
        }
    });
    let mut cx = Context::from_waker(Waker::noop());
    let mut revisions = Vec::new();
    while let Poll::Ready(Ok(events)) = watch.poll_events(&mut cx) {
        revisions.extend(events.iter().map(|event| event.revision()));
    }
    assert_eq!(revisions, (2..=601).collect::<Vec<u64>>());
    assert_eq!(names(&store, &Range::default()).unwrap().len(), 200);
}
