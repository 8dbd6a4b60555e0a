//! Whether a certificate and a private key belong together, in the words of Go's `tls.X509KeyPair`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio_rustls::rustls::crypto::ring::sign::any_supported_type;
use tokio_rustls::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer,
};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error, InconsistentKeys};
use webpki::EndEntityCert;

/// A block of PEM (RFC 7468).
struct Block {
    label: String,
    bytes: Vec<u8>,
}

/// What is wrong with a pair in PEM; `None` for one that can be used.
pub(super) fn problem(certificate: &[u8], key: &[u8]) -> Option<String> {
    pair(certificate, key).err()
}

fn pair(certificate: &[u8], key: &[u8]) -> Result<(), String> {
    let certificate = certificate_of(blocks(certificate))?;
    let key = key_of(blocks(key))?;
    let certificate = CertificateDer::from(certificate.bytes);
    EndEntityCert::try_from(&certificate).map_err(|_| "x509: malformed certificate".to_owned())?;
    let unreadable = "tls: failed to parse private key";
    let key = any_supported_type(&der(key)).map_err(|_| unreadable.to_owned())?;
    match CertifiedKey::new(vec![certificate], key).keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err("tls: private key does not match public key".to_owned())
        }
        _ => Ok(()),
    }
}

fn certificate_of(mut blocks: Vec<Block>) -> Result<Block, String> {
    if let Some(found) = blocks.iter().position(|block| block.label == "CERTIFICATE") {
        return Ok(blocks.swap_remove(found));
    }
    Err(match blocks.as_slice() {
        [] => "tls: failed to find any PEM data in certificate input".to_owned(),
        [only] if only.label.ends_with("PRIVATE KEY") => {
            "tls: failed to find certificate PEM data in certificate input, \
             but did find a private key; PEM inputs may have been switched"
                .to_owned()
        }
        many => format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
             following types: {}",
            labels(many)
        ),
    })
}

fn key_of(mut blocks: Vec<Block>) -> Result<Block, String> {
    let is_key = |label: &str| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    if let Some(found) = blocks.iter().position(|block| is_key(&block.label)) {
        return Ok(blocks.swap_remove(found));
    }
    Err(match blocks.as_slice() {
        [] => "tls: failed to find any PEM data in key input".to_owned(),
        [only] if only.label == "CERTIFICATE" => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        many => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of \
             the following types: {}",
            labels(many)
        ),
    })
}

fn labels(blocks: &[Block]) -> String {
    let labels: Vec<&str> = blocks.iter().map(|block| block.label.as_str()).collect();
    format!("[{}]", labels.join(" "))
}

fn der(key: Block) -> PrivateKeyDer<'static> {
    match key.label.as_str() {
        "RSA PRIVATE KEY" => PrivatePkcs1KeyDer::from(key.bytes).into(),
        "EC PRIVATE KEY" => PrivateSec1KeyDer::from(key.bytes).into(),
        _ => PrivatePkcs8KeyDer::from(key.bytes).into(),
    }
}

/// The blocks of a text, without those that can't be read.
fn blocks(text: &[u8]) -> Vec<Block> {
    let text = String::from_utf8_lossy(text);
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.lines().map(str::trim_end) {
        let named = |edge: &str| line.strip_prefix(edge).and_then(|rest| rest.strip_suffix("-----"));
        if let Some(label) = named("-----BEGIN ") {
            open = Some((label, String::new()));
        } else if let Some(closed) = named("-----END ") {
            let body = open.take().filter(|(label, _)| *label == closed).map(|(_, body)| body);
            if let Some(bytes) = body.and_then(|body| STANDARD.decode(body).ok()) {
                blocks.push(Block { label: closed.to_owned(), bytes });
            }
        } else if let Some((_, body)) = &mut open
            // Headers come before what is encoded.
            && !(body.is_empty() && line.contains(':'))
        {
            body.extend(line.chars().filter(|letter| !letter.is_whitespace()));
        }
    }
    blocks
}
