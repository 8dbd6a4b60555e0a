use std::net::SocketAddr;

/// A listener could not be opened. Trying again helps only once the cause is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address can't be bound: it is in use, not this machine's, or not allowed.
    #[error("cannot listen on {addr}")]
    Bind {
        /// The address asked for.
        addr: SocketAddr,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The serving certificate could not be made.
    #[error("cannot make a serving certificate for {addr}")]
    Certificate {
        /// The address asked for.
        addr: SocketAddr,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server has been shut down.
    #[error("cannot listen on {addr}: the server has been shut down")]
    Stopped {
        /// The address asked for.
        addr: SocketAddr,
    },
}
