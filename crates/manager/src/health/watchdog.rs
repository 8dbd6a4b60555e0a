use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_metrics::Registry;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::health::check::Check;

/// The heart beats at least so often.
const BEAT: Duration = Duration::from_secs(1);

/// Beats for as long as the event loop turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heart {
    last: Arc<Mutex<Option<Instant>>>,
}

#[derive(Debug, thiserror::Error)]
enum Stalled {
    #[error("the event loop has not turned for {0:?}")]
    EventLoop(Duration),
    #[error("controller {controller} has been at one object for {running:?}")]
    Worker { controller: String, running: Duration },
}

impl Heart {
    /// Beats until the token is cancelled, several times within `bound`.
    pub(crate) async fn beat(self, bound: Duration, token: CancellationToken) {
        let every = (bound / 4).clamp(Duration::from_millis(1), BEAT);
        loop {
            *self.last.lock() = Some(Instant::now());
            if tokio::time::timeout(every, token.cancelled()).await.is_ok() {
                return;
            }
        }
    }

    /// Fails when the last beat is longer ago than `bound`.
    pub(crate) fn check(&self, bound: Duration) -> Check {
        let heart = self.clone();
        Check::new(move || {
            let silent = heart.last.lock().map(|last| last.elapsed()).unwrap_or_default();
            std::future::ready(if silent > bound { Err(Stalled::EventLoop(silent)) } else { Ok(()) })
        })
    }
}

/// Fails when a worker has been at one object for longer than `bound`.
pub(crate) fn workers(metrics: &Registry, bound: Duration) -> Check {
    let metrics = metrics.clone();
    Check::new(move || {
        let longest = metrics.longest_running().into_iter().max_by_key(|(_, running)| *running);
        std::future::ready(match longest {
            Some((controller, running)) if running > bound => Err(Stalled::Worker { controller, running }),
            _ => Ok(()),
        })
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use controller_runtime_ambient::{Ambient, CancellationToken};
    use controller_runtime_metrics::{QueueSnapshot, Registry};

    use super::{Heart, workers};

    const BOUND: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_heart_that_has_stopped_is_an_event_loop_that_is_stuck() {
        let (heart, token) = (Heart::default(), CancellationToken::new());
        let check = heart.check(BOUND);
        tokio::time::sleep(2 * BOUND).await;
        assert_eq!(check.ask(None).await, Ok(()), "it has not begun");
        let beating = Ambient::seeded(0).spawn("heart", heart.beat(BOUND, token.clone()));
        tokio::time::sleep(5 * BOUND).await;
        assert_eq!(check.ask(None).await, Ok(()));
        token.cancel();
        beating.await.expect("no panic");
        tokio::time::sleep(Duration::from_secs(9)).await;
        assert_eq!(check.ask(None).await, Ok(()));
        tokio::time::sleep(Duration::from_secs(2)).await;
        let error = check.ask(None).await.expect_err("it is silent");
        assert!(error.starts_with("the event loop has not turned for 1"), "{error}");
    }

    #[test]
    fn an_event_loop_whose_thread_is_held_is_seen_from_outside() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.expect("a runtime");
        let (heart, bound, ambient) = (Heart::default(), Duration::from_millis(50), Ambient::system());
        let check = heart.check(bound);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let _guard = runtime.enter();
        let _beating = ambient.spawn("heart", heart.beat(bound, CancellationToken::new()));
        let _holding = ambient.spawn("holds", async move {
            ready.send(()).expect("somebody waits");
            assert!(held.recv().is_err(), "it is dropped");
        });
        is_ready.recv().expect("it holds its thread");
        // This thread is none of the runtime's workers.
        std::thread::sleep(2 * bound);
        let error = runtime.block_on(check.ask(None)).expect_err("nothing beats");
        assert!(error.starts_with("the event loop has not turned for "), "{error}");
        drop(release);
        let beats = async {
            while check.ask(None).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), beats).await }).expect("it beats again");
    }

    #[tokio::test]
    async fn a_worker_that_stays_at_one_object_is_named() {
        async fn check(running: &[(&'static str, u64)], error: Option<&str>) {
            let registry = Registry::new();
            for (controller, seconds) in running.iter().copied() {
                let longest_running = Duration::from_secs(seconds);
                let snapshot = move || Some(QueueSnapshot { longest_running, ..QueueSnapshot::default() });
                registry.workqueue(controller, controller).observe_with(snapshot);
            }
            let result = workers(&registry, BOUND).ask(None).await;
            assert_eq!(result.err().as_deref(), error, "{running:?}");
        }
        check(&[], None).await;
        check(&[("a", 0), ("b", 10)], None).await;
        check(&[("a", 12), ("b", 11), ("c", 0)], Some("controller a has been at one object for 12s")).await;
    }
}
