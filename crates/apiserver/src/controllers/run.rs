use std::future::{Future, poll_fn, ready};
use std::sync::Arc;

use controller_runtime_ambient::CancellationToken;
use tokio::time::{Instant, sleep_until};

use super::queue::Queue;
use crate::store::{Event, Store, Watch, WatchEnd};

/// What one controller does with what it sees.
pub(super) trait Controller: Send {
    /// One piece of work.
    type Work: Clone + Ord + Send;

    /// Takes note of one write.
    fn observe(&mut self, event: &Event);

    /// Looks at everything that is stored, because writes were missed.
    fn resync(&mut self);

    /// The work to do.
    fn queue(&mut self) -> &mut Queue<Self::Work>;

    /// Does one piece of work.
    fn process(&mut self, work: Self::Work) -> impl Future<Output = ()> + Send;
}

enum Step {
    Seen(Result<Vec<Arc<Event>>, WatchEnd>),
    Ready,
    Due,
}

/// Runs a controller until the server stops. It sees every write before it does the next piece of work, so that what
/// it decides on is never older than its own last write.
pub(super) async fn run(mut controller: impl Controller, store: Arc<Store>, stop: CancellationToken) {
    let mut watch = start(&mut controller, &store);
    loop {
        let queue = controller.queue();
        let (is_ready, due) = (queue.is_ready(), queue.next_due());
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            seen = poll_fn(|cx| watch.poll_events(cx)) => Step::Seen(seen),
            () = ready(()), if is_ready => Step::Ready,
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => Step::Due,
        };
        match next {
            Step::Seen(Ok(events)) => events.iter().for_each(|event| controller.observe(event)),
            Step::Seen(Err(WatchEnd::TooSlow)) => watch = start(&mut controller, &store),
            Step::Seen(Err(WatchEnd::Closed)) => return,
            Step::Due => controller.queue().release(Instant::now()),
            Step::Ready => {
                if let Some(work) = controller.queue().pop() {
                    controller.process(work).await;
                }
                // Requests in process may never wait for anything; others want to run, too.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Watches from the beginning, or from now on with a look at everything if the beginning is forgotten.
fn start(controller: &mut impl Controller, store: &Arc<Store>) -> Watch {
    let mut revision = 0;
    loop {
        match store.watch(None, revision) {
            Ok(watch) => {
                if revision > 0 {
                    controller.resync();
                }
                return watch;
            }
            Err(_) => revision = store.revision(),
        }
    }
}
