//! Paths that describe the server: discovery and OpenAPI.

use http::header::{ACCEPT, ETAG, HOST, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};

use super::respond;
use crate::body::Body;
use crate::core::Core;
use crate::discovery;
use crate::protobuf;
use crate::status::ApiError;

/// The media types of aggregated discovery.
const AGGREGATED: [&str; 2] = [
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
];

/// Answers below `/`, `/api` and `/apis`; `path` has no slash at its ends.
pub(super) fn discovery(core: &Core, parts: &Parts, path: &str) -> Response<Body> {
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return respond::error(parts, &ApiError::method_not_allowed());
    }
    let registry = &core.registry;
    let segments: Vec<&str> = path.split('/').collect();
    let document = match segments.as_slice() {
        [""] => Some(paths(core)),
        [root @ ("api" | "apis")] if aggregated(parts).is_some() => {
            let document = discovery::aggregated(registry, *root == "api");
            return respond::typed_document(parts, aggregated(parts).unwrap_or_default(), &document);
        }
        ["api"] => Some(discovery::api_versions(address(parts))),
        ["apis"] => Some(discovery::groups(registry)),
        ["api", version] => discovery::resources(registry, "", version),
        ["apis", group] => discovery::group(registry, group),
        ["apis", group, version] => discovery::resources(registry, group, version),
        _ => None,
    };
    document.map_or_else(respond::page_not_found, |document| respond::document(parts, StatusCode::OK, &document))
}

/// Answers below `/openapi/v3`.
pub(super) fn open_api(core: &Core, parts: &Parts, path: &str) -> Response<Body> {
    let registry = &core.registry;
    let segments: Vec<&str> = path.split('/').collect();
    let document = match segments.as_slice() {
        ["openapi", "v3"] => return respond::json(parts, StatusCode::OK, &core.openapi.index(registry)),
        ["openapi", "v3", "api", version] => core.openapi.of_group_version(registry, "", version),
        ["openapi", "v3", "apis", group, version] => core.openapi.of_group_version(registry, group, version),
        _ => None,
    };
    let Some(document) = document else { return respond::page_not_found() };
    let tag = format!("\"{}\"", document.hash);
    let known = parts.headers.get(IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes());
    let mut response = if known {
        let mut response = Response::new(Body::from(""));
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        respond::with_type(StatusCode::OK, "application/json", document.text.clone())
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// The media type of aggregated discovery, if it stands before the plain one in what the client accepts.
fn aggregated(parts: &Parts) -> Option<&'static str> {
    let clauses = parts.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut clauses = clauses.flat_map(|text| text.split(',')).map(|clause| {
        let mut words = clause.split(';').map(str::trim);
        let media = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        (media, words)
    });
    let first = clauses.find(|(media, words)| {
        let plain = !words.iter().any(|word| word.starts_with("as="));
        matches!(*media, "application/json" | protobuf::MEDIA_TYPE | "*/*") && (plain || is_aggregated(words))
    });
    let (media, _) = first.filter(|(_, words)| is_aggregated(words))?;
    AGGREGATED.into_iter().find(|offered| offered.starts_with(media) || media == "*/*")
}

fn is_aggregated(words: &[&str]) -> bool {
    ["g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"].iter().all(|word| words.contains(word))
}

fn address(parts: &Parts) -> &str {
    let named = parts.headers.get(HOST).and_then(|value| value.to_str().ok());
    named.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str)).unwrap_or_default()
}

fn paths(core: &Core) -> Value {
    let mut paths: Vec<String> =
        ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"].map(str::to_owned).to_vec();
    for resource in core.registry.all() {
        if resource.group.is_empty() {
            paths.push(format!("/api/{}", resource.version));
        } else {
            paths.push(format!("/apis/{}", resource.group));
            paths.push(format!("/apis/{}/{}", resource.group, resource.version));
        }
    }
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}
