//! The invariants of a structural schema.

use serde_json::{Value, json};

use super::props::{Additional, Props};
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::pattern::Pattern;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The first keyword that no structural schema can have, as an error message.
pub(super) fn unsupported(props: Props<'_>) -> Option<String> {
    for key in ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"] {
        if props.says(key) {
            let name = if key == "$schema" { "schema" } else { key };
            return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
        }
    }
    if props.get("items").is_some_and(|items| items.as_array().is_some_and(|items| !items.is_empty())) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    if props.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    let children = props.properties().map(|(_, child)| child);
    let single = ["items", "not"].into_iter().filter_map(|key| props.schema(key));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|key| props.schemas(key).map(|(_, child)| child));
    let additional = match props.additional() {
        Some(Additional::Schema(child)) => Some(child),
        _ => None,
    };
    children.chain(single).chain(lists).chain(additional).find_map(|child| unsupported(child))
}

pub(super) fn check(props: Props<'_>, root: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(props, Level::Root, root, &mut errors);
    errors
}

fn invariants(props: Props<'_>, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    match props.schema("items") {
        Some(items) => invariants(items, Level::Item, &path.child("items"), errors),
        None if props.kind() == "array" => {
            errors.push(FieldError::required(&path.child("items"), "must be specified"));
        }
        None => {}
    }
    for (name, child) in props.properties() {
        invariants(child, Level::Field, &path.child("properties").key(name), errors);
    }
    let additional = props.additional();
    if additional.is_some() && level == Level::Root {
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), "must not be used at the root"));
    }
    if let Some(Additional::Schema(child)) = additional {
        invariants(child, Level::Field, &path.child("additionalProperties"), errors);
    }
    extensions(props, path, errors);
    let skip = Skip { any_of: is_int_or_string(props), first_all_of: first_all_of_is_int_or_string(props) };
    value_validation(props, skip, level, path, errors);
    types(props, level, path, errors);
    if props.flag("x-kubernetes-embedded-resource") && additional.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), detail));
    }
    resource_fields(props, level, path, errors);
}

fn extensions(props: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if props.flag("x-kubernetes-int-or-string") {
        for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if props.flag(key) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                errors.push(FieldError::invalid(&path.child(key), true, detail));
            }
        }
    }
}

fn types(props: Props<'_>, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = props.kind();
    let at = path.child("type");
    if props.flag("x-kubernetes-embedded-resource") && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() {
            FieldError::required(&at, detail)
        } else {
            FieldError::invalid(&at, kind, detail)
        });
    } else if kind.is_empty()
        && !props.flag("x-kubernetes-int-or-string")
        && !props.flag("x-kubernetes-preserve-unknown-fields")
    {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(&at, detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(&at, kind, "must be object at the root"));
    }
}

/// What the schema of a whole object may say of apiVersion, kind and metadata.
fn resource_fields(props: Props<'_>, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let is_embedded = props.flag("x-kubernetes-embedded-resource");
    let is_resource = level == Level::Root || is_embedded;
    let at = |name: &str| path.child("properties").key(name);
    for name in ["kind", "apiVersion"] {
        if let Some(field) = props.property(name).filter(|field| is_resource && field.kind() != "string") {
            errors.push(FieldError::invalid(&at(name).child("type"), field.kind(), "must be string"));
        }
    }
    if let Some(metadata) = props.property("metadata") {
        if is_resource && metadata.kind() != "object" {
            errors.push(FieldError::invalid(&at("metadata").child("type"), metadata.kind(), "must be object"));
        }
        if level == Level::Root && restricts_more_than_names(metadata) {
            let detail =
                "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.push(FieldError::forbidden(&at("metadata"), detail));
        }
    }
    if is_embedded && !props.flag("x-kubernetes-preserve-unknown-fields") && !props.has_properties() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&path.child("properties"), detail));
    }
}

fn restricts_more_than_names(metadata: Props<'_>) -> bool {
    let other_keyword = metadata.given().any(|key| !matches!(key, "type" | "default" | "properties"));
    other_keyword || metadata.properties().any(|(name, _)| !matches!(name, "name" | "generateName"))
}

/// Where the types of an int-or-string value may stand in anyOf.
#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    first_all_of: bool,
}

fn is_int_or_string(props: Props<'_>) -> bool {
    props.get("anyOf") == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

fn first_all_of_is_int_or_string(props: Props<'_>) -> bool {
    props.schemas("allOf").next().is_some_and(|(_, first)| is_int_or_string(first))
}

fn value_validation(props: Props<'_>, skip: Skip, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if !skip.any_of {
        for (index, child) in props.schemas("anyOf") {
            nested(child, Skip::default(), level, &path.child("anyOf").index(index), errors);
        }
    }
    for (index, child) in props.schemas("allOf") {
        let skip = Skip { any_of: skip.first_all_of && index == 0, first_all_of: false };
        nested(child, skip, level, &path.child("allOf").index(index), errors);
    }
    for (index, child) in props.schemas("oneOf") {
        nested(child, Skip::default(), level, &path.child("oneOf").index(index), errors);
    }
    if let Some(child) = props.schema("not") {
        nested(child, Skip::default(), level, &path.child("not"), errors);
    }
    let pattern = props.text("pattern");
    if !pattern.is_empty()
        && let Err(error) = Pattern::new(pattern).is_match("")
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(&path.child("pattern"), pattern, detail));
    }
}

/// A schema under allOf, anyOf, oneOf or not, which may restrict values but not say what they are.
fn nested(props: Props<'_>, skip: Skip, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    value_validation(props, skip, level, path, errors);
    if let Some(items) = props.schema("items") {
        nested(items, Skip::default(), level, &path.child("items"), errors);
    }
    for (name, child) in props.properties() {
        nested(child, Skip::default(), Level::Field, &path.child("properties").key(name), errors);
    }
    let mut forbid = |key: &str, given: bool, what: &str| {
        if given {
            errors.push(FieldError::forbidden(&path.child(key), format!("must be {what} to be structural")));
        }
    };
    for key in ["type", "title", "description"] {
        forbid(key, !props.text(key).is_empty(), "empty");
    }
    let additional = !matches!(props.additional(), None | Some(Additional::Any(false)));
    forbid("additionalProperties", additional, "undefined");
    forbid("default", props.get("default").is_some(), "undefined");
    forbid("nullable", props.flag("nullable"), "false");
    for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"]
    {
        forbid(key, props.flag(key), "false");
    }
    for key in ["x-kubernetes-list-map-keys", "x-kubernetes-validations"] {
        forbid(key, !props.list(key).is_empty(), "empty");
    }
    for key in ["x-kubernetes-list-type", "x-kubernetes-map-type"] {
        forbid(key, props.get(key).is_some(), "undefined");
    }
    if props.property("metadata").is_some() {
        let at = path.child("properties").key("metadata");
        errors.push(FieldError::forbidden(&at, "must not be specified in a nested context"));
    }
}
