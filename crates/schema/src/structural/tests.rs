use serde_json::{Value, json};

use super::{EarlierRules, check_structural};
use crate::field_path::FieldPath;

fn check(schema: &Value, has_status: bool, expected: &[&str]) {
    let errors = check_structural(schema, &FieldPath::new("s"), has_status, EarlierRules::Changed);
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "errors of {schema}");
}

/// Checks the schema of a field; what is expected starts at the field.
fn field(schema: &Value, expected: &[&str]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|text| if text.starts_with("s:") { (*text).to_owned() } else { format!("s.properties[f]{text}") })
        .collect();
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    check(&json!({"type": "object", "properties": {"f": schema}}), false, &expected);
}

#[test]
fn structural_schemas_pass() {
    check(
        &json!({"type": "object", "description": "d", "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}}},
            "spec": {"type": "object", "required": ["a"], "properties": {
                "a": {"type": "integer", "default": 1, "minimum": 0},
                "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "raw": {"x-kubernetes-preserve-unknown-fields": true},
                "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}},
            }, "oneOf": [{"required": ["a"]}, {"properties": {"a": {"maximum": 3}}}]},
        }}),
        true,
        &[],
    );
}

#[test]
fn the_top_is_an_object() {
    check(&json!({}), false, &["s.type: Required value: must not be empty at the root"]);
    check(&json!({"type": "string"}), false, &[r#"s.type: Invalid value: "string": must be object at the root"#]);
    check(
        &json!({"type": "object", "nullable": true}),
        false,
        &["s.nullable: Forbidden: nullable cannot be true at the root"],
    );
    check(
        &json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
        false,
        &[
            "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified",
        ],
    );
}

#[test]
fn types_and_nested_schemas() {
    field(&json!({}), &[".type: Required value: must not be empty for specified object fields"]);
    field(
        &json!({"type": "array", "items": {}}),
        &[".items.type: Required value: must not be empty for specified array items"],
    );
    field(
        &json!({"type": "null"}),
        &[
            r#".type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string""#,
            ".type: Forbidden: type cannot be set to null, use nullable as an alternative",
        ],
    );
    field(
        &json!({"type": "array", "items": [{"type": "string"}]}),
        &[".items: Forbidden: items must be a schema object and not an array"],
    );
    field(
        &json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        &[".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
    );
    field(
        &json!({"type": "integer", "anyOf": [{"type": "integer", "minimum": 1}]}),
        &[".anyOf[0].type: Forbidden: must be empty to be structural"],
    );
    field(
        &json!({"type": "string", "x-kubernetes-embedded-resource": true}),
        &[
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            r#".type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true"#,
        ],
    );
    field(
        &json!({"x-kubernetes-embedded-resource": true}),
        &[
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            ".type: Required value: must be object if x-kubernetes-embedded-resource is true",
        ],
    );
    field(
        &json!({"type": "object", "x-kubernetes-embedded-resource": true}),
        &[
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ],
    );
    field(
        &json!({"x-kubernetes-list-type": "set"}),
        &[
            ".type: Required value: must not be empty for specified object fields",
            ".type: Required value: must be array if x-kubernetes-list-type is specified",
        ],
    );
    field(
        &json!({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "string"}}),
        &[
            ".x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
            r#".items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map"#,
        ],
    );
    field(
        &json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}}),
        &[".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"],
    );
    field(&json!({"$ref": "#/x", "type": "object"}), &[".$ref: Forbidden: $ref is not supported"]);
    field(&json!({"type": "object", "id": "x"}), &[".id: Forbidden: id is not supported"]);
    field(
        &json!({"type": "object", "$schema": "x"}),
        &[r#"s: Invalid value: "": OpenAPIV3Schema 'schema' is not supported"#],
    );
    field(
        &json!({"type": "object", "definitions": {"a": {"type": "string"}}}),
        &[".definitions: Forbidden: definitions is not supported"],
    );
    field(
        &json!({"type": "object", "dependencies": {"a": ["b"]}}),
        &[".dependencies: Forbidden: dependencies is not supported"],
    );
    field(
        &json!({"type": "object", "properties": {"metadata": {"type": "object"}}, "allOf": [{"properties": {"metadata": {"minProperties": 1}}}]}),
        &[".allOf[0].properties[metadata]: Forbidden: must not be specified in a nested context"],
    );
}

