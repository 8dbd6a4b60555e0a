//! A server in the process that gives scripted answers, one after the other, and keeps what it was sent.

#![allow(dead_code, reason = "each test program uses a part")]

use std::sync::Arc;

use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_client::{Client, ClientOptions};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// What the server saw: a line for each request with its body, if any.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

/// A scripted answer with this code is a connection that can't be made.
pub(crate) const REFUSED: u16 = 0;

/// A client whose requests get the scripted answers, one after the other, and the log of the requests.
pub(crate) fn scripted(answers: Vec<(u16, Value)>) -> (Client, Log) {
    scripted_with(answers, ClientOptions::builder().ambient(Ambient::seeded(1)).field_manager("test").build())
}

pub(crate) fn scripted_with(answers: Vec<(u16, Value)>, options: ClientOptions) -> (Client, Log) {
    let log = Log::default();
    let answers = Arc::new(Mutex::new(answers.into_iter()));
    let seen = log.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (answers, seen) = (answers.clone(), seen.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let mut line = format!("{} {}", parts.method, parts.uri);
            if let Some(content_type) = parts.headers.get("content-type") {
                let content_type = content_type.to_str()?;
                line = format!("{line} {content_type} {}", String::from_utf8_lossy(&body));
            }
            seen.lock().push(line);
            let Some((code, answer)) = answers.lock().next() else { return std::future::pending().await };
            if code == REFUSED {
                return Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
            }
            let mut response = Response::builder().status(code);
            for warning in answer.get("warnings").and_then(Value::as_array).into_iter().flatten() {
                response = response.header("warning", format!("299 - {warning}"));
            }
            if let Some(seconds) = answer.get("retryAfter").and_then(Value::as_u64) {
                response = response.header("retry-after", seconds);
            }
            Ok::<_, tower::BoxError>(response.body(Full::new(Bytes::from(answer.to_string())))?)
        }
    });
    (Client::with_host(kube_client::Client::new(service, "default"), "test:443", options), log)
}

pub(crate) fn status(code: u16, reason: &str, name: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": format!("{reason} {name}"),
        "reason": reason, "code": code, "details": {"name": name}})
}

pub(crate) fn config_map(name: &str, data: &str, version: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": data},
        "metadata": {"namespace": "ns", "name": name, "uid": "u1", "resourceVersion": version}})
}

pub(crate) fn typed(value: Value) -> ConfigMap {
    serde_json::from_value(value).expect("it is a ConfigMap")
}
