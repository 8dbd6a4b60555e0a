//! A server in the process, and short words for what tests do with it.

use std::time::Duration;

use bytes::Bytes;
use controller_runtime_ambient::Ambient;
use controller_runtime_apiserver::{ApiServer, ApiServerBuilder};
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::client::{Answer, Door};

pub(crate) struct Cluster {
    pub(crate) server: ApiServer,
    door: Door,
}

/// The collection of config maps in namespace `default`: objects without behaviour of their own.
pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

impl Cluster {
    pub(crate) fn new() -> Self {
        Self::of(ApiServer::builder())
    }

    pub(crate) fn of(builder: ApiServerBuilder) -> Self {
        let server = builder.ambient(Ambient::seeded(1)).build();
        let door = Door::InProcess(server.service());
        Self { server, door }
    }

    pub(crate) async fn try_send(&self, method: &str, path: &str, content_type: &str, body: &Value) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("user-agent", "test");
        let mut bytes = Bytes::new();
        if !body.is_null() {
            request = request.header("content-type", content_type);
            bytes = Bytes::from(body.to_string());
        }
        self.door.send(request.body(Full::new(bytes)).unwrap()).await
    }

    async fn send(&self, method: &str, path: &str, content_type: &str, body: Value) -> Value {
        let answer = self.try_send(method, path, content_type, &body).await;
        assert!(answer.code.is_success(), "{method} {path} {body}: {}", answer.text());
        answer.json()
    }

    pub(crate) async fn create(&self, collection: &str, object: Value) -> Value {
        self.send("POST", collection, "application/json", object).await
    }

    pub(crate) async fn merge(&self, path: &str, change: Value) -> Value {
        self.send("PATCH", path, "application/merge-patch+json", change).await
    }

    /// Deletes an object with a propagation policy, and waits until nothing happens any more.
    pub(crate) async fn delete(&self, path: &str, policy: &str) {
        self.send("DELETE", path, "application/json", json!({"propagationPolicy": policy})).await;
        settle().await;
    }

    pub(crate) async fn get(&self, path: &str) -> Option<Value> {
        let answer = self.try_send("GET", path, "", &Value::Null).await;
        match answer.code.as_u16() {
            200 => Some(answer.json()),
            404 => None,
            _ => panic!("{path}: {}", answer.text()),
        }
    }

    /// Which of these config maps in `default` are there.
    pub(crate) async fn check(&self, expect: &[&str]) {
        let list = self.get(MAPS).await.unwrap();
        let names: Vec<_> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|item| item["metadata"]["name"].as_str())
            .filter(|name| *name != "kube-root-ca.crt")
            .collect();
        assert_eq!(names, expect);
    }

    /// A config map with owners: each an object, and whether it blocks the owner's deletion.
    pub(crate) async fn map(&self, name: &str, owners: &[(&Value, bool)]) -> Value {
        self.create(MAPS, map(name, owners)).await
    }
}

pub(crate) fn map(name: &str, owners: &[(&Value, bool)]) -> Value {
    let owners: Vec<_> = owners.iter().map(|(owner, blocks)| reference(owner, *blocks)).collect();
    json!({"metadata": {"name": name, "ownerReferences": owners}})
}

pub(crate) fn reference(owner: &Value, blocks: bool) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks,
    })
}

/// Waits until every task of the server waits for something: with tokio's time paused the clock only moves then. Long
/// enough for any retry.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_mins(2)).await;
}
