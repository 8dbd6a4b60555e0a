//! Whether an identity may do what it asks for.
//!
//! Everybody with valid credentials may do everything; requests without credentials may see that the server is there.

use http::request::Parts;

use super::attributes::{Attributes, ResourceAttributes};
use crate::access::Identity;
use crate::status::{ApiError, GroupResource};

/// What everybody may read.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// Checks one request; the error is the reference's 403.
pub(crate) fn authorize(user: &Identity, parts: &Parts) -> Result<(), ApiError> {
    if !user.is_anonymous() {
        return Ok(());
    }
    match Attributes::of(parts) {
        Attributes::Path { verb, path } => {
            if matches!(verb.as_str(), "get" | "head") && PUBLIC.contains(&path.as_str()) {
                return Ok(());
            }
            let message = format!("forbidden: User {:?} cannot {verb} path {path:?}", user.name);
            Err(ApiError::forbidden_path(message))
        }
        Attributes::Resource(attributes) => Err(forbidden(user, &attributes)),
    }
}

fn forbidden(user: &Identity, wanted: &ResourceAttributes) -> ApiError {
    let resource = match wanted.subresource.as_str() {
        "" => wanted.resource.clone(),
        subresource => format!("{}/{subresource}", wanted.resource),
    };
    let verb = if wanted.verb.is_empty() { String::new() } else { format!(" {}", wanted.verb) };
    let place = match wanted.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let why =
        format!("User {:?} cannot{verb} resource {resource:?} in API group {:?} {place}", user.name, wanted.group);
    let about = GroupResource { group: &wanted.group, resource: &wanted.resource };
    ApiError::forbidden(about, &wanted.name, &why)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::authorize;
    use crate::access::Identity;

    fn check(method: &str, uri: &str, expect: Option<&str>) {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        let got = authorize(&Identity::anonymous(), &parts).err().map(|error| error.message().to_owned());
        assert_eq!(got.as_deref(), expect, "{method} {uri}");
        assert_eq!(authorize(&Identity::new("jane"), &parts), Ok(()));
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
