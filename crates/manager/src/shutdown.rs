use std::fmt;

use controller_runtime_ambient::CancellationToken;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What ends a manager: a token that is cancelled, or a signal.
pub struct Shutdown {
    trigger: Trigger,
}

enum Trigger {
    Token(CancellationToken),
    Signals {
        interrupt: Signal,
        terminate: Signal,
        hang_up: Signal,
    },
    /// No handler could be installed.
    Broken(std::io::Error),
}

/// Ends a manager on SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal is gone). A second signal, while the manager
/// stops, exits the program with code 1 at once.
///
/// # Panics
/// When called outside a tokio runtime.
pub fn shutdown_signals() -> Shutdown {
    Shutdown { trigger: Trigger::install().unwrap_or_else(Trigger::Broken) }
}

impl Trigger {
    fn install() -> std::io::Result<Self> {
        Ok(Self::Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }
}

impl From<CancellationToken> for Shutdown {
    fn from(token: CancellationToken) -> Self {
        Self { trigger: Trigger::Token(token) }
    }
}

impl Shutdown {
    /// Waits until the manager is to stop, and gives the reason.
    pub(crate) async fn wait(&mut self) -> std::io::Result<&'static str> {
        match &mut self.trigger {
            Trigger::Token(token) => {
                token.cancelled().await;
                Ok("cancelled")
            }
            Trigger::Signals { interrupt, terminate, hang_up } => Ok(tokio::select! {
                biased;
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
                _ = hang_up.recv() => "SIGHUP",
            }),
            Trigger::Broken(error) => Err(std::io::Error::new(error.kind(), error.to_string())),
        }
    }

    /// While the manager stops: exits the program at another signal. Never ends otherwise.
    pub(crate) async fn exit_at_second(&mut self) {
        if matches!(self.trigger, Trigger::Signals { .. })
            && let Ok(signal) = self.wait().await
        {
            tracing::error!(signal, "a second signal: exiting without waiting for what still runs");
            std::process::exit(1);
        }
        std::future::pending::<()>().await;
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.trigger {
            Trigger::Token(_) => "Shutdown(token)",
            Trigger::Signals { .. } => "Shutdown(signals)",
            Trigger::Broken(_) => "Shutdown(broken)",
        })
    }
}
