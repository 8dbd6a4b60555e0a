//! Typed to unstructured and back, strictly and leniently.

use std::collections::BTreeMap;

use controller_runtime_scheme::{
    ConversionError, Kind, ObjectKey, Scheme, SchemeError, Strictness, TypedObject, Unstructured, decode,
    from_unstructured,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "ref.dev", version = "v1", kind = "Gadget", namespaced)]
#[kube(crates(kube_core = "::kube_core"))]
struct GadgetSpec {
    size: i32,
    name: String,
    on: bool,
    ratio: f64,
    tags: Vec<String>,
    limits: BTreeMap<String, u8>,
    pair: (u8, String),
    inner: Inner,
    maybe: Option<Inner>,
    #[serde(default = "seven")]
    seven: u8,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
struct Inner {
    depth: u32,
    deeper: Deeper,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
struct Deeper {
    text: String,
}

fn seven() -> u8 {
    7
}

/// What has no zero value.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "ref.dev", version = "v1", kind = "Picky", namespaced)]
#[kube(crates(kube_core = "::kube_core"))]
struct PickySpec {
    mode: Mode,
    #[schemars(with = "String")]
    since: Time,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
enum Mode {
    Slow,
    Fast(u8),
}

fn object(api_version: &str, kind: &str, fields: &Value) -> Unstructured {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "ns", "name": "a"}});
    for (name, value) in fields.as_object().expect("fields") {
        object[name] = value.clone();
    }
    serde_json::from_value(object).expect("an object")
}

fn of_kind<K: TypedObject>(fields: &Value) -> Unstructured {
    let types = Kind::<K>::typed().type_meta();
    object(&types.api_version, &types.kind, fields)
}

fn conversion_error(error: SchemeError) -> ConversionError {
    match error {
        SchemeError::Conversion(error) => error,
        other => panic!("{other}"),
    }
}

/// What a conversion to `K` says of the fields: the path, what was expected and what was found, or that it goes.
#[track_caller]
fn check<K: TypedObject>(scheme: &Scheme, fields: &Value, strictness: Strictness, expected: Option<[&str; 3]>) {
    let result = scheme.to_typed::<K>(&of_kind::<K>(fields), strictness).map(drop).map_err(conversion_error);
    let error = result.as_ref().err();
    let told = error.map(|error| [Some(error.path()), error.expected(), error.found()].map(Option::unwrap_or_default));
    assert_eq!(told, expected, "{fields} {strictness:?}: {result:?}");
    if let Some(error) = error {
        assert_eq!((error.kind(), error.key()), (Kind::<K>::typed().name(), &ObjectKey::namespaced("ns", "a")));
    }
}

fn gadget() -> Value {
    json!({
        "size": 1, "name": "n", "on": true, "ratio": 0.5, "tags": ["a"], "limits": {"x": 1}, "pair": [1, "p"],
        "inner": {"depth": 3, "deeper": {"text": "t"}},
    })
}

fn gadget_with(pointer: &str, value: Value) -> Value {
    let mut spec = gadget();
    *spec.pointer_mut(pointer).expect("it is there") = value;
    json!({"spec": spec})
}

fn gadget_without(field: &str) -> Value {
    let mut spec = gadget();
    spec.as_object_mut().expect("an object").remove(field).expect("it was there");
    json!({"spec": spec})
}

