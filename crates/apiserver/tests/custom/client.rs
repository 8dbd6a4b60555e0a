//! JSON over the server's in-process door.

use bytes::Bytes;
use controller_runtime_apiserver::{ApiServer, InProcess};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server and a way to ask it.
#[derive(Debug)]
pub(crate) struct Client {
    /// Kept, because dropping it ends the server.
    _server: ApiServer,
    service: InProcess,
}

/// What a request gave.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    /// The body of an answer that must have a code.
    pub(crate) fn expect(self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.body);
        self.body
    }

    /// The causes of a failure, each as field and reason.
    pub(crate) fn causes(&self) -> Vec<(&str, &str)> {
        let causes = self.body["details"]["causes"].as_array().map(Vec::as_slice).unwrap_or_default();
        causes.iter().map(|cause| (cause["field"].as_str().unwrap(), cause["reason"].as_str().unwrap())).collect()
    }
}

impl Client {
    pub(crate) fn new() -> Self {
        let server = ApiServer::builder().build();
        let service = server.service();
        Self { _server: server, service }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, content_type: &str, body: &Value) -> Answer {
        self.send_accepting(method, path, content_type, "application/json", body).await
    }

    async fn send_accepting(&self, method: &str, path: &str, content_type: &str, accept: &str, body: &Value) -> Answer {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::builder()
            .method(method)
            .uri(format!("http://localhost{path}"))
            .header("content-type", content_type)
            .header("accept", accept)
            .body(Full::new(Bytes::from(text)))
            .unwrap();
        let response = self.service.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            code: head.status.as_u16(),
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "application/json", &Value::Null).await
    }

    /// A list as a table.
    pub(crate) async fn table(&self, path: &str) -> Value {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        self.send_accepting("GET", path, "application/json", accept, &Value::Null).await.expect(200)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, "application/json", body).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, "application/json", body).await
    }

    pub(crate) async fn merge(&self, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, "application/merge-patch+json", body).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "application/json", &Value::Null).await
    }

    /// Creates a definition and waits for nothing: it is served when the answer is there.
    pub(crate) async fn install(&self, definition: &Value) -> Value {
        self.post(DEFINITIONS, definition).await.expect(201)
    }
}

/// A definition of `Widget`s with versions.
pub(crate) fn definition(versions: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.ref.dev"},
        "spec": {
            "group": "ref.dev",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["w"], "categories": ["all"]},
            "versions": versions,
        },
    })
}

/// The version v1 with a spec that keeps everything and a status with a phase.
pub(crate) fn v1(subresources: &Value) -> Value {
    json!({
        "name": "v1", "served": true, "storage": true, "subresources": subresources,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "status": {"type": "object", "properties": {
                "phase": {"type": "string"}, "replicas": {"type": "integer"}, "selector": {"type": "string"},
                "conditions": {"type": "array", "items": {"type": "object", "properties": {
                    "type": {"type": "string"}, "status": {"type": "string"}}}},
            }},
        }}},
    })
}

/// A `Widget` of version v1 with members of its own.
pub(crate) fn widget(name: &str, members: &Value) -> Value {
    let mut object = json!({"apiVersion": "ref.dev/v1", "kind": "Widget", "metadata": {"name": name}});
    for (key, value) in members.as_object().unwrap() {
        if key == "metadata" {
            object["metadata"].as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        } else {
            object[key] = value.clone();
        }
    }
    object
}
