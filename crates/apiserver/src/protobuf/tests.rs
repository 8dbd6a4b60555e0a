use serde_json::{Value, json};

use super::table::{Shape, ValueKind, table};
use super::{DecodeError, decode, encode};
use crate::catalogue::catalogue;

mod fixtures;
mod generated;
mod hostile;

/// The wire form of a field that is bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
    out.extend_from_slice(bytes);
    out
}

fn enveloped(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    super::wrap(api_version, kind, raw)
}

#[test]
fn every_kind_that_is_served_has_a_message() {
    for (version, resource) in catalogue().resources() {
        let api_version = if version.group.is_empty() {
            version.version.clone()
        } else {
            format!("{}/{}", version.group, version.version)
        };
        let list = resource.list_kind.as_deref();
        for kind in [Some(resource.kind.as_str()), list].into_iter().flatten() {
            let message = table().of_kind(&api_version, kind).unwrap_or_else(|| panic!("{api_version} {kind}"));
            assert_eq!((message.fields[0].number, message.fields[0].json), (1, "metadata"), "{kind}");
        }
        if let Some(list) = list {
            let items = &table().of_kind(&api_version, list).unwrap().fields[1];
            assert_eq!((items.number, items.json, items.shape), (2, "items", Shape::Repeated), "{list}");
        }
    }
}

#[test]
fn fields_without_a_name_belong_to_types_that_write_themselves() {
    for message in table().messages() {
        let unnamed = message.fields.iter().any(|field| field.json == "-" && !field.is_inlined);
        let known = message.special.is_some() || message.is_list || message.short_name() == "List";
        assert!(!unnamed || known, "{}", message.name);
        let inlined = message.fields.iter().filter(|field| field.is_inlined);
        assert!(inlined.clone().all(|field| matches!(field.value, ValueKind::Message(_))), "{}", message.name);
    }
}

#[test]
fn kinds_and_versions_that_the_envelope_does_not_name_are_the_expected_ones() {
    let raw = field(1, &field(1, b"a"));
    let object = decode(&enveloped("", "", &raw), "v1", "ConfigMap").unwrap();
    assert_eq!(object, json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let object = decode(&enveloped("v1", "Secret", &raw), "v1", "ConfigMap").unwrap();
    assert_eq!(object["kind"], "Secret");
}

#[test]
fn errors_are_those_of_go() {
    let check = |bytes: &[u8], expected: &str| {
        assert_eq!(decode(bytes, "v1", "ConfigMap").unwrap_err().to_string(), expected, "{bytes:?}");
    };
    let object = |raw: &[u8]| enveloped("v1", "ConfigMap", raw);
    check(b"", "empty data");
    check(b"hello", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    check(b"k8s\0", "empty body");
    check(b"k8s\0\x12\x05ab", "unexpected EOF");
    check(&object(b"\x0a\x05ab"), "unexpected EOF");
    check(&object(b"\x08\x05"), "proto: wrong wireType = 0 for field ObjectMeta");
    check(&object(b"\x0c"), "proto: ConfigMap: wiretype end group for non-group");
    check(&object(b"\0\0"), "proto: ConfigMap: illegal tag 0 (wire type 0)");
    check(&object(&[0xff; 11]), "proto: integer overflow");
    let unknown = decode(&enveloped("v1", "Foo", b""), "v1", "ConfigMap").unwrap_err();
    assert!(matches!(unknown, DecodeError::UnknownKind { .. }));
}

#[test]
fn unknown_fields_and_groups_are_passed_over() {
    let mut raw = field(1, &field(1, b"a"));
    raw.extend_from_slice(&field(15, b"x"));
    raw.extend_from_slice(b"\x7b\x7b\x7c\x08\x01\x7c");
    let object = decode(&enveloped("v1", "ConfigMap", &raw), "v1", "ConfigMap").unwrap();
    assert_eq!(object["metadata"], json!({"name": "a"}));
}

#[test]
fn messages_that_stand_twice_are_merged() {
    let raw = [field(1, &field(1, b"a")), field(1, &field(3, b"ns"))].concat();
    let object = decode(&enveloped("v1", "ConfigMap", &raw), "v1", "ConfigMap").unwrap();
    assert_eq!(object["metadata"], json!({"name": "a", "namespace": "ns"}));
}

#[test]
fn text_that_is_no_text_is_replaced() {
    let raw = [field(2, &[field(1, b"k"), field(2, b"\xff")].concat())].concat();
    let object = decode(&enveloped("v1", "ConfigMap", &raw), "v1", "ConfigMap").unwrap();
    assert_eq!(object["data"], json!({"k": "\u{fffd}"}));
}

/// Encodes and decodes; what comes back must be the same again, and `expected`.
fn round_trip(object: &Value, expected: &Value) {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let bytes = encode(object).unwrap_or_else(|| panic!("{object}"));
    let decoded = decode(&bytes, text("apiVersion"), text("kind")).unwrap();
    assert_eq!(&decoded, expected);
    assert_eq!(encode(&decoded), Some(bytes));
}

#[test]
fn types_that_write_themselves_keep_their_values() {
    let schema = json!({
        "type": "object", "default": {"a": [1, null]}, "enum": ["x", 1, {"y": 2.5}], "maximum": 1.5, "minimum": -2,
        "items": {"type": "string"}, "additionalProperties": false,
        "properties": {
            "a": {"additionalProperties": {"type": "string"}, "items": [{"type": "string"}]},
            "b": {"dependencies": {"x": ["y"], "z": {"type": "string"}}, "additionalProperties": true},
        },
        "x-kubernetes-preserve-unknown-fields": true, "$ref": "", "x-kubernetes-list-map-keys": ["a"],
    });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a.b"},
        "spec": {
            "group": "b", "scope": "Namespaced", "names": {"plural": "a", "kind": "A"},
            "versions": [{"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null},
    });
    round_trip(&definition, &definition);
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 1, "targetPort": "x"}, {"port": -2, "targetPort": 0}]},
        "status": {"loadBalancer": {}},
    });
    round_trip(&service, &service);
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": "a", "creationTimestamp": "1969-12-31T23:59:59Z"},
        "eventTime": "2026-01-02T03:04:05.000006Z", "regarding": {}, "deprecatedSource": {},
        "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null,
    });
    round_trip(&event, &event);
}