#[test]
fn patterns_and_defaults() {
    field(
        &json!({"type": "string", "pattern": "(?=a)"}),
        &[
            r#".pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: `(?=`"#,
        ],
    );
    field(
        &json!({"type": "object", "not": {"description": "d", "default": 1, "nullable": true, "additionalProperties": {"minimum": 1}, "x-kubernetes-preserve-unknown-fields": true}}),
        &[
            ".not.additionalProperties: Forbidden: must be undefined to be structural",
            ".not.default: Forbidden: must be undefined to be structural",
            ".not.description: Forbidden: must be empty to be structural",
            ".not.nullable: Forbidden: must be false to be structural",
            ".not.x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural",
        ],
    );
    field(
        &json!({"type": "object", "default": {"a": 1}}),
        &[r#".default: Invalid value: {"a":1}: must not have unknown fields"#],
    );
    field(
        &json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b", "b"], "items": {"type": "object", "nullable": true, "properties": {"a": {"type": "object"}, "b": {"type": "string", "nullable": true}}}}),
        &[
            r#".items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map"#,
            r#".x-kubernetes-list-map-keys: Invalid value: ["a","b","b"]: must not contain duplicate entries"#,
            ".items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map",
            ".items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ".items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ".items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
            ".items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ".items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
        ],
    );
    field(
        &json!({"type": "object", "patternProperties": {"a": {"type": "string"}}}),
        &[".patternProperties: Forbidden: patternProperties is not supported"],
    );
}

#[test]
fn lists_and_maps() {
    field(
        &json!({"type": "object", "x-kubernetes-map-type": "foo"}),
        &[r#".x-kubernetes-map-type: Unsupported value: "foo": supported values: "atomic", "granular""#],
    );
    field(
        &json!({"type": "string", "x-kubernetes-map-type": "atomic"}),
        &[r#".type: Invalid value: "string": must be object if x-kubernetes-map-type is specified"#],
    );
    field(
        &json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "foo"}),
        &[r#".x-kubernetes-list-type: Unsupported value: "foo": supported values: "atomic", "set", "map""#],
    );
    field(
        &json!({"type": "string", "x-kubernetes-list-type": "set"}),
        &[r#".type: Invalid value: "string": must be array if x-kubernetes-list-type is specified"#],
    );
    field(
        &json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}),
        &[
            ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
        ],
    );
    field(
        &json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}),
        &[
            r#".items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set"#,
        ],
    );
    field(
        &json!({"type": "array", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object"}}),
        &[".x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty"],
    );
    field(
        &json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}),
        &[
            ".items: Required value: must be specified",
            ".items: Required value: must have a schema if x-kubernetes-list-type is map",
        ],
    );
}

#[test]
fn embedded_and_mixed() {
    field(
        &json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}),
        &[
            ".x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true",
        ],
    );
    field(
        &json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
        &[".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"],
    );
}

#[test]
fn unsupported_keywords() {
    field(&json!({"type": "array"}), &[".items: Required value: must be specified"]);
    field(
        &json!({"type": "foo"}),
        &[
            r#".type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string""#,
        ],
    );
    field(
        &json!({"type": "string", "pattern": "[a"}),
        &[
            r#".pattern: Invalid value: "[a": must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: `[a`"#,
        ],
    );
    field(
        &json!({"type": "string", "default": 1}),
        &[r#".default: Invalid value: "integer":  in body must be of type string: "integer""#],
    );
    field(
        &json!({"type": "object", "default": {"a": "x"}, "properties": {"a": {"type": "integer"}}}),
        &[r#".default.a: Invalid value: "string": a in body must be of type integer: "string""#],
    );
}
