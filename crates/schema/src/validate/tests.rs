use serde_json::{Value, json};

use super::{validate, validate_update};
use crate::field_path::FieldPath;
use crate::schema::Schema;

fn check(schema: &Value, value: &Value, expected: &[&str]) {
    let schema = Schema::from_json(&json!({"type": "object", "properties": {"f": schema}})).unwrap();
    let value = json!({"f": value});
    let errors: Vec<_> = validate(&value, &schema, &FieldPath::root()).iter().map(ToString::to_string).collect();
    assert_eq!(errors, expected, "errors of {value}");
}

#[test]
fn types() {
    for (schema, good, bad, expected) in [
        (json!({"type": "string"}), json!("a"), json!(1), "string: \"integer\""),
        (json!({"type": "integer"}), json!(1), json!("1"), "integer: \"string\""),
        (json!({"type": "number"}), json!(1), json!(true), "number: \"boolean\""),
        (json!({"type": "boolean"}), json!(false), json!([]), "boolean: \"array\""),
        (json!({"type": "array"}), json!([1]), json!({}), "array: \"object\""),
        (json!({"type": "object"}), json!({"a": 1}), json!(null), "object: \"null\""),
        (json!({"x-kubernetes-int-or-string": true}), json!("1"), json!(true), "integer,string: \"boolean\""),
        (json!({"type": "string", "nullable": true}), json!(null), json!(1.5), "string: \"number\""),
    ] {
        check(&schema, &good, &[]);
        let found = expected.rsplit(": ").next().unwrap();
        check(&schema, &bad, &[&format!("f: Invalid value: {found}: f in body must be of type {expected}")]);
    }
    check(&json!({"type": "integer"}), &json!(2.0), &[]);
    check(
        &json!({"type": "integer"}),
        &json!(1.5),
        &[
            "f: Invalid value: \"number\": f in body must be of type integer: \"number\"",
            "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in f",
        ],
    );
}

#[test]
fn numbers() {
    let range = json!({"type": "integer", "minimum": 1, "maximum": 5});
    check(&range, &json!(0), &["f: Invalid value: 0: f in body should be greater than or equal to 1"]);
    check(&range, &json!(6), &["f: Invalid value: 6: f in body should be less than or equal to 5"]);
    let open =
        json!({"type": "number", "minimum": 0.5, "exclusiveMinimum": true, "maximum": 1.5, "exclusiveMaximum": true});
    check(&open, &json!(1.0), &[]);
    // Bounds of whole numbers are truncated.
    check(&open, &json!(1), &["f: Invalid value: 1: f in body should be less than 1"]);
    check(&open, &json!(0.5), &["f: Invalid value: 0.5: f in body should be greater than 0.5"]);
    check(&open, &json!(1.5), &["f: Invalid value: 1.5: f in body should be less than 1.5"]);
    let multiple = json!({"type": "integer", "multipleOf": 3});
    check(&multiple, &json!(9), &[]);
    check(&multiple, &json!(10), &["f: Invalid value: 10: f in body should be a multiple of 3"]);
    let message = "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in f";
    check(&json!({"type": "integer", "format": "int32"}), &json!(2_147_483_648_u32), &[message]);
    check(&json!({"type": "integer", "format": "int64"}), &json!(2_147_483_648_u32), &[]);
}

