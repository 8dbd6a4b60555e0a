//! Who issues tokens of service accounts, and by which keys others can check them (OpenID Connect Discovery 1.0).

use bytes::Bytes;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};

use super::documents::address;
use super::negotiate::accepts;
use super::respond;
use crate::access::ISSUER;
use crate::body::Body;
use crate::core::Core;
use crate::status::ApiError;

const JSON: &str = "application/json";
const KEY_SET: &str = "application/jwk-set+json";

/// Answers when the path is one of these.
pub(super) fn respond(core: &Core, parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path();
    let document = match path.strip_suffix('/').unwrap_or(path) {
        "/.well-known/openid-configuration" => answer(parts, JSON, || Ok(configuration(parts))),
        "/openid/v1/jwks" => answer(parts, KEY_SET, || core.tokens.key_set().map_err(ApiError::from)),
        _ => return None,
    };
    Some(document.unwrap_or_else(|error| respond::error(parts, &error)))
}

fn answer(
    parts: &Parts,
    media_type: &'static str,
    document: impl FnOnce() -> Result<Value, ApiError>,
) -> Result<Response<Body>, ApiError> {
    if parts.method != Method::GET {
        return Err(ApiError::method_not_allowed());
    }
    if !accepts(&parts.headers, media_type) {
        return Err(ApiError::not_acceptable_by_route(&[media_type]));
    }
    let mut response = respond::with_type(StatusCode::OK, media_type, Bytes::from(document()?.to_string()));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    Ok(response)
}

fn configuration(parts: &Parts) -> Value {
    json!({
        "issuer": ISSUER,
        "jwks_uri": format!("https://{}/openid/v1/jwks", address(parts)),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    })
}
