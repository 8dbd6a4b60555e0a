use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;

/// Why the body of a request breaks off.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a manager's HTTP server says.
pub(crate) type Answer = Response<Full<Bytes>>;

pub(crate) fn not_found() -> Answer {
    text(StatusCode::NOT_FOUND, "not found\n")
}

pub(crate) fn text(status: StatusCode, body: impl Into<String>) -> Answer {
    with_type(status, "text/plain; charset=utf-8", body.into())
}

pub(crate) fn with_type(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
