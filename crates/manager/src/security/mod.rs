mod access;
mod review;
mod tls;

pub(crate) use access::Gate;
pub use access::{Access, Refusal};
pub use tls::{Tls, TlsError};
