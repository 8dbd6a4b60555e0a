//! Who may use the server, and for what.

mod authorizer;
mod certificate;
mod identity;
mod impersonation;
pub(crate) mod rbac;
pub(crate) mod reviews;
mod service_account_token;

pub(crate) use authorizer::{Authorizer, Decision};
pub(crate) use certificate::PeerCertificate;
pub use certificate::{CertificateError, ClientAuthority, ClientCertificate};
pub use identity::Identity;
pub(crate) use impersonation::impersonate;
pub(crate) use service_account_token::{Claims, ISSUER, TokenSigner};