#[test]
fn strings() {
    let length = json!({"type": "string", "minLength": 2, "maxLength": 3});
    check(&length, &json!("éé"), &[]);
    check(&length, &json!("é"), &["f: Invalid value: \"é\": f in body should be at least 2 chars long"]);
    check(&length, &json!("aaaa"), &["f: Too long: may not be more than 3 bytes"]);
    let pattern = json!({"type": "string", "pattern": r"^\d+$"});
    check(&pattern, &json!("12"), &[]);
    check(&pattern, &json!("a"), &[r#"f: Invalid value: "a": f in body should match '^\d+$'"#]);
    let format = json!({"type": "string", "format": "date-time"});
    check(&format, &json!("soon"), &[r#"f: Invalid value: "soon": f in body must be of type date-time: "soon""#]);
    check(&json!({"type": "string", "format": "no-such"}), &json!("x"), &[]);
    let values = json!({"type": "string", "enum": ["a", "b"]});
    check(&values, &json!("b"), &[]);
    check(&values, &json!("c"), &[r#"f: Unsupported value: "c": supported values: "a", "b""#]);
    let nullable = json!({"type": "string", "nullable": true, "enum": ["a"]});
    check(&nullable, &json!(null), &[r#"f: Unsupported value: null: supported values: "a""#]);
    check(
        &json!({"type": "integer", "enum": [1, 2]}),
        &json!(3),
        &[r#"f: Unsupported value: 3: supported values: "1", "2""#],
    );
}

#[test]
fn containers() {
    let list = json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}});
    check(&list, &json!([]), &["f: Invalid value: 0: f in body should have at least 1 items"]);
    check(&list, &json!([1, 2, 3]), &["f: Too many: 3: must have at most 2 items"]);
    check(&list, &json!(["a"]), &[r#"f[0]: Invalid value: "string": f[0] in body must be of type integer: "string""#]);
    let unique = json!({"type": "array", "uniqueItems": true});
    check(&unique, &json!([1, 1]), &[r#"f: Invalid value: "": f in body shouldn't contain duplicates"#]);
    let object = json!({"type": "object", "required": ["b", "a"], "properties": {"a": {"type": "string"}}});
    check(&object, &json!({}), &["f.b: Required value", "f.a: Required value"]);
    let map =
        json!({"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": "string"}});
    check(&map, &json!({}), &["f: Invalid value: 0: f in body should have at least 1 properties"]);
    check(&map, &json!({"a": "", "b": ""}), &["f: Too many: 2: must have at most 1 item"]);
    check(&map, &json!({"a": 1}), &[r#"f.a: Invalid value: "integer": f.a in body must be of type string: "integer""#]);
}

#[test]
fn combinations() {
    let any = json!({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]});
    check(&any, &json!(0), &[]);
    check(
        &any,
        &json!(3),
        &[
            r#"<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)"#,
            "f: Invalid value: 3: f in body should be greater than or equal to 5",
        ],
    );
    let one = json!({"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(&one, &json!({"a": 1}), &[]);
    check(
        &one,
        &json!({"a": 1, "b": 1}),
        &[r#"<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives"#],
    );
    check(
        &one,
        &json!({}),
        &[
            r#"<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid"#,
            "f.a: Required value",
        ],
    );
    let all = json!({"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 3}]});
    check(
        &all,
        &json!(1),
        &[
            "f: Invalid value: 1: f in body should be greater than or equal to 2",
            r#"<nil>: Invalid value: "": "f" must validate all the schemas (allOf)"#,
        ],
    );
    let not = json!({"type": "integer", "not": {"minimum": 2}});
    check(&not, &json!(1), &[]);
    check(&not, &json!(2), &[r#"<nil>: Invalid value: "": "f" must not validate the schema (not)"#]);
}

#[test]
fn unchanged_values_are_forgiven_on_update() {
    let schema = Schema::from_json(&json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 1},
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer", "maximum": 1}}}},
        "plain": {"type": "array", "items": {"type": "integer", "maximum": 1}},
    }}))
    .unwrap();
    let old = json!({"a": "long", "list": [{"k": "x", "v": 5}], "plain": [5]});
    for (new, expected) in [
        (json!({"a": "long", "other": 1}), vec![]),
        (json!({"a": "longer"}), vec!["a"]),
        (json!({"list": [{"k": "y", "v": 5}, {"k": "x", "v": 5}]}), vec!["list[0].v"]),
        (json!({"plain": [5, 1]}), vec!["plain[0]"]),
    ] {
        let errors = validate_update(&new, &old, &schema, &FieldPath::root());
        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), expected, "{new}");
    }
}
