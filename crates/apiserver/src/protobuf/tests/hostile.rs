//! Bytes from nobody knows whom: no panic, no more memory than a request is worth, and what is taken is taken whole.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

use super::super::wire::{put_bytes, put_number};
use super::{decode, encode, enveloped};

/// What a fuzzer calls: bytes that are decoded are encoded and decoded to the same again.
fn decode_anything(bytes: &[u8]) {
    for (api_version, kind) in [("v1", "Pod"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition")] {
        let Ok(object) = decode(bytes, api_version, kind) else { continue };
        // Lists and maps that are there and empty, and nulls in them, can't be said in protocol buffers.
        let Some(again) = encode(&object) else { continue };
        let decoded = decode(&again, api_version, kind).expect("what was encoded here is well formed");
        assert_eq!(encode(&decoded), Some(again), "{object}");
    }
}

/// Fields of small numbers, which are messages in turn, numbers or noise.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let leaf =
        prop_oneof![vec(any::<u8>(), 0..12), Just(b"{\"a\":1}".to_vec()), Just(b"2026".to_vec()), Just(Vec::new()),];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let field = prop_oneof![
            (1_u32..40, inner).prop_map(|(number, bytes)| {
                let mut out = Vec::new();
                put_bytes(&mut out, number, &bytes);
                out
            }),
            (1_u32..40, any::<u64>()).prop_map(|(number, value)| {
                let mut out = Vec::new();
                put_number(&mut out, number, value);
                out
            }),
        ];
        vec(field, 0..6).prop_map(|fields| fields.concat())
    })
}

#[test]
fn arbitrary_bytes_are_an_error_or_an_object_that_survives() {
    let mut runner = TestRunner::new(Config { cases: 2000, failure_persistence: None, ..Config::default() });
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..64).prop_map(|bytes| [b"k8s\0".to_vec(), bytes].concat()),
        (message(), prop_oneof![Just(""), Just("Pod"), Just("Service"), Just("Event"), Just("PodList")])
            .prop_map(|(raw, kind)| enveloped("", kind, &raw)),
    ];
    runner
        .run(&bytes, |bytes| {
            decode_anything(&bytes);
            Ok(())
        })
        .unwrap();
}

#[test]
fn messages_within_messages_end() {
    // Schemas within schemas, by `not`.
    let mut schema = Vec::new();
    for _ in 0..2000 {
        let mut outer = Vec::new();
        put_bytes(&mut outer, 28, &schema);
        schema = outer;
    }
    let mut raw = schema;
    for number in [1_u32, 4, 7, 2] {
        let mut outer = Vec::new();
        put_bytes(&mut outer, number, &raw);
        raw = outer;
    }
    let error = decode(&enveloped("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw), "", "").unwrap_err();
    assert_eq!(error.to_string(), "proto: nested too deep");
}

#[test]
fn groups_within_groups_cost_nothing() {
    let raw = [vec![0x7b; 1 << 20], vec![0x7c; 1 << 20]].concat();
    assert!(decode(&enveloped("v1", "ConfigMap", &raw), "", "").is_ok());
    assert!(decode(&enveloped("v1", "ConfigMap", &vec![0x7b; 1 << 20]), "", "").is_err());
}

#[test]
fn a_small_body_is_no_large_object() {
    // A container of two bytes has a name, an image and resources in JSON.
    let mut spec = Vec::new();
    for _ in 0..1_000_000 {
        put_bytes(&mut spec, 2, b"");
    }
    let mut raw = Vec::new();
    put_bytes(&mut raw, 2, &spec);
    let error = decode(&enveloped("v1", "Pod", &raw), "", "").unwrap_err();
    assert_eq!(error.to_string(), "proto: too many values");
}
