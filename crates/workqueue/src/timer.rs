use std::sync::Arc;

use crate::shared::Shared;

/// Wakes workers when waiting keys are due, until it is aborted.
pub(crate) async fn run<K: Eq + 'static>(shared: Arc<Shared<K>>) {
    loop {
        let due = shared.next_due().and_then(|moment| shared.instant(moment));
        let sleep = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // An earlier key has come.
            () = shared.rearm.notified() => {}
            () = sleep => shared.update(|state, now, effects| {
                state.promote(now, effects);
            }),
        }
    }
}
