use std::error::Error as StdError;
use std::sync::Arc;

use controller_runtime_cache::{HandlerRegistration, Informer, ObjectEvent};
use controller_runtime_scheme::Object;

use super::backlog::Backlog;
use super::{Events, LOW_PRIORITY, Source};
use crate::event::Event;

/// The events of an informer of the host's cache.
#[derive(Debug)]
pub(crate) struct InformerSource<W: Object>(pub(crate) Informer<W>);

impl<W: Object> Source<W> for InformerSource<W> {
    fn name(&self) -> String {
        self.0.kind().to_string()
    }

    async fn run(self, events: Events<W>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        if events.is_isolated() {
            return self.run_isolated(events).await;
        }
        let emit = events.clone();
        let _registration = self.listen(move |event, priority| emit.emit_with_priority(&event, priority));
        self.0.wait_for_sync(events.sync_timeout()).await?;
        events.synced();
        std::future::pending().await
    }
}

impl<W: Object> InformerSource<W> {
    fn listen(&self, tell: impl Fn(Event<W>, i32) + Send + Sync + 'static) -> HandlerRegistration {
        self.0.add_handler(move |event| {
            if let Some(event) = seen(event) {
                let priority = priority(&event);
                tell(event, priority);
            }
        })
    }

    /// Predicates run where the informer tells of events, the handler in this task.
    async fn run_isolated(self, events: Events<W>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let backlog = Arc::new(Backlog::new());
        let _registration = self.listen({
            let (backlog, events) = (backlog.clone(), events.clone());
            move |event, priority| {
                if events.passes(&event) {
                    backlog.push(event, priority);
                }
            }
        });
        let mut synced = std::pin::pin!(self.0.wait_for_sync(events.sync_timeout()));
        let (mut handled, mut initial) = (0, None);
        loop {
            tokio::select! {
                biased;
                result = &mut synced, if initial.is_none() => {
                    result?;
                    initial = Some(backlog.turns());
                }
                batch = backlog.next() => {
                    for (event, priority) in batch {
                        // A task that this one has just woken may be bound to its thread: it runs before a handler
                        // that may block that thread. And a long backlog leaves others their turn.
                        tokio::task::yield_now().await;
                        events.handle(&event, priority);
                    }
                    handled += 1;
                }
            }
            if initial.is_some_and(|initial| handled >= initial) {
                events.synced();
            }
        }
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

fn priority<W: Object>(event: &Event<W>) -> i32 {
    match event {
        Event::Created { initial: true, .. } => LOW_PRIORITY,
        Event::Updated { old, new } if old.meta().resource_version == new.meta().resource_version => LOW_PRIORITY,
        _ => 0,
    }
}
