use std::fmt;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// The certificate and key with which a server of a manager encrypts.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
}

/// A certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// Something is no PEM, or has no certificate or no key.
    #[error("cannot read the {what}: {source}")]
    Pem {
        /// What was to be read.
        what: &'static str,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// The certificates are none, or don't go with the key.
    #[error("the certificate cannot be used: {0}")]
    Certificate(#[from] rustls::Error),
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Generate(#[from] rcgen::Error),
}

impl Tls {
    /// A certificate chain, the server's own certificate first, and the private key of that, both in PEM.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| TlsError::Pem { what: "certificates", source })?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|source| TlsError::Pem { what: "key", source })?;
        Self::new(chain, key)
    }

    /// A new certificate for the host names and IP addresses, signed by itself: nobody can tell it from another's, so
    /// clients must be told not to verify it.
    pub fn self_signed(names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, TlsError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let made = rcgen::generate_simple_self_signed(names)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Self::new(vec![made.cert.der().clone()], key.into())
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, TlsError> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    pub(crate) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

/// Without the key.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Tls;

    #[test]
    fn pem_is_read_and_what_is_wrong_is_said() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it is made");
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it is made");
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let check = |certificate: &str, key: &str, error: Option<&str>| {
            let result = Tls::from_pem(certificate.as_bytes(), key.as_bytes());
            let found = result.err().map(|error| error.to_string());
            assert_eq!(found.is_some(), error.is_some(), "{found:?}");
            assert!(found.unwrap_or_default().starts_with(error.unwrap_or_default()));
        };
        check(&certificate, &key, None);
        check(&certificate, "", Some("cannot read the key: "));
        check("", &key, Some("the certificate cannot be used: "));
        check(&certificate, &other.signing_key.serialize_pem(), Some("the certificate cannot be used: "));
        assert_eq!(format!("{:?}", Tls::self_signed(["localhost"]).expect("it is made")), "Tls { .. }");
    }
}