#[test]
fn wrong_types_are_refused_strictly_and_leniently() {
    let scheme = Scheme::new();
    let table = [
        ("/size", json!("1"), ["spec.size", "i32", "string \"1\""]),
        ("/size", json!(1.5), ["spec.size", "i32", "floating point `1.5`"]),
        ("/size", json!(3_000_000_000_u32), ["spec.size", "i32", "integer `3000000000`"]),
        ("/size", json!(null), ["spec.size", "i32", "null"]),
        ("/name", json!(1), ["spec.name", "a string", "integer `1`"]),
        ("/on", json!("true"), ["spec.on", "a boolean", "string \"true\""]),
        ("/tags", json!({}), ["spec.tags", "a sequence", "map"]),
        ("/tags/0", json!(1), ["spec.tags[0]", "a string", "integer `1`"]),
        ("/limits", json!([]), ["spec.limits", "a map", "sequence"]),
        ("/limits/x", json!(-1), ["spec.limits.x", "u8", "integer `-1`"]),
        ("/pair/1", json!(2), ["spec.pair[1]", "a string", "integer `2`"]),
        ("/inner/depth", json!([]), ["spec.inner.depth", "u32", "sequence"]),
        ("/inner/deeper/text", json!(null), ["spec.inner.deeper.text", "a string", "null"]),
    ];
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        check::<Gadget>(&scheme, &json!({"spec": gadget()}), strictness, None);
        for (pointer, value, expected) in &table {
            check::<Gadget>(&scheme, &gadget_with(pointer, value.clone()), strictness, Some(*expected));
        }
        let containers =
            json!({"spec": {"containers": [{"name": "a"}, {"name": "b", "ports": [{"containerPort": "x"}]}]}});
        let expected = ["spec.containers[1].ports[0].containerPort", "i32", "string \"x\""];
        check::<Pod>(&scheme, &containers, strictness, Some(expected));
    }
}

#[test]
fn missing_fields_get_zero_values_leniently_and_are_refused_strictly() {
    let scheme = Scheme::new();
    for field in ["size", "name", "on", "ratio", "tags", "limits", "pair", "inner"] {
        let fields = gadget_without(field);
        check::<Gadget>(&scheme, &fields, Strictness::Lenient, None);
        check::<Gadget>(&scheme, &fields, Strictness::Strict, Some([&format!("spec.{field}"), "a value", "none"]));
    }
    let object = of_kind::<Gadget>(&json!({"spec": {"maybe": {"depth": 1}}}));
    let gadget: Gadget = scheme.to_typed(&object, Strictness::Lenient).expect("it converts");
    let expected = GadgetSpec {
        size: 0,
        name: String::new(),
        on: false,
        ratio: 0.0,
        tags: Vec::new(),
        limits: BTreeMap::new(),
        pair: (0, String::new()),
        inner: Inner::default(),
        maybe: Some(Inner { depth: 1, deeper: Deeper::default() }),
        seven: 7,
    };
    assert_eq!(gadget.spec, expected, "a default that the type states is not zero");
    let spec =
        scheme.to_typed::<Gadget>(&of_kind::<Gadget>(&json!({})), Strictness::Lenient).expect("it converts").spec;
    assert_eq!(spec, GadgetSpec { maybe: None, ..expected });
}

#[test]
fn what_has_no_zero_value_stays_missing() {
    let scheme = Scheme::new();
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let since = "2026-01-01T00:00:00Z";
        let check = |spec: Value, expected| check::<Picky>(&scheme, &json!({"spec": spec}), strictness, expected);
        check(json!({"mode": "Slow", "since": since}), None);
        check(json!({"mode": {"Fast": 3}, "since": since}), None);
        check(json!({"since": since}), Some(["spec.mode", "a value", "none"]));
        check(json!({"mode": "Slow"}), Some(["spec.since", "a value", "none"]));
        check(json!({"mode": "Idle", "since": since}), Some(["spec.mode", "\"Slow\" or \"Fast\"", "string \"Idle\""]));
        check(json!({"mode": {"Fast": "3"}, "since": since}), Some(["spec.mode.Fast", "u8", "string \"3\""]));
    }
}

#[test]
fn unknown_fields_are_dropped_leniently_and_refused_strictly() {
    let scheme = Scheme::new();
    let check = |fields: Value, expected: [&str; 3]| {
        check::<Deployment>(&scheme, &fields, Strictness::Lenient, None);
        check::<Deployment>(&scheme, &fields, Strictness::Strict, Some(expected));
    };
    check(json!({"sepc": {}}), ["sepc", "no field of this name", "an object"]);
    check(json!({"spec": {"replica": 3}}), ["spec.replica", "no field of this name", "number 3"]);
    check(
        json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "imagee": "x"}]}}}}),
        ["spec.template.spec.containers[0].imagee", "no field of this name", "string \"x\""],
    );
}

