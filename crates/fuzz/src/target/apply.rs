//! Server-side apply: a live object and a configuration, under the schema of strategic merge patch.

use controller_runtime_merge::{Apply, FieldSet, NoOtherVersions, apply};
use serde_json::{Value, json};

use super::strategic_merge::schema;
use crate::document::{documents, lines};

pub(super) fn run(data: &[u8]) {
    let Some([live, config]) = documents(data) else { return };
    let schema = schema();
    let (empty, reset) = (json!({}), FieldSet::new());
    let options = |manager| Apply {
        manager,
        force: true,
        api_version: "ref.dev/v1",
        subresource: None,
        schema: &schema,
        empty: &empty,
        now: "2026-01-01T00:00:00Z",
        reset: &reset,
        versions: &NoOtherVersions,
    };
    fields(&live);
    let live = Some(&live).filter(|live| !live.is_null());
    for manager in ["ann", "kubectl"] {
        let Ok(once) = apply(live, &config, &options(manager)) else { continue };
        fields(&once);
        // An empty list takes the place of items that went only when it is applied once more, as in kube-apiserver.
        let twice = apply(Some(&once), &config, &options(manager)).unwrap();
        let thrice = apply(Some(&twice), &config, &options(manager)).unwrap();
        assert_eq!(twice, thrice, "a third time changes nothing");
    }
}

/// Sets of fields that can be read are written as they were read.
fn fields(object: &Value) {
    for entry in object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten() {
        if let Ok(set) = FieldSet::from_json(&entry["fieldsV1"]) {
            assert_eq!(FieldSet::from_json(&set.to_json()).unwrap(), set);
            assert!(set.difference(&set).is_empty());
        }
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let config = json!({"apiVersion": "ref.dev/v1", "kind": "App", "metadata": {"name": "a", "finalizers": ["a"]},
        "spec": {"ports": [{"port": 1, "name": "x"}], "tags": ["a", "a"], "atom": {"a": 1}, "free": {"b": [1]}}});
    let owned = json!([
        {"manager": "ann", "operation": "Apply", "apiVersion": "ref.dev/v1", "fieldsType": "FieldsV1",
            "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:ports": {"k:{\"port\":2}": {".": {}, "f:port": {}}},
                "f:tags": {}, "f:atom": {}}, "f:metadata": {"f:finalizers": {"v:\"b\"": {}}}}},
        {"manager": "bob", "operation": "Update", "apiVersion": "ref.dev/v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:free": {"i:0": {}, "f:c": {}}}}},
    ]);
    let live = json!({"apiVersion": "ref.dev/v1", "kind": "App",
        "metadata": {"name": "a", "finalizers": ["b"], "managedFields": owned},
        "spec": {"ports": [{"port": 2}], "tags": ["b"], "atom": {"b": 1}, "free": {"c": 1}}});
    vec![lines(&[&Value::Null, &config]), lines(&[&live, &config])]
}
