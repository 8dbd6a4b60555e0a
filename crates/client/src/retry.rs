use std::time::Duration;

use controller_runtime_ambient::Ambient;
use tokio::time::sleep;

use crate::backoff::Backoff;
use crate::class::Classify;

/// How often a conflict is met with another attempt.
pub(crate) const ATTEMPTS: usize = 5;

/// The delays between attempts: short, because a conflict is over when the object is read anew.
pub(crate) fn conflict_backoff(ambient: &Ambient) -> Backoff {
    Backoff::new(ambient, Duration::from_millis(10), Duration::from_secs(1))
}

/// Runs `attempt` again, up to five times in all, while it ends in a [stale write](Classify::is_stale_write). Each
/// attempt must read the object anew; with the same stale one it conflicts for ever.
///
/// The delays start near 10 ms and double. Cancel safe between attempts.
pub async fn retry_on_conflict<T, E, F>(ambient: &Ambient, mut attempt: impl FnMut() -> F) -> Result<T, E>
where
    E: Classify,
    F: Future<Output = Result<T, E>>,
{
    let mut backoff = conflict_backoff(ambient);
    for _ in 1..ATTEMPTS {
        match attempt().await {
            Err(error) if error.is_stale_write() => sleep(backoff.next_delay()).await,
            result => return result,
        }
    }
    attempt().await
}

#[cfg(test)]
mod tests {
    use controller_runtime_ambient::Ambient;
    use kube_core::Status;

    use super::retry_on_conflict;
    use crate::error::{ClientError, RequestInfo, Verb};

    fn error(code: u16, reason: &str) -> ClientError {
        let request =
            RequestInfo { verb: Verb::Update, kind: "A/v1".to_owned(), namespace: None, name: None, subresource: None };
        let status = Box::new(Status::failure("", reason).with_code(code));
        ClientError::Status { request: Box::new(request), status, retry_after: None }
    }

    async fn attempts(succeed_at: usize, code: u16, reason: &str) -> (usize, bool) {
        let mut count = 0;
        let result = retry_on_conflict(&Ambient::seeded(1), || {
            count += 1;
            std::future::ready(if count == succeed_at { Ok(()) } else { Err(error(code, reason)) })
        })
        .await;
        (count, result.is_ok())
    }

    #[tokio::test(start_paused = true)]
    async fn only_conflicts_are_tried_again() {
        assert_eq!(attempts(3, 409, "Conflict").await, (3, true));
        assert_eq!(attempts(9, 409, "Conflict").await, (5, false));
        assert_eq!(attempts(3, 409, "AlreadyExists").await, (1, false));
        assert_eq!(attempts(3, 422, "Invalid").await, (1, false));
    }
}
