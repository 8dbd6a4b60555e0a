//! `/metrics`: what the server counts.

use controller_runtime_metrics::Format;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::respond;
use crate::body::Body;
use crate::core::Core;
use crate::status::ApiError;

/// Prometheus text as kube-apiserver names it.
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/// Answers when the path is this one's. Every method reads; only `DELETE`, which resets kube-apiserver's counters, is
/// not allowed here.
pub(crate) fn respond(core: &Core, parts: &Parts) -> Option<Response<Body>> {
    if parts.uri.path() != "/metrics" {
        return None;
    }
    if parts.method == Method::DELETE {
        return Some(respond::error(parts, &ApiError::method_not_allowed()));
    }
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let format = Format::from_accept(accept);
    let Ok(text) = core.metrics.encode(format) else {
        return Some(respond::error(parts, &ApiError::internal("the metrics could not be written")));
    };
    let media_type = match format {
        Format::OpenMetrics => format.content_type(),
        _ => PROMETHEUS_TEXT,
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    Some(response)
}
