//! Paths that describe the server: the index and discovery.

use http::header::{ACCEPT, CACHE_CONTROL, ETAG, HOST, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};

use super::negotiate::{OFFERED, names_an_encoding};
use super::{health, respond};
use crate::body::Body;
use crate::catalogue::catalogue;
use crate::core::Core;
use crate::discovery;
use crate::openapi;
use crate::protobuf;
use crate::status::ApiError;

/// The media types of aggregated discovery.
const AGGREGATED: [&str; 2] = [
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
];

/// What is served beside discovery and health.
const PATHS: [&str; 9] = [
    "/.well-known/openid-configuration",
    "/api",
    "/apis",
    "/apis/",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openid/v1/jwks",
    "/version",
];

/// Answers below `/`, `/api` and `/apis`; `path` has no slash at its ends.
pub(super) fn discovery(core: &Core, parts: &Parts, path: &str) -> Response<Body> {
    discovered(core, parts, path).unwrap_or_else(|error| respond::error(parts, &error))
}

fn discovered(core: &Core, parts: &Parts, path: &str) -> Result<Response<Body>, ApiError> {
    let registry = &core.registry;
    let segments: Vec<&str> = path.split('/').collect();
    let document = match segments.as_slice() {
        [""] => return Ok(respond::indented(&paths(core))),
        ["api"] => {
            check_method(parts)?;
            if let Some(media_type) = aggregated(parts) {
                return Ok(whole(parts, media_type, &discovery::aggregated(registry, true)));
            }
            check_accept(parts)?;
            Some(discovery::api_versions(address(parts)))
        }
        ["apis"] => match aggregated(parts) {
            Some(media_type) => return Ok(whole(parts, media_type, &discovery::aggregated(registry, false))),
            None => Some(discovery::groups(registry)),
        },
        ["api", version] => Some(group_version(core, parts, "", version)?),
        ["apis", ""] => None,
        ["apis", group] => discovery::group(registry, group),
        ["apis", group, version] if is_built_in(group) => Some(group_version(core, parts, group, version)?),
        ["apis", group, version] => discovery::resources(registry, group, version),
        _ => None,
    };
    let answer = |document| respond::document(parts, StatusCode::OK, &document);
    Ok(document.map_or_else(respond::page_not_found, answer))
}

/// The resources of a built-in group version, which has a route of its own: that says which methods and types there are.
fn group_version(core: &Core, parts: &Parts, group: &str, version: &str) -> Result<Value, ApiError> {
    let resources = discovery::resources(&core.registry, group, version);
    let resources = resources.ok_or_else(ApiError::unknown_resource)?;
    check_method(parts)?;
    check_accept(parts)?;
    Ok(resources)
}

fn check_method(parts: &Parts) -> Result<(), ApiError> {
    if parts.method == Method::GET { Ok(()) } else { Err(ApiError::method_not_allowed()) }
}

fn check_accept(parts: &Parts) -> Result<(), ApiError> {
    if names_an_encoding(&parts.headers) { Ok(()) } else { Err(ApiError::not_acceptable_by_route(&OFFERED)) }
}

/// Whether a group is served by kube-apiserver itself, whatever definitions there are.
pub(super) fn is_built_in(group: &str) -> bool {
    catalogue().group_versions.iter().any(|known| known.group == group)
}

/// Aggregated discovery, which clients keep until its tag changes.
fn whole(parts: &Parts, media_type: &'static str, document: &Value) -> Response<Body> {
    let tag = format!("\"{}\"", openapi::hash(document.to_string().as_bytes()));
    let mut response = if has_tag(parts, &tag) {
        respond::not_modified()
    } else {
        respond::typed_document(parts, media_type, document)
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// Whether the client knows the document with this tag.
pub(super) fn has_tag(parts: &Parts, tag: &str) -> bool {
    parts.headers.get(IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes())
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

/// Where the client reaches the server, host and port.
pub(super) fn address(parts: &Parts) -> &str {
    let named = parts.headers.get(HOST).and_then(|value| value.to_str().ok());
    named.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str)).unwrap_or_default()
}

fn paths(core: &Core) -> Value {
    let mut paths: Vec<String> = PATHS.map(str::to_owned).to_vec();
    paths.extend(health::paths());
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
