use std::sync::Arc;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry, reload};

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFormat {
    /// One JSON object per line, for machines.
    Json,
    /// Text for people, in colour on a terminal.
    #[default]
    Human,
}

/// The program's logs could not be set up or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// `RUST_LOG` cannot be understood.
    #[error("RUST_LOG is not understood: {0}")]
    Filter(#[from] tracing_subscriber::filter::FromEnvError),
    /// New directives cannot be understood.
    #[error("{directives:?} is not understood: {source}")]
    Directives {
        /// The directives.
        directives: String,
        /// What is wrong with them.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The program has set up its logs before.
    #[error("logs are set up already: {0}")]
    Again(#[from] tracing_subscriber::util::TryInitError),
    /// The program no longer has these logs.
    #[error("the logs are gone: {0}")]
    Gone(#[from] reload::Error),
}

/// Which logs the program writes, to be changed while it runs. Cloning is cheap; clones change the same logs.
#[derive(Clone, Debug)]
pub struct LogHandle {
    filter: Arc<reload::Handle<EnvFilter, Registry>>,
}

impl LogHandle {
    /// What `RUST_LOG` would say to have the logs that are written now, for example `info,my_operator=debug`.
    pub fn directives(&self) -> Result<String, LogError> {
        Ok(self.filter.with_current(ToString::to_string)?)
    }

    /// Writes other logs from now on. The directives are written like `RUST_LOG`; when they are not understood, nothing
    /// changes.
    pub fn set(&self, directives: &str) -> Result<(), LogError> {
        let filter = EnvFilter::try_new(directives)
            .map_err(|source| LogError::Directives { directives: directives.to_owned(), source })?;
        self.filter.reload(filter)?;
        tracing::info!(directives, "the log level has been changed");
        Ok(())
    }
}

/// Writes the program's logs to standard error, in `format`. `RUST_LOG` says which, by default those of level `info` and
/// above; the handle changes that.
///
/// Logs belong to the program, not to a manager: only `main` should call this, and once.
pub fn init_logs(format: LogFormat) -> Result<LogHandle, LogError> {
    let filter = match std::env::var_os(EnvFilter::DEFAULT_ENV) {
        Some(_) => EnvFilter::try_from_default_env()?,
        None => EnvFilter::new("info"),
    };
    let (filter, handle) = reload::Layer::new(filter);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init()?,
        LogFormat::Human => {
            let colour = std::io::IsTerminal::is_terminal(&std::io::stderr());
            registry.with(lines.with_ansi(colour)).try_init()?;
        }
    }
    Ok(LogHandle { filter: Arc::new(handle) })
}
