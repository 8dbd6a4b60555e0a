//! Tokens of service accounts: signed claims, as `TokenRequest` hands them out.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Identity;
use crate::metadata::fields;
use crate::status::ApiError;
use crate::store::{ObjectKey, Store};

/// Who issues the tokens, and whom they are for when nobody says.
pub(crate) const ISSUER: &str = "https://localhost";

/// Signs tokens and knows its own. The key is made when it is first needed, by the operating system's randomness even
/// under a seeded ambient, and lives as long as the server.
#[derive(Debug, Default)]
pub(crate) struct TokenSigner {
    keys: OnceLock<Option<Keys>>,
}

/// A key of the elliptic curve P-256 (`ES256` of RFC 7518).
#[derive(Debug)]
struct Keys {
    pair: EcdsaKeyPair,
    /// Names the key: the digest of its public half, as kube-apiserver names keys.
    id: String,
}

/// The system has no randomness to sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot sign a token: the system gives no randomness")]
pub(crate) struct NoRandomness;

impl From<NoRandomness> for ApiError {
    fn from(error: NoRandomness) -> Self {
        Self::internal(&error.to_string())
    }
}

/// What stands before the point in the public key of P-256, DER.
const PUBLIC_KEY_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

impl Keys {
    fn generate() -> Option<Self> {
        let random = SystemRandom::new();
        let algorithm = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).ok()?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).ok()?;
        let public = [&PUBLIC_KEY_PREFIX, pair.public_key().as_ref()].concat();
        let id = URL_SAFE_NO_PAD.encode(Sha256::digest(public));
        Some(Self { pair, id })
    }
}

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) audiences: Vec<String>,
    /// Seconds since 1970.
    pub(crate) issued: i64,
    pub(crate) expires: i64,
    /// The token's own id.
    pub(crate) id: String,
    /// The object that the token lives and dies with: kind, name and uid.
    pub(crate) bound: Option<(String, String, String)>,
}

impl TokenSigner {
    fn keys(&self) -> Result<&Keys, NoRandomness> {
        self.keys.get_or_init(Keys::generate).as_ref().ok_or(NoRandomness)
    }

    /// A JSON web token (RFC 7519) with these claims.
    pub(crate) fn sign(&self, claims: &Claims) -> Result<String, NoRandomness> {
        let keys = self.keys()?;
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&json!({"alg": "ES256", "kid": keys.id})), encode(&claims.to_value()));
        let signature = keys.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(|_| NoRandomness)?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The public key by which others can check tokens: a JSON web key set (RFC 7517).
    pub(crate) fn key_set(&self) -> Result<Value, NoRandomness> {
        let keys = self.keys()?;
        // The point in its uncompressed form: a byte that says so, and the coordinates.
        let (_, coordinates) = keys.pair.public_key().as_ref().split_at_checked(1).unwrap_or_default();
        let (x, y) = coordinates.split_at_checked(32).unwrap_or_default();
        let key = json!({
            "use": "sig", "kty": "EC", "kid": keys.id, "crv": "P-256", "alg": "ES256",
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        });
        Ok(json!({"keys": [key]}))
    }

    /// The claims of a token that this server signed and that is still good: its account and what it is bound to exist.
    pub(crate) fn verify(&self, token: &str, store: &Store, now: i64) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let public = self.keys().ok()?.pair.public_key();
        let public = UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, public.as_ref());
        public.verify(signed.as_bytes(), &signature).ok()?;
        let (_, claims) = signed.split_once('.')?;
        let claims = Claims::of(&serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?)?;
        let lives = |collection: &str, namespace: &str, name: &str, uid: &str| {
            let stored = store.get(collection, &ObjectKey::new(namespace, name));
            stored.is_some_and(|object| fields::text(object.value(), "uid") == uid)
        };
        let account = lives("serviceaccounts", &claims.namespace, &claims.name, &claims.uid);
        let bound = claims.bound.as_ref().is_none_or(|(kind, name, uid)| {
            let namespace = if kind == "Node" { "" } else { claims.namespace.as_str() };
            lives(&format!("{}s", kind.to_lowercase()), namespace, name, uid)
        });
        (claims.issued <= now && now < claims.expires && account && bound).then_some(claims)
    }
}

