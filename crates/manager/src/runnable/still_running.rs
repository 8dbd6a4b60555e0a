use std::fmt;
use std::time::Duration;

use controller_runtime_controller::Stage;

/// How a manager's stop went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// What led to it: a signal's name, `cancelled`, or `a part failed`.
    pub reason: &'static str,
    /// How long it took.
    pub took: Duration,
    /// What still ran at the end of the graceful time-out and was aborted, in the order of the stop.
    pub still_running: Vec<StillRunning>,
}

/// A runnable that did not end within the graceful time-out and was aborted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StillRunning {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// Whether the abort has ended it. Otherwise it blocks its thread, and may go on until the program ends.
    pub ended: bool,
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped after {:?} ({})", self.took, self.reason)?;
        for (index, late) in self.still_running.iter().enumerate() {
            let (separator, blocked) =
                (if index == 0 { "; aborted: " } else { ", " }, if late.ended { "" } else { " (blocks its thread)" });
            write!(f, "{separator}{}{blocked}", late.name)?;
        }
        Ok(())
    }
}
