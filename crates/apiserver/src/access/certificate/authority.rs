use std::time::Duration;

use jiff::Timestamp;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, KeyUsagePurpose};
use tokio_rustls::rustls::DistinguishedName;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, TrustAnchor};
use webpki::anchor_from_trusted_cert;

use super::issue::{ClientCertificate, Signer, certificate_pem};
use crate::access::Identity;

/// Who signs the certificates by which clients say who they are: common name and organizations become user name and
/// groups, as with kube-apiserver's `--client-ca-file`.
///
/// A server makes one of its own unless it is given another ([`client_authority`](crate::ApiServerBuilder::client_authority)).
///
/// ```
/// use controller_runtime_apiserver::{ClientAuthority, Identity};
///
/// let authority = ClientAuthority::generate()?;
/// let jane = authority.issue(&Identity::new("jane").with_group("developers"))?;
/// assert!(jane.certificate.starts_with("-----BEGIN CERTIFICATE-----"));
/// # Ok::<(), controller_runtime_apiserver::CertificateError>(())
/// ```
pub struct ClientAuthority {
    trusted: Vec<CertificateDer<'static>>,
    signer: Option<Signer>,
}

/// A certificate could not be made or read. Trying again doesn't help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A key or certificate could not be made.
    #[error("cannot make a certificate for {name:?}")]
    Make {
        /// The certificate's common name.
        name: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The bundle holds no certificate of an authority.
    #[error("cannot read the certificates of client authorities")]
    Read {
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The authority was given without its key.
    #[error("cannot issue a certificate for {name:?}: the authority's key isn't known")]
    NoKey {
        /// The certificate's common name.
        name: String,
    },
    /// A certificate can't say this of a user: a name must not be empty, and keys of `extra` have no place in it.
    #[error("a certificate can't stand for {name:?}: {reason}")]
    User {
        /// The user's name.
        name: String,
        /// What it can't say.
        reason: &'static str,
    },
}

/// The bundle has no certificates.
#[derive(Debug, thiserror::Error)]
#[error("there is no certificate in it")]
struct Empty;

impl ClientAuthority {
    /// Makes a new authority. Its key comes from the operating system's randomness: nothing that a test compares
    /// depends on it.
    pub fn generate() -> Result<Self, CertificateError> {
        const NAME: &str = "embedded-apiserver-client-ca";
        let make = |error: rcgen::Error| CertificateError::Make { name: NAME.to_owned(), source: error.into() };
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        // Valid in simulated time as well.
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(2099, 12, 31);
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, NAME);
        let key = KeyPair::generate().map_err(make)?;
        let certificate = params.self_signed(&key).map_err(make)?.der().clone();
        let subject = subject(&certificate).map_err(|source| CertificateError::Read { source })?;
        Ok(Self { trusted: vec![certificate], signer: Some(Signer { key, subject }) })
    }

    /// Believes the certificates that these ones, in PEM, sign, as `--client-ca-file` does. It issues none itself.
    pub fn from_pem(bundle: &str) -> Result<Self, CertificateError> {
        let mut trusted = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
            let certificate = certificate.map_err(|error| CertificateError::Read { source: error.into() })?;
            subject(&certificate).map_err(|source| CertificateError::Read { source })?;
            trusted.push(certificate);
        }
        if trusted.is_empty() {
            return Err(CertificateError::Read { source: Empty.into() });
        }
        Ok(Self { trusted, signer: None })
    }

    /// The certificates of the authority, PEM.
    pub fn pem(&self) -> String {
        self.trusted.iter().map(|certificate| certificate_pem(certificate)).collect()
    }

    /// A certificate for a user, with a key of its own, which is good until the end of 2099.
    pub fn issue(&self, user: &Identity) -> Result<ClientCertificate, CertificateError> {
        let second = |text: &str| text.parse::<Timestamp>().unwrap_or(Timestamp::MAX);
        self.issue_between(user, second("2000-01-01T00:00:00Z"), second("2099-12-31T00:00:00Z"))
    }

    /// A certificate for a user that expires `lifetime` after `now`, to the second.
    pub fn issue_for(
        &self,
        user: &Identity,
        now: Timestamp,
        lifetime: Duration,
    ) -> Result<ClientCertificate, CertificateError> {
        let end = now.checked_add(lifetime).unwrap_or(Timestamp::MAX);
        self.issue_between(user, now, end)
    }

    fn issue_between(
        &self,
        user: &Identity,
        begin: Timestamp,
        end: Timestamp,
    ) -> Result<ClientCertificate, CertificateError> {
        let name = || user.name.clone();
        let signer = self.signer.as_ref().ok_or_else(|| CertificateError::NoKey { name: name() })?;
        if user.name.is_empty() {
            return Err(CertificateError::User { name: name(), reason: "the name is empty" });
        }
        if !user.extra.is_empty() {
            return Err(CertificateError::User { name: name(), reason: "extra has no place in it" });
        }
        signer.issue(user, begin, end).map_err(|source| CertificateError::Make { name: name(), source })
    }

    /// What chains may end in.
    pub(super) fn anchors(&self) -> Vec<TrustAnchor<'_>> {
        self.trusted.iter().filter_map(|certificate| anchor_from_trusted_cert(certificate).ok()).collect()
    }

    /// The names that clients are told in the handshake, so that they can choose a certificate.
    pub(crate) fn names(&self) -> Vec<DistinguishedName> {
        self.anchors().iter().map(|anchor| DistinguishedName::in_sequence(&anchor.subject)).collect()
    }
}

/// The subject of an authority's certificate, DER without the outermost sequence.
fn subject(certificate: &CertificateDer<'_>) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(anchor_from_trusted_cert(certificate)?.subject.to_vec())
}

impl std::fmt::Debug for ClientAuthority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientAuthority")
            .field("trusted", &self.trusted.len())
            .field("issues", &self.signer.is_some())
            .finish()
    }
}
