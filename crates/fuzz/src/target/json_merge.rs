//! Merge patch: a target and a patch.

use controller_runtime_merge::json_merge;
use serde_json::json;

use crate::document::{count, documents, lines};

pub(super) fn run(data: &[u8]) {
    let Some([target, patch]) = documents(data) else { return };
    let mut once = target.clone();
    json_merge(&mut once, &patch);
    assert!(count(&once) <= count(&target) + count(&patch), "the result holds what came in");
    let mut twice = once.clone();
    json_merge(&mut twice, &patch);
    assert_eq!(once, twice, "a second time changes nothing");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let target = json!({"a": {"b": 1, "c": [1, {"d": null}]}, "e": "x"});
    let patch = json!({"a": {"b": null, "c": [], "f": {"g": {"h": null}}}, "e": {"i": 2}});
    vec![lines(&[&target, &patch]), lines(&[&patch, &target])]
}
