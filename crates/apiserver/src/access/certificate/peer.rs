use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use webpki::{EndEntityCert, KeyUsage};

use super::authority::ClientAuthority;
use super::subject::Subject;
use crate::access::Identity;

/// The certificate that a client showed on its connection. It is judged with each request, as it may expire in between.
#[derive(Debug)]
pub(crate) struct PeerCertificate {
    /// The client's own certificate and what it sent to reach an authority.
    chain: Vec<CertificateDer<'static>>,
    authority: Arc<ClientAuthority>,
    /// The last judgement and its second: signatures take longer to check than requests to answer.
    last: Mutex<Option<(i64, Judgement)>>,
}

/// Whom a certificate stands for; nobody, when it has no common name. The error is one that must not be believed.
pub(crate) type Judgement = Result<Option<Identity>, InvalidCertificate>;

/// Why a certificate isn't believed. Clients are told no more than that they aren't authorized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidCertificate {
    /// No certificate, expired, of nobody known, or for something else.
    #[error("verifying the certificate failed: {0}")]
    Chain(webpki::Error),
    /// The subject can't be read.
    #[error("the certificate's subject can't be read")]
    Subject,
    /// A user has one uid.
    #[error("expected 1 UID, but found {0} or an empty one")]
    Uids(usize),
}

impl PeerCertificate {
    pub(crate) fn new(chain: Vec<CertificateDer<'static>>, authority: Arc<ClientAuthority>) -> Self {
        Self { chain, authority, last: Mutex::new(None) }
    }

    /// Whom the certificate stands for now.
    pub(crate) fn user(&self, now: Timestamp) -> Judgement {
        let second = now.as_second();
        if let Some((_, judgement)) = self.last.lock().as_ref().filter(|(judged, _)| *judged == second) {
            return judgement.clone();
        }
        let judgement = self.judge(second);
        *self.last.lock() = Some((second, judgement.clone()));
        judgement
    }

    fn judge(&self, second: i64) -> Judgement {
        let Some((own, intermediates)) = self.chain.split_first() else { return Ok(None) };
        let certificate = EndEntityCert::try_from(own).map_err(InvalidCertificate::Chain)?;
        let provider = ring::default_provider();
        let since_epoch = std::time::Duration::from_secs(u64::try_from(second).unwrap_or_default());
        certificate
            .verify_for_usage(
                provider.signature_verification_algorithms.all,
                &self.authority.anchors(),
                intermediates,
                UnixTime::since_unix_epoch(since_epoch),
                KeyUsage::client_auth(),
                None,
                None,
            )
            .map_err(InvalidCertificate::Chain)?;
        let subject = Subject::read(certificate.subject()).ok_or(InvalidCertificate::Subject)?;
        user(subject, own)
    }
}

fn user(subject: Subject, certificate: &CertificateDer<'_>) -> Judgement {
    if subject.common_name.is_empty() {
        return Ok(None);
    }
    let uid = match subject.uids.as_slice() {
        [] => "",
        [uid] if !uid.is_empty() => uid.as_str(),
        uids => return Err(InvalidCertificate::Uids(uids.len())),
    };
    let mut user = Identity::new(subject.common_name).with_uid(uid);
    user.groups = subject.organizations;
    let id = format!("X509SHA256={:x}", Sha256::digest(certificate));
    user.extra.insert("authentication.kubernetes.io/credential-id".to_owned(), vec![id]);
    Ok(Some(user.authenticated()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use jiff::Timestamp;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;

    use super::{InvalidCertificate, PeerCertificate};
    use crate::access::{ClientAuthority, ClientCertificate, Identity};

    const NOW: &str = "2030-05-06T07:08:09Z";

    fn check(authority: &Arc<ClientAuthority>, shown: &ClientCertificate, after: u64, expected: Result<&str, &str>) {
        let now = NOW.parse::<Timestamp>().unwrap() + Duration::from_secs(after);
        let der = CertificateDer::from_pem_slice(shown.certificate.as_bytes()).unwrap();
        let user = PeerCertificate::new(vec![der], Arc::clone(authority)).user(now);
        let got = user.map(|user| user.map(|user| format!("{} {} {:?}", user.name, user.uid, user.groups)));
        let got = got.map(Option::unwrap_or_default).map_err(|error| error.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn a_certificate_becomes_its_user_while_it_is_good() {
        let authority = Arc::new(ClientAuthority::generate().unwrap());
        let jane = Identity::new("jané").with_uid("u-1").with_group("b").with_group("a");
        let issued = authority.issue(&jane).unwrap();
        check(&authority, &issued, 0, Ok(r#"jané u-1 ["b", "a", "system:authenticated"]"#));
        let now = NOW.parse::<Timestamp>().unwrap();
        let short = authority.issue_for(&Identity::new("bob"), now, Duration::from_secs(10)).unwrap();
        check(&authority, &short, 10, Ok(r#"bob  ["system:authenticated"]"#));
        let der = CertificateDer::from_pem_slice(short.certificate.as_bytes()).unwrap();
        let later = PeerCertificate::new(vec![der], authority).user(now + Duration::from_secs(11)).unwrap_err();
        assert!(matches!(later, InvalidCertificate::Chain(webpki::Error::CertExpired { .. })), "{later}");
    }

    #[test]
    fn nobody_else_can_sign_for_an_authority() {
        let (own, other) = (ClientAuthority::generate().unwrap(), ClientAuthority::generate().unwrap());
        let issued = other.issue(&Identity::new("mallory")).unwrap();
        check(&Arc::new(own), &issued, 0, Err("verifying the certificate failed: InvalidSignatureForPublicKey"));
        let given = ClientAuthority::from_pem(&other.pem()).unwrap();
        assert_eq!(
            given.issue(&Identity::new("x")).unwrap_err().to_string(),
            "cannot issue a certificate for \"x\": the authority's key isn't known"
        );
        check(&Arc::new(given), &issued, 0, Ok(r#"mallory  ["system:authenticated"]"#));
        assert!(ClientAuthority::from_pem("nothing").is_err());
    }
}
