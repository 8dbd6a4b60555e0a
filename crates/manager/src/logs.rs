use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

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

/// The program's logs could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// `RUST_LOG` cannot be understood.
    #[error("RUST_LOG is not understood: {0}")]
    Filter(#[from] tracing_subscriber::filter::FromEnvError),
    /// The program has set up its logs before.
    #[error("logs are set up already: {0}")]
    Again(#[from] tracing_subscriber::util::TryInitError),
}

/// Writes the program's logs to standard error, in `format`. `RUST_LOG` says which, by default those of level `info` and
/// above.
///
/// Logs belong to the program, not to a manager: only `main` should call this, and once.
pub fn init_logs(format: LogFormat) -> Result<(), LogError> {
    let filter = match std::env::var_os(EnvFilter::DEFAULT_ENV) {
        Some(_) => EnvFilter::try_from_default_env()?,
        None => EnvFilter::new("info"),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init()?,
        LogFormat::Human => {
            let colour = std::io::IsTerminal::is_terminal(&std::io::stderr());
            registry.with(lines.with_ansi(colour)).try_init()?;
        }
    }
    Ok(())
}
