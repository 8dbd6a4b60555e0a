//! Objects as protocol buffers, in and out.

use crate::server::{MAPS, ask};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

pub(super) fn run(data: &[u8]) {
    let path = format!("{MAPS}?dryRun=All");
    for accept in ["application/json", PROTOBUF] {
        ask("POST", &path, &[("content-type", PROTOBUF), ("accept", accept)], data);
    }
    ask("DELETE", &format!("{MAPS}/absent"), &[("content-type", PROTOBUF)], data);
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    ["one", "two"]
        .iter()
        .map(|name| ask("GET", &format!("{MAPS}/{name}"), &[("accept", PROTOBUF)], b"").to_vec())
        .collect()
}
