//! Tokens that continue a list.

use crate::document::text;
use crate::server::{MAPS, ask, query};

pub(super) fn run(data: &[u8]) {
    let Some(token) = text(data) else { return };
    let path = format!("{MAPS}?{}", query(&[("limit", "1"), ("continue", token)]));
    ask("GET", &path, &[], b"");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let answer = ask("GET", &format!("{MAPS}?limit=1"), &[], b"");
    let list: serde_json::Value = serde_json::from_slice(&answer).unwrap_or_default();
    let token = list.pointer("/metadata/continue").and_then(serde_json::Value::as_str).unwrap_or_default();
    // {"v":"meta.k8s.io/v1","rv":-1,"start":"two\u0000"}
    let other = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoidHdvXHUwMDAwIn0";
    [token, other, "AAAA"].map(|token| token.as_bytes().to_vec()).to_vec()
}
