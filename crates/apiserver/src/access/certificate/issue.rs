use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use yasna::models::{ObjectIdentifier, TaggedDerValue};
use yasna::{DERWriter, Tag, construct_der};

use super::subject::{COMMON_NAME, ORGANIZATION, UID, sequence};
use crate::access::Identity;

const ECDSA_WITH_SHA256: &[u64] = &[1, 2, 840, 10045, 4, 3, 2];
const KEY_USAGE: &[u64] = &[2, 5, 29, 15];
const EXTENDED_KEY_USAGE: &[u64] = &[2, 5, 29, 37];
const CLIENT_AUTH: &[u64] = &[1, 3, 6, 1, 5, 5, 7, 3, 2];
/// `digitalSignature` and `keyEncipherment`, as a bit string's bytes: the first says how many bits the last leaves unused.
const USAGES: [u8; 2] = [5, 0b1010_0000];
const BIT_STRING: u64 = 3;
const UTC_TIME: u64 = 23;
const GENERALIZED_TIME: u64 = 24;

/// A certificate by which a client says who it is, and its key; both PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: String,
    /// The private key, PKCS #8. Whoever has it is that user.
    pub key: String,
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// An authority's key and name (DER without the outermost sequence).
pub(super) struct Signer {
    pub(super) key: KeyPair,
    pub(super) subject: Vec<u8>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Signer {
    /// Signs a certificate (RFC 5280). It is written here because groups are organizations, of which one name has many,
    /// and the library for certificates knows one.
    pub(super) fn issue(
        &self,
        user: &Identity,
        begin: Timestamp,
        end: Timestamp,
    ) -> Result<ClientCertificate, Failure> {
        let key = KeyPair::generate()?;
        let mut serial = [0; 16];
        ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut serial)
            .map_err(|error| error.to_string())?;
        let unsigned = construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_tagged(Tag::context(0), |writer| writer.write_u8(2));
                writer.next().write_bigint_bytes(&serial, true);
                algorithm(writer.next());
                writer.next().write_tagged_der(&sequence(self.subject.clone()));
                writer.next().write_sequence(|writer| {
                    time(writer.next(), begin);
                    time(writer.next(), end);
                });
                name(writer.next(), user);
                writer.next().write_der(&key.subject_public_key_info());
                writer.next().write_tagged(Tag::context(3), extensions);
            });
        });
        let signature = self.key.sign(&unsigned)?;
        let certificate = construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_der(&unsigned);
                algorithm(writer.next());
                let unused_bits = std::iter::once(0);
                writer.next().write_tagged_der(&value(BIT_STRING, unused_bits.chain(signature).collect()));
            });
        });
        Ok(ClientCertificate { certificate: certificate_pem(&certificate), key: key.serialize_pem() })
    }
}

fn algorithm(writer: DERWriter<'_>) {
    writer.write_sequence(|writer| writer.next().write_oid(&oid(ECDSA_WITH_SHA256)));
}

fn name(writer: DERWriter<'_>, user: &Identity) {
    writer.write_sequence(|writer| {
        let groups = user.groups.iter().map(|group| (ORGANIZATION, group));
        let uid = (!user.uid.is_empty()).then_some((UID, &user.uid));
        for (kind, text) in groups.chain(uid).chain([(COMMON_NAME, &user.name)]) {
            writer.next().write_set(|writer| {
                writer.next().write_sequence(|writer| {
                    writer.next().write_oid(&oid(kind));
                    writer.next().write_utf8_string(text);
                });
            });
        }
    });
}

fn extensions(writer: DERWriter<'_>) {
    writer.write_sequence(|writer| {
        writer.next().write_sequence(|writer| {
            writer.next().write_oid(&oid(KEY_USAGE));
            writer.next().write_bool(true);
            let usages = construct_der(|writer| writer.write_tagged_der(&value(BIT_STRING, USAGES.to_vec())));
            writer.next().write_bytes(&usages);
        });
        writer.next().write_sequence(|writer| {
            writer.next().write_oid(&oid(EXTENDED_KEY_USAGE));
            let client_auth = |writer: DERWriter<'_>| {
                writer.write_sequence(|writer| writer.next().write_oid(&oid(CLIENT_AUTH)));
            };
            writer.next().write_bytes(&construct_der(client_auth));
        });
    });
}

/// Years before 2050 have two digits (RFC 5280, section 4.1.2.5).
fn time(writer: DERWriter<'_>, at: Timestamp) {
    let zoned = at.to_zoned(jiff::tz::TimeZone::UTC);
    let (tag, format) =
        if zoned.year() < 2050 { (UTC_TIME, "%y%m%d%H%M%SZ") } else { (GENERALIZED_TIME, "%Y%m%d%H%M%SZ") };
    writer.write_tagged_der(&value(tag, at.strftime(format).to_string().into_bytes()));
}

fn value(tag: u64, bytes: Vec<u8>) -> TaggedDerValue {
    TaggedDerValue::from_tag_and_bytes(Tag { tag_class: yasna::TagClass::Universal, tag_number: tag }, bytes)
}

fn oid(parts: &[u64]) -> ObjectIdentifier {
    ObjectIdentifier::from_slice(parts)
}

/// DER as PEM (RFC 7468).
pub(super) fn certificate_pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    let mut rest = text.as_str();
    while let Some((line, after)) = rest.split_at_checked(64) {
        pem.extend([line, "\n"]);
        rest = after;
    }
    if !rest.is_empty() {
        pem.extend([rest, "\n"]);
    }
    pem + "-----END CERTIFICATE-----\n"
}
