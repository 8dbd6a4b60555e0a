//! Tokens of service accounts: signed claims, as `TokenRequest` hands them out.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use controller_runtime_ambient::Ambient;
use ring::hmac;
use serde_json::{Value, json};

use super::Identity;
use crate::metadata::fields;
use crate::store::{ObjectKey, Store};

/// Who issues the tokens, and whom they are for when nobody says.
pub(crate) const ISSUER: &str = "https://localhost";

/// Signs tokens and knows its own. The key lives as long as the server.
#[derive(Debug)]
pub(crate) struct TokenSigner {
    key: hmac::Key,
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
    pub(crate) fn new(ambient: &Ambient) -> Self {
        let mut bytes = [0; 32];
        ambient.fill(&mut bytes);
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, &bytes) }
    }

    /// A JSON web token (RFC 7519) with these claims.
    pub(crate) fn sign(&self, claims: &Claims) -> String {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&json!({"alg": "HS256", "typ": "JWT"})), encode(&claims.to_value()));
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&self.key, signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    /// The claims of a token that this server signed and that is still good: its account and what it is bound to exist.
    pub(crate) fn verify(&self, token: &str, store: &Store, now: i64) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
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
    use controller_runtime_ambient::Ambient;
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
        let signer = TokenSigner::new(&Ambient::seeded(1));
        let token = signer.sign(&claims());
        assert_eq!(signer.verify(&token, &store, 150), Some(claims()));
        for (now, is_good) in [(99, false), (100, true), (199, true), (200, false)] {
            assert_eq!(signer.verify(&token, &store, now).is_some(), is_good, "at {now}");
        }
        let other = TokenSigner::new(&Ambient::seeded(2));
        assert_eq!(other.verify(&token, &store, 150), None);
        for broken in ["", ".", "..", "a.b.c", &token[1..], &token[..token.len() - 2], &token.replace('.', "")] {
            assert_eq!(signer.verify(broken, &store, 150), None, "{broken}");
        }
        let bound = Claims { bound: Some(("Pod".to_owned(), "p".to_owned(), "u2".to_owned())), ..claims() };
        let bound_token = signer.sign(&bound);
        assert_eq!(signer.verify(&bound_token, &store, 150), None);
        let pod = json!({"metadata": {"namespace": "ns", "name": "p", "uid": "u2"}});
        store.create("pods", ObjectKey::new("ns", "p"), pod).unwrap();
        assert_eq!(signer.verify(&bound_token, &store, 150), Some(bound));
        store.delete(&stored).unwrap();
        assert_eq!(signer.verify(&token, &store, 150), None);
    }
}
