use std::collections::{BTreeMap, VecDeque};

use controller_runtime_scheme::{Object, ObjectKey};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::event::Event;

/// So many events of one object wait for a handler at most.
const MAX_EVENTS: usize = 16;

/// Events that wait for a handler which may be slow, so that the informer they come from needn't.
///
/// It holds at most 16 events of each object. When more come, updates in a row become one, from what the first knew to
/// what the last brought, and the last event stays in any case.
#[derive(Debug)]
pub(crate) struct Backlog<W> {
    state: Mutex<State<W>>,
    pushed: Notify,
}

#[derive(Debug)]
struct State<W> {
    /// Objects in the order in which their first event came.
    order: VecDeque<ObjectKey>,
    events: BTreeMap<ObjectKey, VecDeque<(Event<W>, i32)>>,
    /// How many objects have been put into the order since the start.
    turns: usize,
}

impl<W: Object> Backlog<W> {
    pub(crate) fn new() -> Self {
        let state = State { order: VecDeque::new(), events: BTreeMap::new(), turns: 0 };
        Self { state: Mutex::new(state), pushed: Notify::new() }
    }

    pub(crate) fn push(&self, event: Event<W>, priority: i32) {
        let key = ObjectKey::of(&**event.object());
        let mut state = self.state.lock();
        let state = &mut *state;
        let waiting = state.events.entry(key.clone()).or_default();
        if waiting.is_empty() {
            state.order.push_back(key);
            state.turns += 1;
        }
        let last = if waiting.len() < MAX_EVENTS { None } else { waiting.pop_back() };
        waiting.push_back(match (last, event) {
            (Some((Event::Updated { old, .. }, before)), Event::Updated { new, .. }) => {
                (Event::Updated { old, new }, priority.max(before))
            }
            (_, event) => (event, priority),
        });
        self.pushed.notify_one();
    }

    /// How many turns it takes until all that waits now has been handled, counted from the start.
    pub(crate) fn turns(&self) -> usize {
        self.state.lock().turns
    }

    /// All events of the object whose turn it is. For one consumer. Cancel safe.
    pub(crate) async fn next(&self) -> VecDeque<(Event<W>, i32)> {
        loop {
            let pushed = self.pushed.notified();
            if let Some(events) = self.take() {
                return events;
            }
            pushed.await;
        }
    }

    fn take(&self) -> Option<VecDeque<(Event<W>, i32)>> {
        let mut state = self.state.lock();
        let key = state.order.pop_front()?;
        state.events.remove(&key)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::{Backlog, Event, MAX_EVENTS};

    fn object(name: &str, version: usize) -> Arc<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.to_owned());
        object.metadata.resource_version = Some(version.to_string());
        Arc::new(object)
    }

    fn version(object: &ConfigMap) -> &str {
        object.metadata.resource_version.as_deref().unwrap_or_default()
    }

    #[tokio::test]
    async fn events_of_an_object_are_bounded_and_its_last_state_is_kept() {
        let backlog = Backlog::new();
        backlog.push(Event::Created { object: object("a", 0), initial: false }, 0);
        backlog.push(Event::Created { object: object("b", 0), initial: false }, 0);
        for at in 1..=100 {
            backlog.push(Event::Updated { old: object("a", at - 1), new: object("a", at) }, 0);
        }
        assert_eq!(backlog.turns(), 2);
        let events = backlog.next().await;
        assert_eq!(events.len(), MAX_EVENTS);
        // Each event begins where the one before it ended: no state between the first and the last is skipped
        // unseen by both sides.
        let Some((Event::Updated { old, new }, _)) = events.back() else { panic!("{events:?}") };
        assert_eq!((version(old), version(new)), ("14", "100"));
        assert_eq!(backlog.next().await.len(), 1, "b has waited for its turn");
        backlog.push(Event::Deleted { object: object("a", 100), final_state_unknown: false }, 0);
        assert!(backlog.next().await.iter().all(|(event, _)| event.is_deleted()));
    }
}
