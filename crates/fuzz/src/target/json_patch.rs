//! JSON patches, as the server takes them.

use serde_json::json;

use crate::document::lines;
use crate::server::{MAPS, ask};

pub(super) fn run(data: &[u8]) {
    let path = format!("{MAPS}/one?dryRun=All");
    ask("PATCH", &path, &[("content-type", "application/json-patch+json")], data);
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let patches = [
        json!([{"op": "add", "path": "/data/c", "value": "3"}, {"op": "remove", "path": "/data/a"}]),
        json!([{"op": "test", "path": "/data/a", "value": "1"}, {"op": "replace", "path": "/data", "value": {"~0/": "x"}}]),
        json!([{"op": "copy", "from": "/data", "path": "/metadata/annotations"}]),
        json!([{"op": "move", "from": "/data/a", "path": "/data/~1"}, {"op": "add", "path": "/metadata/finalizers/-", "value": ""}]),
    ];
    patches.iter().map(|patch| lines(&[patch])).collect()
}
