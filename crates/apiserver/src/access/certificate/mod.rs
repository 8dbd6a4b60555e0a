//! Client certificates: who signs them, and whom a client is that shows one.

mod authority;
mod issue;
mod peer;
mod subject;

pub use authority::{CertificateError, ClientAuthority};
pub use issue::ClientCertificate;
pub(crate) use peer::PeerCertificate;
