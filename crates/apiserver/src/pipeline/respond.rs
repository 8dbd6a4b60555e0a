//! How responses are written.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::body::Body;
use crate::status::ApiError;

/// A failure as a `Status` object.
pub(crate) fn error(parts: &Parts, error: &ApiError) -> Response<Body> {
    let mut response = json(parts, error.code(), &error.to_value());
    let headers = response.headers_mut();
    if let Some(seconds) = error.retry_after() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An object as JSON, indented where a person is going to read it.
pub(crate) fn json(parts: &Parts, code: StatusCode, object: &Value) -> Response<Body> {
    let text = if pretty(parts) { format!("{object:#}\n") } else { format!("{object}\n") };
    with_type(code, "application/json", text)
}

/// What kube-apiserver says of paths that it knows nothing of.
pub(crate) fn page_not_found() -> Response<Body> {
    with_type(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "404 page not found\n".to_owned())
}

fn with_type(code: StatusCode, content_type: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Whether the query asks for indented JSON or, where it is silent, the client is a browser or a download tool.
fn pretty(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    if let Some((_, value)) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "pretty") {
        return !matches!(&*value, "false" | "0");
    }
    let agent = parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|tool| agent.starts_with(tool))
}
