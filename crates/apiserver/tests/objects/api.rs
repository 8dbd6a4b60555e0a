//! A client for one server, in process.
#![allow(clippy::unwrap_used, reason = "in tests a panic is the report")]

use std::time::Duration;

use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::{ApiServer, Body};
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::ServiceExt;

/// A seeded server and requests to it.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) server: ApiServer,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    /// The member at a JSON pointer, null when it is missing.
    pub(crate) fn at(&self, pointer: &str) -> Value {
        self.body.pointer(pointer).cloned().unwrap_or_default()
    }

    pub(crate) fn text(&self, pointer: &str) -> String {
        self.at(pointer).as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn revision(&self) -> String {
        self.text("/metadata/resourceVersion")
    }

    /// Names of a list's items.
    pub(crate) fn names(&self) -> Vec<String> {
        let items = self.at("/items");
        let name = |item: &Value| item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        items.as_array().unwrap_or_else(|| panic!("no list: {}", self.body)).iter().map(name).collect()
    }
}

impl Api {
    pub(crate) fn new() -> Self {
        Self { server: ApiServer::builder().ambient(Ambient::seeded(1)).build() }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        self.send_as(method, path, "application/json", &if body.is_null() { String::new() } else { body.to_string() })
            .await
    }

    pub(crate) async fn send_as(&self, method: &str, path: &str, content_type: &str, body: &str) -> Answer {
        let request = Request::builder().method(method).uri(path).header("content-type", content_type);
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let response = self.server.service().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes)));
        Answer { code: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, Value::Null).await
    }

    /// Sends and expects success.
    pub(crate) async fn ok(&self, method: &str, path: &str, body: Value) -> Answer {
        let answer = self.send(method, path, body).await;
        assert!((200..300).contains(&answer.code), "{method} {path}: {} {}", answer.code, answer.body);
        answer
    }

    /// Sends and expects a failure: code, reason and the start of the message.
    pub(crate) async fn refused(&self, method: &str, path: &str, body: Value, expected: (u16, &str, &str)) -> Answer {
        let answer = self.send(method, path, body).await;
        let got = (answer.code, answer.text("/reason"), answer.text("/message"));
        let (code, reason, message) = expected;
        assert!(
            got.0 == code && got.1 == reason && got.2.starts_with(message),
            "{method} {path}: expected {expected:?}, got {got:?}"
        );
        answer
    }

    pub(crate) async fn watch(&self, path: &str) -> Events {
        let request = Request::get(path).body(Full::new(Bytes::new())).unwrap();
        let response = self.server.service().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        Events { body: response.into_body() }
    }
}

/// The events of one watch.
#[derive(Debug)]
pub(crate) struct Events {
    body: Body,
}

impl Events {
    /// The next event, `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let frame = self.body.frame().await?.unwrap().into_data().unwrap();
        Some(serde_json::from_slice(&frame).unwrap())
    }

    /// The events that are there now, as `TYPE name@field`.
    pub(crate) async fn now(&mut self, pointer: &str) -> Vec<String> {
        let mut seen = Vec::new();
        while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(1), self.next()).await {
            let text =
                event.pointer(pointer).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            seen.push(format!("{} {}", event["type"].as_str().unwrap(), text.unwrap_or_default()));
        }
        seen
    }
}
