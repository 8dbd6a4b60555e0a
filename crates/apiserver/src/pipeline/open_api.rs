//! `/openapi/v2` and `/openapi/v3`. Neither heeds the method.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, LOCATION, VARY};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::documents::has_tag;
use super::negotiate::accepts;
use super::query::Query;
use super::respond;
use crate::body::Body;
use crate::core::Core;
use crate::openapi::Document;

const JSON: &str = "application/json";
/// What Go clients ask for, in the two ways in which they write it, and what is answered.
const PROTOBUF_V2: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// Answers below `/openapi`; `path` has no slash at its ends.
pub(super) fn respond(core: &Core, parts: &Parts, path: &str) -> Response<Body> {
    let registry = &core.registry;
    let segments: Vec<&str> = path.split('/').collect();
    let document = match segments.as_slice() {
        ["openapi", "v2"] => return second_version(core, parts),
        ["openapi", "v3"] if !parts.uri.path().ends_with('/') => {
            let index = core.openapi.index(registry).to_string();
            return respond::with_type(StatusCode::OK, "text/plain; charset=utf-8", index);
        }
        ["openapi", "v3", "api", version] => core.openapi.of_group_version(registry, "", version),
        ["openapi", "v3", "apis", group, version] => core.openapi.of_group_version(registry, group, version),
        ["openapi", "v3", ..] => None,
        _ => return respond::page_not_found(),
    };
    let Some(document) = document else { return empty(StatusCode::NOT_FOUND) };
    let mut response = if accepts(&parts.headers, JSON) {
        third_version(parts, path, &document)
    } else {
        empty(StatusCode::NOT_ACCEPTABLE)
    };
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn third_version(parts: &Parts, path: &str, document: &Document) -> Response<Body> {
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let asked = query.text("hash");
    let tag = format!("\"{}\"", document.hash);
    let mut response = if !asked.is_empty() && asked != document.hash {
        let mut response = empty(StatusCode::MOVED_PERMANENTLY);
        set(&mut response, LOCATION, &format!("/{path}?hash={}", document.hash));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        response
    } else if has_tag(parts, &tag) {
        respond::not_modified()
    } else {
        respond::with_type(StatusCode::OK, JSON, document.text.clone())
    };
    set(&mut response, ETAG, &tag);
    response
}

fn second_version(core: &Core, parts: &Parts) -> Response<Body> {
    let protobuf = || PROTOBUF_V2.iter().any(|media_type| accepts(&parts.headers, media_type));
    let mut response = if accepts(&parts.headers, JSON) {
        let document = core.openapi.second_version(&core.registry);
        tagged(parts, JSON, &document.json)
    } else if protobuf() {
        let document = core.openapi.second_version(&core.registry);
        tagged(parts, PROTOBUF_V2[0], &document.protobuf)
    } else {
        empty(StatusCode::NOT_ACCEPTABLE)
    };
    for varies in ["Accept-Encoding", "Accept"] {
        response.headers_mut().append(VARY, HeaderValue::from_static(varies));
    }
    response
}

fn tagged(parts: &Parts, media_type: &'static str, document: &Document) -> Response<Body> {
    let tag = format!("\"{}\"", document.hash);
    let mut response = if has_tag(parts, &tag) {
        respond::not_modified()
    } else {
        respond::with_type(StatusCode::OK, media_type, document.text.clone())
    };
    set(&mut response, ETAG, &tag);
    response
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn empty(code: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::from(""));
    *response.status_mut() = code;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}
