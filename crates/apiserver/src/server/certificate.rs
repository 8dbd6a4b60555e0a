//! Self-signed serving certificates.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::tls_entrance::{AnyClient, TlsEntrance};
use crate::access::ClientAuthority;

/// Why a key or certificate could not be made.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One server's certificate authority, which signs a certificate for each of its TLS listeners.
///
/// Keys come from the operating system's randomness even under a seeded ambient: nothing that a test compares depends
/// on them.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Makes a new authority.
    pub(crate) fn generate() -> Result<Self, Failure> {
        Ok(Self { issuer: CertifiedIssuer::self_signed(authority_params(), KeyPair::generate()?)? })
    }

    /// The authority's certificate, PEM.
    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Accepts TLS with a new certificate for loopback (`127.0.0.1`, `::1`, `localhost`) and `also`, and asks for those of
    /// `clients`.
    pub(super) fn entrance(&self, also: IpAddr, clients: &Arc<ClientAuthority>) -> Result<TlsEntrance, Failure> {
        let key = KeyPair::generate()?;
        let certificate = serving_params(also)?.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(Arc::new(AnyClient::new(provider, clients)))
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsEntrance { acceptor: TlsAcceptor::from(Arc::new(config)), clients: Arc::clone(clients) })
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    lasting(&mut params, "embedded-apiserver-ca");
    params
}

fn serving_params(also: IpAddr) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::default();
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    if !addresses.contains(&also) && !also.is_unspecified() {
        addresses.push(also);
    }
    params.subject_alt_names = addresses.into_iter().map(SanType::IpAddress).collect();
    params.subject_alt_names.push(SanType::DnsName("localhost".try_into()?));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    lasting(&mut params, "embedded-apiserver");
    Ok(params)
}

/// Valid whatever the clocks of server and client say: a seeded server lives in simulated time, its clients don't.
fn lasting(params: &mut CertificateParams, name: &str) {
    params.not_before = rcgen::date_time_ymd(2000, 1, 1);
    params.not_after = rcgen::date_time_ymd(2099, 12, 31);
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
}
