use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether somebody asked this program to stop: Ctrl-C, SIGTERM or SIGHUP.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
}

impl Stop {
    /// Takes over the signals, which no longer end this program by themselves.
    pub(crate) fn on_signals() -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, asked.clone()).context("cannot listen to signals")?;
        }
        Ok(Self { asked })
    }

    /// True from the first signal on.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}
