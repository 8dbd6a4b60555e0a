use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use serde_json::Value;

use super::reference::ObjectReference;
use crate::access::Identity;
use crate::pipeline::authenticate::Peer;
use crate::resource::Resource;
use crate::server::Door;

/// How a controller of the server sends requests: as a client of its own, with its own name in the log.
#[derive(Debug)]
pub(super) struct Client {
    door: Arc<Door>,
    account: &'static str,
    peer: Peer,
}

/// A request that failed.
#[derive(Debug, thiserror::Error)]
#[error("{method} {path}: {code} {message}")]
pub(super) struct Failure {
    method: Method,
    path: String,
    pub(super) code: u16,
    pub(super) message: String,
}

impl Failure {
    /// Something below a path that could not be deleted.
    pub(super) fn of(path: &str, message: String) -> Self {
        Self { method: Method::DELETE, path: path.to_owned(), code: 500, message }
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.code == 404
    }

    pub(super) fn is_conflict(&self) -> bool {
        self.code == 409
    }

    pub(super) fn is_unsupported_media_type(&self) -> bool {
        self.code == 415
    }
}

/// The name that field ownership knows these controllers by.
const AGENT: &str = "kube-controller-manager";

impl Client {
    /// A client with the name of a service account in `kube-system`.
    pub(super) fn new(door: Arc<Door>, account: &'static str) -> Self {
        Self { door, account, peer: Peer::Known(Identity::controller(account)) }
    }

    pub(super) fn door(&self) -> &Arc<Door> {
        &self.door
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send(Method::GET, path, None).await
    }

    pub(super) async fn create(&self, path: &str, object: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, Some(("application/json", object))).await
    }

    pub(super) async fn update(&self, path: &str, object: &Value) -> Result<Value, Failure> {
        self.send(Method::PUT, path, Some(("application/json", object))).await
    }

    /// Patches with a JSON merge patch.
    pub(super) async fn merge(&self, path: &str, change: &Value) -> Result<Value, Failure> {
        self.send(Method::PATCH, path, Some(("application/merge-patch+json", change))).await
    }

    /// Patches with a strategic merge patch.
    pub(super) async fn strategic_merge(&self, path: &str, change: &Value) -> Result<Value, Failure> {
        self.send(Method::PATCH, path, Some(("application/strategic-merge-patch+json", change))).await
    }

    /// Applies, whoever owns the fields.
    pub(super) async fn apply(&self, path: &str, object: &Value) -> Result<Value, Failure> {
        let path = format!("{path}?fieldManager={}&force=true", self.account);
        self.send(Method::PATCH, &path, Some(("application/apply-patch+yaml", object))).await
    }

    /// Deletes an object, or a collection when the path is one's.
    pub(super) async fn delete(&self, path: &str, options: &Value) -> Result<Value, Failure> {
        self.send(Method::DELETE, path, Some(("application/json", options))).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<(&str, &Value)>) -> Result<Value, Failure> {
        let failure = |code, message| Failure { method: method.clone(), path: path.to_owned(), code, message };
        let mut request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, AGENT);
        let mut bytes = Bytes::new();
        if let Some((content_type, value)) = body {
            request = request.header(CONTENT_TYPE, content_type);
            bytes = Bytes::from(value.to_string());
        }
        let request = request.body(Full::new(bytes)).map_err(|error| failure(400, error.to_string()))?;
        let response = self.door.answer(request, &self.peer).await;
        let code = response.status();
        let value = response.body().bytes().and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok());
        match value {
            Some(value) if code.is_success() => Ok(value),
            Some(status) => {
                let message = status.get("message").and_then(Value::as_str).unwrap_or_default();
                Err(failure(code.as_u16(), message.to_owned()))
            }
            None => Err(failure(code.as_u16(), "the response is no JSON".to_owned())),
        }
    }
}

/// Path of a collection; `namespace` is ignored for cluster-scoped resources.
pub(super) fn collection_path(resource: &Resource, namespace: &str) -> String {
    let prefix = if resource.group.is_empty() { "/api" } else { "/apis" };
    let api_version = resource.api_version();
    if resource.namespaced {
        format!("{prefix}/{api_version}/namespaces/{namespace}/{}", resource.plural)
    } else {
        format!("{prefix}/{api_version}/{}", resource.plural)
    }
}

/// Path of an object.
pub(super) fn object_path(resource: &Resource, object: &ObjectReference) -> String {
    // Names of roles and the like may hold characters that mean something in a path.
    let name = percent_encoding::utf8_percent_encode(&object.name, percent_encoding::NON_ALPHANUMERIC);
    let name = name.to_string().replace("%2D", "-").replace("%2E", ".");
    format!("{}/{name}", collection_path(resource, &object.namespace))
}
