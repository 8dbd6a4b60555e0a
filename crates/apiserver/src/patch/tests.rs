use serde_json::{Value, json};

use super::json_patch::JsonPatch;
use super::{Patch, PatchType};

/// What kube-apiserver answers to a JSON patch of `{"labels":{"y":"2"},"list":[1,2,3],"n":1}`: the object or a code.
#[test]
fn json_patches() {
    let cases = [
        (json!([]), Ok(json!({"labels": {"y": "2"}, "list": [1, 2, 3], "n": 1}))),
        (json!(null), Ok(json!({"labels": {"y": "2"}, "list": [1, 2, 3], "n": 1}))),
        (json!([{"op": "test", "path": "/labels/y", "value": "no"}, {"op": "remove", "path": "/n"}]), Err(422)),
        (json!([{"op": "remove", "path": "/n"}, {"op": "test", "path": "/labels/y", "value": "no"}]), Err(422)),
        (json!([{"op": "test", "path": "/n", "value": 1.0}]), Err(422)),
        (json!([{"op": "test", "path": "/nope", "value": 1}]), Err(422)),
        (json!([{"op": "add", "path": "invalid", "value": 1}]), Err(422)),
        (json!([{"op": "add", "value": 1}]), Err(422)),
        (json!([{"op": "bogus", "path": "/n"}]), Err(422)),
        (json!([{"path": "/n"}]), Err(422)),
        (json!([null]), Err(422)),
        (json!([{"op": "remove", "path": "/nope"}]), Err(422)),
        (json!([{"op": "remove", "path": ""}]), Err(422)),
        (json!([{"op": "replace", "path": "", "value": 5}]), Err(422)),
        (json!([{"op": "replace", "path": "/nope/x", "value": 5}]), Err(422)),
        (json!([{"op": "move", "from": "/nope", "path": "/x"}]), Err(422)),
        (json!([{"op": "add", "path": "/list/9", "value": 1}]), Err(422)),
        (json!([{"op": "replace", "path": "/list/7", "value": 1}]), Err(422)),
        (json!([{"op": "remove", "path": "/list/x"}]), Err(422)),
        (json!({"op": "x"}), Err(400)),
        (json!([1]), Err(400)),
        (json!([{"op": 5}]), Err(400)),
        (
            json!([{"op": "replace", "path": "/nope", "value": 1}]),
            Ok(json!({"labels": {"y": "2"}, "list": [1, 2, 3], "n": 1, "nope": 1})),
        ),
        (
            json!([{"op": "copy", "from": "/nope", "path": "/x"}, {"op": "test", "path": "/gone", "value": null}]),
            Ok(json!({"labels": {"y": "2"}, "list": [1, 2, 3], "n": 1, "x": null})),
        ),
        (
            json!([
                {"op": "add", "path": "/list/-", "value": 4},
                {"op": "add", "path": "/list/0", "value": 0},
                {"op": "remove", "path": "/list/-2"},
                {"op": "add", "path": "/labels/a~1b~0c", "value": "s"},
                {"op": "move", "from": "/n", "path": "/m"},
                {"op": "add", "path": "/void"},
            ]),
            Ok(json!({"labels": {"y": "2", "a/b~c": "s"}, "list": [0, 1, 2, 4], "m": 1, "void": null})),
        ),
    ];
    let document = json!({"labels": {"y": "2"}, "list": [1, 2, 3], "n": 1});
    for (patch, expected) in cases {
        let result = JsonPatch::from_json(patch.clone()).and_then(|patch| patch.patched(&document));
        assert_eq!(result.map_err(|error| error.code().as_u16()), expected, "{patch}");
    }
}

#[test]
fn too_many_operations_are_refused() {
    let operation = json!({"op": "test", "path": "/n", "value": 1});
    let error = JsonPatch::from_json(Value::Array(vec![operation; 10_001])).unwrap_err();
    assert_eq!(error.code().as_u16(), 413);
    assert!(error.message().ends_with("is 10000, got 10001"), "{error}");
}

#[test]
fn malformed_bodies_are_named() {
    let cases = [
        (PatchType::Json, "{notjson", "invalid JSON patch"),
        (
            PatchType::Json,
            r#"{"op":"x"}"#,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (PatchType::Merge, "{notjson", "invalid JSON patch"),
        (PatchType::Merge, "", "invalid JSON patch"),
        (PatchType::Merge, "null", "Invalid JSON Patch"),
        (
            PatchType::Merge,
            "[1]",
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            PatchType::Strategic,
            "\"str\"",
            "json: cannot unmarshal string into Go value of type map[string]interface {}",
        ),
        (
            PatchType::Apply,
            "5",
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go \
             value of type map[string]interface {}",
        ),
    ];
    for (patch_type, body, message) in cases {
        let error = Patch::decode(patch_type, body.as_bytes()).unwrap_err();
        assert_eq!((error.code().as_u16(), error.message()), (400, message), "{body}");
    }
    let error = Patch::decode(PatchType::Apply, b"a: [").unwrap_err();
    assert!(error.message().starts_with("error decoding patch: "), "{error}");
}

#[test]
fn configurations_are_yaml_or_json() {
    let cases = [
        ("{\"a\":1}", json!({"a": 1})),
        ("a: 1\nb: [x, \"5\", 5, true, null]\n", json!({"a": 1, "b": ["x", "5", 5, true, null]})),
        ("a: 1\n---\nb: 2\n", json!({"a": 1})),
        ("a: 1\na: 2\n", json!({"a": 2})),
        ("", json!({})),
    ];
    for (body, expected) in cases {
        let Ok(Patch::Apply(config)) = Patch::decode(PatchType::Apply, body.as_bytes()) else { panic!("{body}") };
        assert_eq!(config, expected, "{body}");
    }
}

/// Nobody could read a document back that is deeper than bodies may be, or walk one that is much deeper.
#[test]
fn json_patches_deepen_a_document_only_so_far() {
    let nest = [
        json!({"op": "add", "path": "/y", "value": {}}),
        json!({"op": "move", "from": "/x", "path": "/y/x"}),
        json!({"op": "move", "from": "/y", "path": "/x"}),
    ];
    let double = [
        json!({"op": "copy", "from": "/x", "path": "/y"}),
        json!({"op": "add", "path": "/x/x/x", "value": {}}),
        json!({"op": "move", "from": "/y", "path": "/x/x/x/x"}),
    ];
    let swap =
        [json!({"op": "move", "from": "/x", "path": "/y/z"}), json!({"op": "move", "from": "/y/z", "path": "/x"})];
    let document = json!({"x": {"x": {"x": {}}}, "y": {}});
    for (operations, times, fits) in
        [(&nest[..], 120, true), (&nest, 3_000, false), (&double, 3_000, false), (&swap, 3_000, true)]
    {
        let operations: Vec<Value> = operations.iter().cycle().take(operations.len() * times).cloned().collect();
        let patched = JsonPatch::from_json(json!(operations)).unwrap().patched(&document);
        assert_eq!(patched.map(|_| ()).map_err(|error| error.code().as_u16()), if fits { Ok(()) } else { Err(422) });
    }
}
