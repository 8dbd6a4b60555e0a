use std::future::Future;
use std::io::Result;

use tokio::signal::unix::{SignalKind, signal};

/// Takes over Ctrl-C, SIGTERM and SIGHUP; the returned future ends at the first of them.
pub(crate) fn stopped() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            biased;
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}
