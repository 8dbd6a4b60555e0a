//! What a request wants to do, as authorization sees it: read off method, path and query, whether or not such a
//! resource exists.

use http::Method;
use http::request::Parts;

/// Verb and object of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attributes {
    /// A path outside of the resources, such as `/version`.
    Path {
        /// The method in lower case.
        verb: String,
        /// The path as it was sent, decoded.
        path: String,
    },
    /// A resource.
    Resource(ResourceAttributes),
}

/// Verb and object of a request for a resource. Absent parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceAttributes {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) name: String,
}

impl Attributes {
    /// Reads a request's head.
    pub(crate) fn of(parts: &Parts) -> Self {
        let raw = parts.uri.path();
        let path = percent_encoding::percent_decode_str(raw).decode_utf8_lossy().into_owned();
        let query = parts.uri.query().unwrap_or_default();
        match resource_of(&path, &parts.method, query) {
            Some(attributes) => Self::Resource(attributes),
            None => Self::Path { verb: parts.method.as_str().to_ascii_lowercase(), path },
        }
    }
}

fn resource_of(path: &str, method: &Method, query: &str) -> Option<ResourceAttributes> {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    let mut attributes = ResourceAttributes::default();
    match segments.next()? {
        "api" => {}
        "apis" => segments.next()?.clone_into(&mut attributes.group),
        _ => return None,
    }
    segments.next()?.clone_into(&mut attributes.version);
    let mut rest: Vec<&str> = segments.collect();
    match method_verb(method) {
        _ if matches!(rest.first(), Some(&("watch" | "proxy"))) => {
            rest.remove(0).clone_into(&mut attributes.verb);
            if rest.is_empty() {
                return None;
            }
        }
        verb => verb.clone_into(&mut attributes.verb),
    }
    place(&mut attributes, &rest)?;
    settle_verb(&mut attributes, query);
    Some(attributes)
}

fn method_verb(method: &Method) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD => "get",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "",
    }
}

/// Reads namespace, resource, name and subresource.
fn place(attributes: &mut ResourceAttributes, rest: &[&str]) -> Option<()> {
    let own = match rest {
        [] => return None,
        ["namespaces", namespace, "status" | "finalize", ..] | ["namespaces", namespace] => {
            (*namespace).clone_into(&mut attributes.namespace);
            rest
        }
        ["namespaces", namespace, own @ ..] => {
            (*namespace).clone_into(&mut attributes.namespace);
            own
        }
        _ => rest,
    };
    for (part, segment) in
        [&mut attributes.resource, &mut attributes.name, &mut attributes.subresource].into_iter().zip(own)
    {
        (*segment).clone_into(part);
    }
    Some(())
}

/// A get or delete without a name is one of the collection; a watch is what the query says.
fn settle_verb(attributes: &mut ResourceAttributes, query: &str) {
    if !attributes.name.is_empty() {
        return;
    }
    match attributes.verb.as_str() {
        "get" | "list" => {
            "list".clone_into(&mut attributes.verb);
            for (key, value) in form_urlencoded::parse(query.as_bytes()) {
                match &*key {
                    "watch" if !matches!(&*value, "false" | "0") => "watch".clone_into(&mut attributes.verb),
                    "fieldSelector" => {
                        let name = value.split(',').find_map(|term| term.strip_prefix("metadata.name="));
                        name.unwrap_or_default().trim_start_matches('=').clone_into(&mut attributes.name);
                    }
                    _ => {}
                }
            }
        }
        "delete" => "deletecollection".clone_into(&mut attributes.verb),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::Attributes;

    fn check(method: &str, uri: &str, expect: &str) {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        let got = match Attributes::of(&parts) {
            Attributes::Path { verb, path } => format!("{verb} {path}"),
            Attributes::Resource(it) => format!(
                "{} {}/{} ns={} {}/{} {}",
                it.verb, it.group, it.version, it.namespace, it.resource, it.subresource, it.name
            ),
        };
        assert_eq!(got, expect, "{method} {uri}");
    }

    #[test]
    fn requests_are_read_as_the_reference_reads_them() {
        check("GET", "/version", "get /version");
        check("POST", "/foo/bar", "post /foo/bar");
        check("GET", "/apis/apps/v1", "get /apis/apps/v1");
        check("GET", "/api/v1/pods", "list /v1 ns= pods/ ");
        check("GET", "/api/v1/pods?watch=1", "watch /v1 ns= pods/ ");
        check("GET", "/api/v1/pods?watch", "watch /v1 ns= pods/ ");
        check("GET", "/api/v1/pods?watch=false", "list /v1 ns= pods/ ");
        check("GET", "/api/v1/watch/pods", "watch /v1 ns= pods/ ");
        check("GET", "/api/v1/pods?watch=true&fieldSelector=metadata.name%3Dabc", "watch /v1 ns= pods/ abc");
        check("DELETE", "/api/v1/namespaces/x/pods", "deletecollection /v1 ns=x pods/ ");
        check("DELETE", "/api/v1/namespaces/x", "delete /v1 ns=x namespaces/ x");
        check("PUT", "/api/v1/namespaces/x/finalize", "update /v1 ns=x namespaces/finalize x");
        check("GET", "/api/v1/namespaces/x/pods/y/z/w", "get /v1 ns=x pods/z y");
        check("PUT", "/apis/apps/v1/namespaces/x/deployments/y/scale", "update apps/v1 ns=x deployments/scale y");
        check("GET", "/apis/apps/v1/namespaces", "list apps/v1 ns= namespaces/ ");
        check("GET", "/api/v1/nodes/n/proxy/a/b", "get /v1 ns= nodes/proxy n");
        check("OPTIONS", "/api/v1/pods", " /v1 ns= pods/ ");
    }
}