#[test]
fn required_fields_come_from_the_list_that_was_registered() {
    let mut scheme = Scheme::new();
    let fields = json!({"spec": {"template": {"spec": {"containers": [{"name": "a"}, {"image": "x"}]}}}});
    check::<Deployment>(&scheme, &fields, Strictness::Strict, None);
    scheme.register::<Deployment>().expect("it is free");
    let required = ["spec", "spec.template", "spec.template.spec.containers[].name"];
    scheme.require::<Deployment>(required).expect("they are paths");
    let missing = |path| Some([path, "a value", "none"]);
    let check = |fields: Value, expected| check::<Deployment>(&scheme, &fields, Strictness::Strict, expected);
    check(fields.clone(), missing("spec.template.spec.containers[1].name"));
    check(json!({}), missing("spec"));
    check(json!({"spec": {"template": null}}), missing("spec.template"));
    check(json!({"spec": {"template": {}}}), None);
    assert!(scheme.to_typed::<Deployment>(&of_kind::<Deployment>(&fields), Strictness::Lenient).is_ok());
}

#[test]
fn another_kind_or_version_is_refused() {
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let check = |api_version: &str, kind: &str, expected: &str| {
            let object = object(api_version, kind, &json!({}));
            let error = from_unstructured(&Kind::<Deployment>::typed(), &object, strictness).unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert!(error.is_wrong_kind());
        };
        check("apps/v1", "Pod", "cannot decode Deployment ns/a at kind: expected \"Deployment\", found string \"Pod\"");
        check(
            "apps/v1beta1",
            "Deployment",
            "cannot decode Deployment ns/a at apiVersion: expected \"apps/v1\", found string \"apps/v1beta1\"",
        );
    }
    let mut bare = of_kind::<ConfigMap>(&json!({}));
    bare.types = None;
    let kind = Kind::<ConfigMap>::typed();
    assert!(from_unstructured(&kind, &bare, Strictness::Lenient).is_ok());
    let error = from_unstructured(&kind, &bare, Strictness::Strict).unwrap_err();
    assert_eq!(error.to_string(), "cannot decode ConfigMap ns/a at kind: expected a value, found none");
}

#[test]
fn what_the_type_itself_refuses_is_told_in_its_words() {
    let object = of_kind::<Secret>(&json!({"data": {"password": "not base64!"}}));
    let error = from_unstructured(&Kind::<Secret>::typed(), &object, Strictness::Lenient).unwrap_err();
    assert_eq!((error.path(), error.found()), ("data.password", Some("string \"not base64!\"")));
    assert!(error.expected().is_some_and(|reason| !reason.is_empty()), "{error}");
}

#[test]
fn typed_and_unstructured_are_the_same_object() {
    let scheme = Scheme::new();
    let object = of_kind::<Gadget>(&json!({"spec": gadget()}));
    let gadget: Gadget = scheme.to_typed(&object, Strictness::Strict).expect("it converts");
    let back = scheme.to_unstructured(&gadget).expect("it converts");
    let again: Gadget = scheme.to_typed(&back, Strictness::Strict).expect("it converts");
    assert_eq!(again.spec, gadget.spec);
    assert_eq!((back.types, back.metadata), (object.types, object.metadata));
}

#[test]
fn a_text_that_does_not_fit_names_the_object_and_the_path() {
    let text = |replicas: &str| {
        let metadata = r#""metadata":{"namespace":"ns","name":"web"}"#;
        format!(r#"{{"apiVersion":"apps/v1","kind":"Deployment",{metadata},"spec":{{"replicas":{replicas}}}}}"#)
    };
    let error = decode::<Deployment>("Deployment", text("\"three\"").as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot decode Deployment ns/web at spec.replicas: expected i32, found string \"three\""
    );
    let error = decode::<Deployment>("Deployment", text("3,,").as_bytes()).unwrap_err();
    assert_eq!((error.path(), error.expected(), error.found()), ("", None, None));
    assert!(error.to_string().starts_with("cannot decode Deployment: key must be a string"), "{error}");
}

/// A type that contains itself has no zero value at all; a conversion ends all the same.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "ref.dev", version = "v1", kind = "Endless", namespaced)]
#[kube(crates(kube_core = "::kube_core"))]
struct EndlessSpec {
    next: Box<EndlessSpec>,
}

#[test]
fn a_type_that_contains_itself_is_refused() {
    let object = of_kind::<Endless>(&json!({}));
    let result = from_unstructured(&Kind::<Endless>::typed(), &object, Strictness::Lenient);
    assert!(result.unwrap_err().path().starts_with("spec.next.next.next."));
}
