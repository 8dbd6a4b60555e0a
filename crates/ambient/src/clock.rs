use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// 2026-01-01T00:00:00Z: where simulated time starts.
const SIMULATED_START: i64 = 1_767_225_600;

/// Where the wall clock comes from.
#[derive(Debug)]
pub(crate) enum WallClock {
    System,
    Simulated { start: Timestamp, since: Instant },
}

impl WallClock {
    pub(crate) fn system() -> Self {
        Self::System
    }

    pub(crate) fn simulated() -> Self {
        Self::Simulated { start: Timestamp::from_second(SIMULATED_START).unwrap_or_default(), since: Instant::now() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        match self {
            #[allow(clippy::disallowed_methods, reason = "this is the seam that the lint sends everybody to")]
            Self::System => Timestamp::now(),
            Self::Simulated { start, since } => {
                let elapsed = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
                start.checked_add(elapsed).unwrap_or(Timestamp::MAX)
            }
        }
    }
}
