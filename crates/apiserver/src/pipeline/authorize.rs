//! Whether an identity may do what it asks for.

use http::request::Parts;

use super::attributes::{Attributes, ResourceAttributes};
use crate::access::{Authorizer, Decision, Identity};
use crate::status::{ApiError, GroupResource};
use crate::store::Store;

/// Checks one request; the error is the reference's 403.
pub(crate) fn authorize(authorizer: Authorizer, store: &Store, user: &Identity, parts: &Parts) -> Result<(), ApiError> {
    let wanted = Attributes::of(parts);
    let decision = authorizer.decide(store, user, &wanted);
    if decision.allowed { Ok(()) } else { Err(refusal(user, &wanted, &decision)) }
}

/// What somebody is told who may not.
pub(crate) fn refusal(user: &Identity, wanted: &Attributes, decision: &Decision) -> ApiError {
    let reason = if decision.reason.is_empty() { String::new() } else { format!(": {}", decision.reason) };
    match wanted {
        Attributes::Path { verb, path } => {
            let message = format!("forbidden: User {:?} cannot {verb} path {path:?}{reason}", user.name);
            ApiError::forbidden_path(message)
        }
        Attributes::Resource(attributes) => forbidden(user, attributes, &reason),
    }
}

fn forbidden(user: &Identity, wanted: &ResourceAttributes, reason: &str) -> ApiError {
    let resource = match wanted.subresource.as_str() {
        "" => wanted.resource.clone(),
        subresource => format!("{}/{subresource}", wanted.resource),
    };
    let verb = if wanted.verb.is_empty() { String::new() } else { format!(" {}", wanted.verb) };
    let place = match wanted.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let why = format!(
        "User {:?} cannot{verb} resource {resource:?} in API group {:?} {place}{reason}",
        user.name, wanted.group
    );
    let about = GroupResource { group: &wanted.group, resource: &wanted.resource };
    ApiError::forbidden(about, &wanted.name, &why)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::authorize;
    use crate::access::{Authorizer, Identity};
    use crate::store::{HistoryLimits, Store};

    fn check(method: &str, uri: &str, expect: Option<&str>) {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        let store = Store::new(HistoryLimits { events: 1, bytes: 1 }, 1);
        let ask = |user: &Identity| authorize(Authorizer::AlwaysAllow, &store, user, &parts);
        let got = ask(&Identity::anonymous()).err().map(|error| error.message().to_owned());
        assert_eq!(got.as_deref(), expect, "{method} {uri}");
        assert_eq!(ask(&Identity::new("jane")), Ok(()));
    }

    #[test]
    fn the_anonymous_user_sees_only_that_the_server_is_there() {
        for path in ["/healthz", "/livez?verbose", "/readyz", "/version", "/version/"] {
            check("GET", path, None);
        }
        check("GET", "/healthz/", Some(r#"forbidden: User "system:anonymous" cannot get path "/healthz/""#));
        check("GET", "/livez/ping", Some(r#"forbidden: User "system:anonymous" cannot get path "/livez/ping""#));
        check("PATCH", "/version", Some(r#"forbidden: User "system:anonymous" cannot patch path "/version""#));
        check("GET", "/api", Some(r#"forbidden: User "system:anonymous" cannot get path "/api""#));
        check(
            "GET",
            "/api/v1/namespaces/default/pods/x",
            Some(
                r#"pods "x" is forbidden: User "system:anonymous" cannot get resource "pods" in API group "" in the namespace "default""#,
            ),
        );
        check(
            "PATCH",
            "/apis/apps/v1/namespaces/x/deployments/y/status",
            Some(
                r#"deployments.apps "y" is forbidden: User "system:anonymous" cannot patch resource "deployments/status" in API group "apps" in the namespace "x""#,
            ),
        );
        check(
            "OPTIONS",
            "/api/v1/pods",
            Some(
                r#"pods is forbidden: User "system:anonymous" cannot resource "pods" in API group "" at the cluster scope"#,
            ),
        );
        check(
            "GET",
            "/api/v1/namespaces/a%22b/pods",
            Some(
                r#"pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "a\"b""#,
            ),
        );
    }
}
