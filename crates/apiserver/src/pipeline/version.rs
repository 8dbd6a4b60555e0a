//! `/version`: which Kubernetes this server behaves like.

use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use serde_json::json;

use super::negotiate::accepts;
use super::respond;
use crate::body::Body;
use crate::status::ApiError;

/// The release whose API this server serves.
const MAJOR: &str = "1";
const MINOR: &str = "37";
const GIT_VERSION: &str = "v1.37.2";

/// Answers when the path is this one's.
pub(crate) fn respond(parts: &Parts) -> Option<Response<Body>> {
    match parts.uri.path() {
        "/version" | "/version/" => {}
        path if path.starts_with("/version/") => {
            return Some(respond::error(parts, &ApiError::unknown_resource()));
        }
        _ => return None,
    }
    if parts.method != Method::GET {
        return Some(respond::error(parts, &ApiError::method_not_allowed()));
    }
    if !accepts(&parts.headers, "application/json") {
        return Some(respond::error(parts, &ApiError::not_acceptable_by_route(&["application/json"])));
    }
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        arch => arch,
    };
    let version = json!({
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "36",
        "gitVersion": GIT_VERSION,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{os}/{arch}"),
    });
    let mut response = Response::new(Body::from(format!("{version:#}")));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    Some(response)
}
