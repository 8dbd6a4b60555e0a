use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use crate::access::{ClientAuthority, Identity, PeerCertificate};
use crate::pipeline::authenticate::Peer;

/// TLS of one listener, which asks clients for certificates.
#[derive(Clone)]
pub(super) struct TlsEntrance {
    pub(super) acceptor: TlsAcceptor,
    pub(super) clients: Arc<ClientAuthority>,
}

impl TlsEntrance {
    /// Who is there, by what was shown in the handshake.
    pub(super) fn peer(&self, shown: Option<&[CertificateDer<'static>]>) -> Peer {
        match shown {
            None | Some([]) => Peer::Known(Identity::anonymous()),
            Some(chain) => Peer::Certified(Arc::new(PeerCertificate::new(chain.to_vec(), Arc::clone(&self.clients)))),
        }
    }
}

/// Takes any certificate whose key the client has. Who doesn't know it afterwards answers 401, as kube-apiserver does,
/// instead of a handshake that fails without words.
#[derive(Debug)]
pub(super) struct AnyClient {
    provider: Arc<CryptoProvider>,
    /// Of the authorities whose certificates are believed.
    names: Vec<DistinguishedName>,
}

impl AnyClient {
    pub(super) fn new(provider: Arc<CryptoProvider>, authority: &ClientAuthority) -> Self {
        Self { provider, names: authority.names() }
    }
}

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.names
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
