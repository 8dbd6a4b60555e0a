//! `/healthz`, `/livez` and `/readyz`.
//!
//! A server in the process is healthy for as long as it answers, so every check passes. The checks are the reference's,
//! whose names probes ask for: `etcd` stands for the store, and what start hooks do there is done when this server exists.

use http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::body::Body;

/// The checks before the start hooks.
const LIVE: [&str; 4] = ["ping", "log", "loopback-serving-certificate", "etcd"];
const READY: [&str; 5] = ["ping", "log", "etcd", "etcd-readiness", "informer-sync"];
/// The check after them.
const READY_LAST: [&str; 1] = ["shutdown"];
const START_HOOKS: [&str; 30] = [
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
];

/// The checks of one endpoint, in order.
fn checks(endpoint: &str) -> Option<Vec<&'static str>> {
    let (first, last): (&[&str], &[&str]) = match endpoint {
        "healthz" | "livez" => (&LIVE, &[]),
        "readyz" => (&READY, &READY_LAST),
        _ => return None,
    };
    Some([first, &START_HOOKS, last].concat())
}

/// All paths of health.
pub(super) fn paths() -> impl Iterator<Item = String> {
    ["healthz", "livez", "readyz"].into_iter().flat_map(|endpoint| {
        let single = checks(endpoint).unwrap_or_default().into_iter().map(move |check| format!("/{endpoint}/{check}"));
        std::iter::once(format!("/{endpoint}")).chain(single)
    })
}

/// Answers when the path is one of health; any method will do.
pub(crate) fn respond(parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path().strip_prefix('/')?;
    let (endpoint, check) = match path.split_once('/') {
        None => (path, None),
        Some((endpoint, check)) => (endpoint, Some(check)),
    };
    let checks = checks(endpoint)?;
    Some(match check {
        None => text(StatusCode::OK, all(endpoint, &checks, parts.uri.query().unwrap_or_default())),
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
        lines.push_str(&unknown.join(","));
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