impl Claims {
    /// Who shows a token with these claims.
    pub(crate) fn identity(&self) -> Identity {
        let mut user = Identity::service_account(&self.namespace, &self.name).with_uid(&self.uid);
        let mut extra =
            |key: &str, value: String| user.extra.insert(format!("authentication.kubernetes.io/{key}"), vec![value]);
        extra("credential-id", format!("JTI={}", self.id));
        if let Some((kind, name, uid)) = self.bound.as_ref().filter(|(kind, ..)| kind != "Secret") {
            extra(&format!("{}-name", kind.to_lowercase()), name.clone());
            extra(&format!("{}-uid", kind.to_lowercase()), uid.clone());
        }
        user
    }

    fn to_value(&self) -> Value {
        let mut kubernetes = json!({
            "namespace": self.namespace,
            "serviceaccount": {"name": self.name, "uid": self.uid},
        });
        if let Some((kind, name, uid)) = &self.bound {
            kubernetes[kind.to_lowercase()] = json!({"name": name, "uid": uid});
        }
        json!({
            "aud": self.audiences, "exp": self.expires, "iat": self.issued, "nbf": self.issued, "iss": ISSUER,
            "jti": self.id, "kubernetes.io": kubernetes,
            "sub": super::identity::service_account_name(&self.namespace, &self.name),
        })
    }

    fn of(value: &Value) -> Option<Self> {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let kubernetes = value.get("kubernetes.io")?;
        let bound = ["Pod", "Secret", "Node"].into_iter().find_map(|kind| {
            let object = kubernetes.get(kind.to_lowercase())?;
            let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((kind.to_owned(), text("name")?, text("uid")?))
        });
        Some(Self {
            namespace: text("/kubernetes.io/namespace")?,
            name: text("/kubernetes.io/serviceaccount/name")?,
            uid: text("/kubernetes.io/serviceaccount/uid")?,
            audiences: value.get("aud")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            issued: value.get("iat")?.as_i64()?,
            expires: value.get("exp")?.as_i64()?,
            id: text("/jti")?,
            bound,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Claims, TokenSigner};
    use crate::store::{HistoryLimits, ObjectKey, Store};

    fn claims() -> Claims {
        Claims {
            namespace: "ns".to_owned(),
            name: "sa".to_owned(),
            uid: "u1".to_owned(),
            audiences: vec![super::ISSUER.to_owned()],
            issued: 100,
            expires: 200,
            id: "id".to_owned(),
            bound: None,
        }
    }

    #[test]
    fn a_token_is_good_until_it_expires_or_its_account_goes() {
        let store = Store::new(HistoryLimits { events: 10, bytes: 1 << 20 }, 1 << 20);
        let account = json!({"metadata": {"namespace": "ns", "name": "sa", "uid": "u1"}});
        let stored = store.create("serviceaccounts", ObjectKey::new("ns", "sa"), account).unwrap();
        let signer = TokenSigner::default();
        let token = signer.sign(&claims()).unwrap();
        assert_eq!(signer.verify(&token, &store, 150), Some(claims()));
        for (now, is_good) in [(99, false), (100, true), (199, true), (200, false)] {
            assert_eq!(signer.verify(&token, &store, now).is_some(), is_good, "at {now}");
        }
        let other = TokenSigner::default();
        assert_eq!(other.verify(&token, &store, 150), None);
        for broken in ["", ".", "..", "a.b.c", &token[1..], &token[..token.len() - 2], &token.replace('.', "")] {
            assert_eq!(signer.verify(broken, &store, 150), None, "{broken}");
        }
        let bound = Claims { bound: Some(("Pod".to_owned(), "p".to_owned(), "u2".to_owned())), ..claims() };
        let bound_token = signer.sign(&bound).unwrap();
        assert_eq!(signer.verify(&bound_token, &store, 150), None);
        let pod = json!({"metadata": {"namespace": "ns", "name": "p", "uid": "u2"}});
        store.create("pods", ObjectKey::new("ns", "p"), pod).unwrap();
        assert_eq!(signer.verify(&bound_token, &store, 150), Some(bound));
        store.delete(&stored).unwrap();
        assert_eq!(signer.verify(&token, &store, 150), None);
    }
}
