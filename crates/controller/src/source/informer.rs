use std::time::Duration;

use controller_runtime_cache::{Cache, CacheError, HandlerRegistration, Informer, ObjectEvent};
use controller_runtime_scheme::{Kind, Object};

use super::Source;
use crate::event::Event;

/// The events of an informer of the host's cache.
#[derive(Debug)]
pub(crate) struct InformerSource<W: Object> {
    informer: Informer<W>,
}

impl<W: Object> InformerSource<W> {
    pub(crate) fn new(cache: &Cache, kind: &Kind<W>) -> Self {
        Self { informer: cache.informer_of(kind) }
    }
}

impl<W: Object> Source<W> for InformerSource<W> {
    type Subscription = HandlerRegistration;

    fn subscribe(&self, listener: impl Fn(Event<W>) + Send + Sync + 'static) -> HandlerRegistration {
        self.informer.add_handler(move |event| {
            if let Some(event) = seen(event) {
                listener(event);
            }
        })
    }

    async fn wait_for_sync(&self, within: Duration) -> Result<(), CacheError> {
        self.informer.wait_for_sync(within).await
    }
}

/// The event as predicates see it; none for what a later cache may add and this crate doesn't know.
fn seen<W>(event: &ObjectEvent<W>) -> Option<Event<W>> {
    Some(match event {
        ObjectEvent::Added { object, initial, .. } => Event::Created { object: object.clone(), initial: *initial },
        ObjectEvent::Updated { old, new, .. } => Event::Updated { old: old.clone(), new: new.clone() },
        ObjectEvent::Deleted { object, final_state_unknown, .. } => {
            Event::Deleted { object: object.clone(), final_state_unknown: *final_state_unknown }
        }
        _ => return None,
    })
}
