//! What kind of request one is, for the metrics: kube-apiserver's labels, and never what a client made up.

use controller_runtime_metrics::RequestKind;
use http::Method;
use http::header::CONTENT_TYPE;
use http::request::Parts;

use super::attributes::{Attributes, ResourceAttributes};
use super::health;
use crate::core::Core;

const APPLY: [&str; 2] = ["application/apply-patch+yaml", "application/apply-patch+cbor"];

/// The words of a request's labels.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    verb: &'static str,
    attributes: ResourceAttributes,
    scope: &'static str,
    dry_run: bool,
}

impl Measured {
    /// Reads a request's head; `None` where it asks for nothing that is served: its words are then a client's own.
    pub(crate) fn of(core: &Core, parts: &Parts) -> Option<Self> {
        match Attributes::of(parts) {
            Attributes::Path { path, .. } => {
                let known =
                    health::paths().any(|known| known == path) || matches!(path.as_str(), "/metrics" | "/version");
                let attributes = ResourceAttributes { subresource: path, ..ResourceAttributes::default() };
                known.then(|| Self { verb: method(parts), attributes, ..Self::default() })
            }
            Attributes::Resource(attributes) => {
                let resource = core.registry.get(&attributes.group, &attributes.version, &attributes.resource)?;
                let is_known = |name: &String| resource.subresources.contains_key(name);
                if !attributes.subresource.is_empty() && !is_known(&attributes.subresource) {
                    return None;
                }
                let query = parts.uri.query().unwrap_or_default();
                Some(Self {
                    verb: verb(parts, &attributes),
                    scope: scope(&attributes),
                    dry_run: query.split('&').any(|parameter| parameter == "dryRun=All"),
                    attributes,
                })
            }
        }
    }

    /// The labels.
    pub(crate) fn kind(&self) -> RequestKind<'_> {
        RequestKind {
            verb: self.verb,
            group: &self.attributes.group,
            version: &self.attributes.version,
            resource: &self.attributes.resource,
            subresource: &self.attributes.subresource,
            scope: self.scope,
            dry_run: if self.dry_run { "All" } else { "" },
        }
    }
}

fn scope(attributes: &ResourceAttributes) -> &'static str {
    if !attributes.name.is_empty() || attributes.verb == "create" {
        "resource"
    } else if !attributes.namespace.is_empty() {
        "namespace"
    } else {
        "cluster"
    }
}

fn verb(parts: &Parts, attributes: &ResourceAttributes) -> &'static str {
    match attributes.verb.as_str() {
        "list" => "LIST",
        "watch" => "WATCH",
        "deletecollection" => "DELETECOLLECTION",
        "patch" if is_apply(parts) => "APPLY",
        _ => method(parts),
    }
}

fn is_apply(parts: &Parts) -> bool {
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    APPLY.contains(&media_type)
}

fn method(parts: &Parts) -> &'static str {
    match parts.method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
