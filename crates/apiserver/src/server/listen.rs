use std::net::SocketAddr;

/// Where and how a listener answers.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// The address; port 0 takes a free one.
    pub addr: SocketAddr,
    /// Whether connections are encrypted.
    pub tls: Tls,
}

/// Whether a listener's connections are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tls {
    /// TLS with a certificate for loopback, `localhost` and the address itself, signed by an authority that is made
    /// when a server's first TLS listener is opened.
    SelfSigned,
    /// Plain HTTP. kubectl sends no token over it, so it is nobody there.
    Off,
}

/// An open listener. It answers until its server is shut down; dropping this does not close it.
#[derive(Debug)]
pub struct Listener {
    pub(super) local_addr: SocketAddr,
    pub(super) authority: Option<String>,
}

impl Listener {
    /// The bound address, with the port that was taken.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The base URL for clients on this machine.
    pub fn url(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        let mut addr = self.local_addr;
        if addr.ip().is_unspecified() {
            addr.set_ip(match addr {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("{scheme}://{addr}")
    }

    /// The certificate of the authority that clients must trust, PEM; `None` for plain HTTP.
    pub fn certificate_authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }
}
