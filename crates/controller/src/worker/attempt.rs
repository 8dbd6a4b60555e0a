use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_ambient::CancellationToken;
use futures::FutureExt as _;
use tokio::time::timeout_at;

use super::Worker;
use crate::action::Action;
use crate::context::{Context, Run};
use crate::error::Error;
use crate::reconciler::Reconciler;

/// How a run ended.
pub(super) enum Ended {
    /// The object does not exist.
    Gone,
    /// There is a newer version of the object.
    Superseded,
    /// The reconciler succeeded.
    Acted(Action),
    /// The object could not be read, or the reconciler failed.
    Failed(Error),
}

/// A reconcile that did not end by itself.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("panic: {0} [recovered]")]
    Panicked(String),
    #[error("the reconcile did not end within {0:?}")]
    TimedOut(Duration),
}

impl<K: Send + Sync + 'static, R: Reconciler<K>> Worker<K, R> {
    /// Reads the object and calls the reconciler, within its time, and makes an error of a panic.
    pub(super) async fn attempt(&self, run: &Arc<Run>) -> Ended {
        let newer = CancellationToken::new();
        let reconcile = AssertUnwindSafe(self.reconcile(run, &newer)).catch_unwind();
        let within = async {
            match run.deadline {
                Some(deadline) => timeout_at(deadline, reconcile).await.ok(),
                None => Some(reconcile.await),
            }
        };
        let ended = tokio::select! {
            biased;
            ended = within => ended,
            () = newer.cancelled() => return Ended::Superseded,
        };
        match ended {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => {
                if !self.options.recover_panics {
                    std::panic::resume_unwind(panic);
                }
                self.metrics.panicked();
                Ended::Failed(Error::transient(Broken::Panicked(message(panic.as_ref()))))
            }
            None => {
                self.metrics.timed_out();
                Ended::Failed(Error::transient(Broken::TimedOut(self.options.timeout.unwrap_or_default())))
            }
        }
    }

    async fn reconcile(&self, run: &Arc<Run>, newer: &CancellationToken) -> Ended {
        let entered = self.runs.as_ref().map(|runs| runs.enter(&run.key, newer));
        let object = match self.store.get(&run.key).await {
            Ok(Some(object)) => object,
            Ok(None) => return Ended::Gone,
            Err(error) => return Ended::Failed(error.into()),
        };
        if let (Some(entered), Some(version)) = (&entered, self.store.version(&object)) {
            entered.given(version);
        }
        match self.reconciler.reconcile(&Context::new(run.clone()), object).await {
            Ok(action) => Ended::Acted(action),
            Err(error) => Ended::Failed(error),
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
