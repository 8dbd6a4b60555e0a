//! `/healthz`, `/livez` and `/readyz`.
//!
//! A server in the process is healthy for as long as it answers, so every check passes; what can be asked for and how
//! it is written is the reference's. `etcd` stands for the store, whose name probes expect.

use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::body::Body;

const LIVE: [&str; 3] = ["ping", "log", "etcd"];
const READY: [&str; 6] = ["ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"];

/// Answers when the path is one of health; any method will do.
pub(super) fn respond(parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path().strip_prefix('/')?;
    let (endpoint, check) = match path.split_once('/') {
        None => (path, None),
        Some((endpoint, check)) => (endpoint, Some(check)),
    };
    let checks: &[&str] = match endpoint {
        "healthz" | "livez" => &LIVE,
        "readyz" => &READY,
        _ => return None,
    };
    Some(match check {
        None => text(StatusCode::OK, all(endpoint, checks, parts.uri.query().unwrap_or_default())),
        Some(check) if checks.contains(&check) => text(StatusCode::OK, "ok".to_owned()),
        Some(_) => text(StatusCode::NOT_FOUND, "404 page not found\n".to_owned()),
    })
}

fn all(endpoint: &str, checks: &[&str], query: &str) -> String {
    let pairs = || form_urlencoded::parse(query.as_bytes());
    if !pairs().any(|(key, _)| key == "verbose") {
        return "ok".to_owned();
    }
    let excluded: Vec<_> = pairs().filter(|(key, _)| key == "exclude").map(|(_, value)| value).collect();
    let mut lines = String::new();
    for check in checks {
        let how = if excluded.iter().any(|name| name == check) { "excluded: ok" } else { "ok" };
        lines.extend(["[+]", check, " ", how, "\n"]);
    }
    let unknown: Vec<_> =
        excluded.iter().filter(|name| !checks.contains(&&***name)).map(|name| format!("{name:?}")).collect();
    if !unknown.is_empty() {
        lines.push_str("warn: some health checks cannot be excluded: no matches for ");
        lines.push_str(&unknown.join(", "));
        lines.push('\n');
    }
    lines + endpoint + " check passed\n"
}

fn text(code: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
