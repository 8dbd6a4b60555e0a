//! From credentials to an identity.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller_runtime_ambient::Ambient;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use crate::access::{ISSUER, Identity, PeerCertificate};
use crate::core::Core;
use crate::status::ApiError;

/// Who is at the other end of a connection, as far as the connection says.
#[derive(Clone, Debug)]
pub(crate) enum Peer {
    /// Who makes the requests without credentials that come in this way.
    Known(Identity),
    /// The owner of a certificate.
    Certified(Arc<PeerCertificate>),
}

/// The tokens that a server accepts.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    admin_token: String,
    users: BTreeMap<String, Identity>,
}

impl Authenticator {
    /// Accepts `admin_token` for the admin and every token of `users`.
    pub(crate) fn new(admin_token: String, users: BTreeMap<String, Identity>) -> Self {
        let mut users: BTreeMap<_, _> = users.into_iter().map(|(token, user)| (token, user.authenticated())).collect();
        users.insert(admin_token.clone(), Identity::admin());
        Self { admin_token, users }
    }

    pub(crate) fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// Whose token it is, and for which of the `wanted` audiences.
    pub(crate) fn review(&self, core: &Core, token: &str, wanted: &[String]) -> Option<(Identity, Vec<String>)> {
        if let Some(user) = self.users.get(token) {
            // A static token names no audience: it is for the server itself.
            let audiences: Vec<_> = wanted.iter().filter(|audience| *audience == ISSUER).cloned().collect();
            return (!audiences.is_empty()).then(|| (user.clone(), audiences));
        }
        let claims = core.tokens.verify(token, &core.store, core.ambient.now().as_second())?;
        let audiences: Vec<_> = wanted.iter().filter(|audience| claims.audiences.contains(audience)).cloned().collect();
        (!audiences.is_empty()).then(|| (claims.identity(), audiences))
    }

    /// Who sends these headers: whom the client's certificate stands for, else whose token it is, else whom the way in
    /// stands for. A token that nobody has is an error, and so is a certificate that isn't believed without a token that
    /// is.
    pub(crate) fn identify(&self, core: &Core, headers: &HeaderMap, peer: &Peer) -> Result<Identity, ApiError> {
        let shown = match peer {
            Peer::Known(_) => Ok(None),
            Peer::Certified(certificate) => certificate.user(core.ambient.now()),
        };
        if let Ok(Some(user)) = shown {
            return Ok(user);
        }
        match headers.get(AUTHORIZATION).and_then(bearer) {
            None => match (shown, peer) {
                (Err(error), _) => {
                    tracing::debug!(%error, "a client's certificate isn't believed");
                    Err(ApiError::unauthorized())
                }
                (Ok(_), Peer::Known(user)) => Ok(user.clone()),
                (Ok(_), Peer::Certified(_)) => Ok(Identity::anonymous()),
            },
            Some(token) => {
                let known = self.review(core, token, &[ISSUER.to_owned()]);
                known.map(|(user, _)| user).ok_or_else(ApiError::unauthorized)
            }
        }
    }
}

/// A token that can't be guessed (under a seeded ambient it is the same in every run).
pub(crate) fn random_token(ambient: &Ambient) -> String {
    ambient.uuid().replace('-', "")
}

/// The token of an `Authorization` header; `None` for other schemes and for an empty token, as on kube-apiserver. A
/// header that is not text holds no token that anybody has.
fn bearer(header: &HeaderValue) -> Option<&str> {
    let Ok(text) = header.to_str() else {
        return Some("");
    };
    let mut parts = text.trim().splitn(3, ' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use controller_runtime_ambient::Ambient;
    use http::HeaderMap;
    use http::header::{AUTHORIZATION, HeaderValue};

    use super::{Authenticator, Peer};
    use crate::access::{Authorizer, Identity};
    use crate::admission::WebhookServices;
    use crate::core::Core;

    fn core() -> Core {
        Core::new(
            Ambient::seeded(1),
            Authenticator::new("t-admin".to_owned(), BTreeMap::new()),
            Authorizer::AlwaysAllow,
            WebhookServices::new(),
            1,
        )
    }

    fn check(header: Option<&[u8]>, expect: Result<&str, u16>) {
        let users = BTreeMap::from([("t-jane".to_owned(), Identity::new("jane"))]);
        let authenticator = Authenticator::new("t-admin".to_owned(), users);
        let mut headers = HeaderMap::new();
        if let Some(bytes) = header {
            headers.insert(AUTHORIZATION, HeaderValue::from_bytes(bytes).unwrap());
        }
        let got = authenticator.identify(&core(), &headers, &Peer::Known(Identity::anonymous()));
        let got = got.as_ref().map(|user| user.name.as_str()).map_err(|error| error.code().as_u16());
        assert_eq!(got, expect, "{header:?}");
    }

    #[test]
    fn tokens_become_users() {
        check(None, Ok("system:anonymous"));
        check(Some(b"Bearer t-admin"), Ok("admin"));
        check(Some(b"bearer t-jane"), Ok("jane"));
        check(Some(b"Bearer t-jane more"), Ok("jane"));
        check(Some(b"Bearer nobody"), Err(401));
        check(Some(b"Bearer \xff\xfe"), Err(401));
        check(Some(b"Bearer "), Ok("system:anonymous"));
        check(Some(b"Bearer"), Ok("system:anonymous"));
        check(Some(b"Bearer  t-jane"), Ok("system:anonymous"));
        check(Some(b"Basic dDp0"), Ok("system:anonymous"));
    }

    #[test]
    fn everybody_with_a_token_is_authenticated() {
        let users = BTreeMap::from([("t".to_owned(), Identity::new("jane").with_group("devs"))]);
        let authenticator = Authenticator::new("a".to_owned(), users);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer t"));
        let jane = authenticator.identify(&core(), &headers, &Peer::Known(Identity::anonymous())).unwrap();
        assert_eq!(jane.groups, ["devs", "system:authenticated"]);
    }
}
