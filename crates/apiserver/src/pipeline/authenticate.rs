//! From credentials to an identity.

use std::collections::BTreeMap;

use controller_runtime_ambient::Ambient;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use crate::access::{AUTHENTICATED, Identity};
use crate::status::ApiError;

/// The tokens that a server accepts.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    admin_token: String,
    users: BTreeMap<String, Identity>,
}

impl Authenticator {
    /// Accepts `admin_token` for the admin and every token of `users`.
    pub(crate) fn new(admin_token: String, users: BTreeMap<String, Identity>) -> Self {
        let mut users: BTreeMap<_, _> = users.into_iter().map(|(token, user)| (token, authenticated(user))).collect();
        users.insert(admin_token.clone(), Identity::admin());
        Self { admin_token, users }
    }

    pub(crate) fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// Who sends these headers; `otherwise` is who sends none with credentials. A token that nobody has is an error.
    pub(crate) fn identify(&self, headers: &HeaderMap, otherwise: &Identity) -> Result<Identity, ApiError> {
        match headers.get(AUTHORIZATION).and_then(bearer) {
            None => Ok(otherwise.clone()),
            Some(token) => self.users.get(token).cloned().ok_or_else(ApiError::unauthorized),
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

fn authenticated(user: Identity) -> Identity {
    if user.groups.iter().any(|group| group == AUTHENTICATED) { user } else { user.with_group(AUTHENTICATED) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use http::HeaderMap;
    use http::header::{AUTHORIZATION, HeaderValue};

    use super::Authenticator;
    use crate::access::Identity;

    fn check(header: Option<&[u8]>, expect: Result<&str, u16>) {
        let users = BTreeMap::from([("t-jane".to_owned(), Identity::new("jane"))]);
        let authenticator = Authenticator::new("t-admin".to_owned(), users);
        let mut headers = HeaderMap::new();
        if let Some(bytes) = header {
            headers.insert(AUTHORIZATION, HeaderValue::from_bytes(bytes).unwrap());
        }
        let got = authenticator.identify(&headers, &Identity::anonymous());
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
        let jane = authenticator.identify(&headers, &Identity::anonymous()).unwrap();
        assert_eq!(jane.groups, ["devs", "system:authenticated"]);
    }
}
