//! Managers that wrote in different versions of one kind.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::sync::Arc;

use controller_runtime_merge::{Apply, ConversionError, FieldSet, Versioned, Versions, apply};
use controller_runtime_schema::Schema;
use serde_json::{Value, json};

/// `ref.dev/v2` calls `b` what `ref.dev/v1` calls `a`.
#[derive(Debug)]
struct Renamed;

fn schema(field: &str) -> Schema {
    let spec = json!({"type": "object", "properties": {field: {"type": "string"}, "c": {"type": "string"}}});
    Schema::from_json(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
}

impl Versions for Renamed {
    fn convert(&self, object: &Value, api_version: &str) -> Result<Versioned, ConversionError> {
        let (from, to) = match api_version {
            "ref.dev/v1" => ("b", "a"),
            "ref.dev/v2" => ("a", "b"),
            _ => return Err(ConversionError::UnknownVersion),
        };
        let mut object = object.clone();
        object["apiVersion"] = json!(api_version);
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
            && let Some(value) = spec.remove(from)
        {
            spec.insert(to.to_owned(), value);
        }
        Ok(Versioned { object, schema: Arc::new(schema(to)), reset: FieldSet::new() })
    }
}

fn applied(live: Option<&Value>, version: &str, manager: &str, spec: &Value) -> Result<Value, String> {
    let (empty, reset) = (json!({}), FieldSet::new());
    let options = Apply {
        manager,
        force: false,
        api_version: version,
        subresource: None,
        schema: &schema(if version == "ref.dev/v1" { "a" } else { "b" }),
        empty: &empty,
        now: "2026-01-01T00:00:00Z",
        reset: &reset,
        versions: &Renamed,
    };
    let config = json!({"apiVersion": version, "kind": "App", "metadata": {"name": "x"}, "spec": spec});
    let live = live.map(|live| Renamed.convert(live, version).unwrap().object);
    apply(live.as_ref(), &config, &options).map_err(|error| error.to_string())
}

#[test]
fn a_field_is_owned_under_either_name() {
    let first = applied(None, "ref.dev/v1", "ann", &json!({"a": "x", "c": "1"})).unwrap();
    let conflict = applied(Some(&first), "ref.dev/v2", "bob", &json!({"b": "y"})).unwrap_err();
    assert_eq!(conflict, "Apply failed with 1 conflict: conflict with \"ann\": .spec.a");

    let shared = applied(Some(&first), "ref.dev/v2", "bob", &json!({"b": "x"})).unwrap();
    let left = applied(Some(&shared), "ref.dev/v2", "ann", &json!({})).unwrap();
    assert_eq!(left["spec"], json!({"b": "x"}), "bob owns it, and nobody owns c");
}

#[test]
fn managers_of_unknown_versions_are_forgotten() {
    let mut live = applied(None, "ref.dev/v1", "ann", &json!({"a": "x"})).unwrap();
    live["metadata"]["managedFields"][0]["apiVersion"] = json!("ref.dev/v0");
    let next = applied(Some(&live), "ref.dev/v1", "bob", &json!({"a": "y"})).unwrap();
    assert_eq!(next["metadata"]["managedFields"].as_array().unwrap().len(), 1);
    assert_eq!(next["metadata"]["managedFields"][0]["manager"], "bob");
}
