//! What each keyword of a schema must satisfy, alone and next to others.

use serde_json::Value;

use super::props::{Additional, Props};
use crate::cel::rule::{RuleCheck, RuleScope, resolve_field_path};
use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::schema::Schema;

/// What the place of a schema forbids.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    is_root: bool,
    /// Why defaults are forbidden; `None` where they aren't.
    no_defaults: Option<&'a str>,
    in_metadata: bool,
    /// The nearest schema around it whose values can't be told what they were before a change.
    uncorrelatable: Option<&'a FieldPath>,
    /// `None` where rules aren't compiled.
    rules: Option<&'a RuleScope<'a>>,
}

/// What is found on the way.
struct Findings<'a> {
    errors: &'a mut Vec<FieldError>,
    rules: &'a mut RuleCheck,
}

/// Checks a schema and the schemas below it. Rules are compiled if there is a `scope`.
pub(super) fn check(
    props: Props<'_>,
    root: &FieldPath,
    scope: Option<&RuleScope<'_>>,
    rules: &mut RuleCheck,
    errors: &mut Vec<FieldError>,
) {
    let place = Place { is_root: true, rules: scope, ..Place::default() };
    visit(props, root, place, &mut Findings { errors, rules });
}

fn visit(props: Props<'_>, path: &FieldPath, place: Place<'_>, found: &mut Findings<'_>) {
    let before = found.errors.len();
    alone(props, path, place, found.errors);
    if props.flag("uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        found.errors.push(FieldError::forbidden(&path.child("uniqueItems"), detail));
    }
    children(props, path, place, found);
    let errors = &mut *found.errors;
    if props.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let at = path.child("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(&at, false, "must be true or undefined"));
    }
    map_type(props, path, errors);
    list_type(props, path, errors);
    list_map(props, path, errors);
    keys_are_given(props, path, errors);
    rules(props, path, errors);
    // Rules of a schema that is wrong itself would give errors that help nobody.
    if let Some(scope) = place.rules.filter(|_| found.errors.len() == before) {
        found.rules.place(scope, path, place.uncorrelatable);
    }
}

fn alone(props: Props<'_>, path: &FieldPath, place: Place<'_>, errors: &mut Vec<FieldError>) {
    const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
    let kind = props.kind();
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(&path.child("type"), kind, &TYPES));
    }
    if props.get("default").is_some()
        && let Some(reason) = place.no_defaults
    {
        errors.push(FieldError::forbidden(&path.child("default"), format!("must not be set {reason}")));
    }
    for key in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if props.says(key) {
            errors.push(FieldError::forbidden(&path.child(key), format!("{key} is not supported")));
        }
    }
    if kind == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(&path.child("type"), detail));
    }
    if props.get("items").is_some_and(|items| items.as_array().is_some_and(|items| !items.is_empty())) {
        let detail = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(&path.child("items"), detail));
    }
    if place.in_metadata && props.flag("x-kubernetes-embedded-resource") {
        let at = path.child("x-kubernetes-embedded-resource");
        errors.push(FieldError::forbidden(&at, "must not be used inside of resource meta"));
    }
}

fn children(props: Props<'_>, path: &FieldPath, place: Place<'_>, found: &mut Findings<'_>) {
    let below = Place { is_root: false, rules: None, ..place };
    if let Some(additional) = props.additional() {
        let at = path.child("additionalProperties");
        if props.has_properties() && !matches!(additional, Additional::Any(true)) {
            found.errors.push(FieldError::forbidden(&at, "additionalProperties and properties are mutual exclusive"));
        }
        if let Additional::Schema(child) = additional {
            let reason = "inside additionalProperties applying to object metadata";
            let no_defaults = if place.in_metadata { Some(reason) } else { place.no_defaults };
            let scope = place.rules.and_then(RuleScope::values);
            visit(child, &at, Place { no_defaults, rules: scope.as_ref(), ..below }, found);
        }
    }
    for (name, child) in props.properties() {
        let at = path.child("properties").key(name);
        let scope = place.rules.and_then(|scope| scope.property(name));
        let below = Place { rules: scope.as_ref(), ..below };
        let is_resource = place.is_root || props.flag("x-kubernetes-embedded-resource");
        if is_resource && matches!(name, "metadata" | "kind" | "apiVersion") {
            let reason = format!("in top-level {name}");
            let no_defaults = if place.is_root { Some(reason.as_str()) } else { place.no_defaults };
            visit(child, &at, Place { in_metadata: true, no_defaults, ..below }, found);
        } else {
            visit(child, &at, below, found);
        }
    }
    if let Some(child) = props.schema("not") {
        visit(child, &path.child("not"), below, found);
    }
    for key in ["allOf", "oneOf", "anyOf"] {
        for (index, child) in props.schemas(key) {
            visit(child, &path.child(key).index(index), below, found);
        }
    }
    for (name, child) in props.map("definitions") {
        visit(child, &path.child("definitions").key(name), below, found);
    }
    let is_keyed = props.text("x-kubernetes-list-type") == "map";
    let uncorrelatable = place.uncorrelatable.or((!is_keyed).then_some(path));
    if let Some(child) = props.schema("items") {
        let scope = place.rules.and_then(RuleScope::items);
        visit(child, &path.child("items"), Place { uncorrelatable, rules: scope.as_ref(), ..below }, found);
    }
    for (index, child) in props.schemas("items") {
        visit(child, &path.child("items").index(index), Place { uncorrelatable, ..below }, found);
    }
}

/// An error about a type that must be `expected`: missing or wrong.
fn wrong_type(kind: &str, path: &FieldPath, detail: &str) -> FieldError {
    let at = path.child("type");
    if kind.is_empty() { FieldError::required(&at, detail) } else { FieldError::invalid(&at, kind, detail) }
}

fn map_type(props: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(map_type) = props.get("x-kubernetes-map-type").and_then(Value::as_str) else { return };
    if props.kind() != "object" {
        errors.push(wrong_type(props.kind(), path, "must be object if x-kubernetes-map-type is specified"));
    }
    if !matches!(map_type, "atomic" | "granular") {
        let at = path.child("x-kubernetes-map-type");
        errors.push(FieldError::not_supported(&at, map_type, &["atomic", "granular"]));
    }
}

fn list_type(props: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let list_type = props.get("x-kubernetes-list-type").and_then(Value::as_str);
    let at = path.child("x-kubernetes-list-type");
    if let Some(list_type) = list_type {
        if props.kind() != "array" {
            errors.push(wrong_type(props.kind(), path, "must be array if x-kubernetes-list-type is specified"));
        } else if list_type == "set"
            && let Some(items) = props.schema("items")
        {
            items_are_atomic(items, &path.child("items"), errors);
        }
        if !matches!(list_type, "atomic" | "set" | "map") {
            errors.push(FieldError::not_supported(&at, list_type, &["atomic", "set", "map"]));
        }
    }
    if !props.list("x-kubernetes-list-map-keys").is_empty() {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list_type {
            None => errors.push(FieldError::required(&at, detail)),
            Some("map") => {}
            Some(other) => errors.push(FieldError::invalid(&at, other, detail)),
        }
    }
}

/// The items of a set are compared as wholes, so none may be merged.
fn items_are_atomic(items: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list_type = items.get("x-kubernetes-list-type").cloned().unwrap_or_default();
    match items.kind() {
        "array" if !matches!(list_type.as_str(), None | Some("atomic")) => {
            errors.push(FieldError::invalid(&path.child("x-kubernetes-list-type"), list_type, detail));
        }
        // kube-apiserver shows the list type here, too.
        "object" if items.text("x-kubernetes-map-type") != "atomic" => {
            errors.push(FieldError::invalid(&path.child("x-kubernetes-map-type"), list_type, detail));
        }
        _ => {}
    }
}

fn list_map(props: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if props.text("x-kubernetes-list-type") != "map" {
        return;
    }
    let keys = props.list("x-kubernetes-list-map-keys");
    let keys_at = path.child("x-kubernetes-list-map-keys");
    if keys.is_empty() {
        errors.push(FieldError::required(&keys_at, "must not be empty if x-kubernetes-list-type is map"));
    }
    let items_at = path.child("items");
    let Some(items) = props.schema("items") else {
        errors.push(match props.get("items") {
            None => FieldError::required(&items_at, "must have a schema if x-kubernetes-list-type is map"),
            Some(other) => {
                let detail = "must only have a single schema if x-kubernetes-list-type is map";
                FieldError::invalid(&items_at, other.clone(), detail)
            }
        });
        return;
    };
    if items.kind() != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(&items_at.child("type"), items.kind(), detail));
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        match key.as_str().and_then(|name| items.property(name).map(|property| (name, property.kind()))) {
            Some((name, "array" | "object")) => {
                let at = items_at.child("properties").key(name).child("type");
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(FieldError::invalid(&at, items.kind(), detail));
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(&keys_at, keys.to_vec(), detail));
            }
        }
        if keys.iter().take(index).any(|earlier| earlier == key) {
            errors.push(FieldError::invalid(&keys_at, keys.to_vec(), "must not contain duplicate entries"));
        }
    }
}

/// The items of sets and maps can't be null, and the keys of maps must always be there.
fn keys_are_given(props: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let (Some(items), list_type @ ("set" | "map")) = (props.schema("items"), props.text("x-kubernetes-list-type"))
    else {
        return;
    };
    let at = path.child("items");
    if items.flag("nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(&at.child("nullable"), detail));
    }
    if list_type != "map" {
        return;
    }
    for key in props.list("x-kubernetes-list-map-keys").iter().filter_map(Value::as_str) {
        let Some(property) = items.property(key) else { continue };
        let at = at.child("properties").key(key);
        let required = items.list("required").iter().any(|name| name.as_str() == Some(key));
        if !required && property.get("default").is_none() {
            let detail =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(&at.child("default"), detail));
        }
        if property.flag("nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&at.child("nullable"), detail));
        }
    }
}

/// The form of CEL rules.
fn rules(props: Props<'_>, path: &FieldPath, errors: &mut Vec<FieldError>) {
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    let has_newline = |text: &str| text.contains(['\n', '\r']);
    for (index, rule) in props.schemas("x-kubernetes-validations") {
        let at = path.child("x-kubernetes-validations").index(index);
        let message = rule.text("message");
        if rule.text("rule").trim().is_empty() {
            errors.push(FieldError::required(&at.child("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.push(FieldError::invalid(&at.child("message"), message, "must be non-empty if specified"));
        } else if has_newline(message.trim()) {
            errors.push(FieldError::invalid(&at.child("message"), message, "must not contain line breaks"));
        } else if has_newline(rule.text("rule").trim()) && message.trim().is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(&at.child("message"), detail));
        }
        let expression = rule.text("messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(&at.child("messageExpression"), detail));
        }
        if let Some(reason) = rule.get("reason").filter(|reason| !reason.as_str().is_some_and(|r| REASONS.contains(&r)))
        {
            errors.push(FieldError::not_supported(&at.child("reason"), reason.clone(), &REASONS));
        }
        let field = rule.text("fieldPath");
        if !field.is_empty() && field.trim().is_empty() {
            errors.push(FieldError::invalid(&at.child("fieldPath"), field, "must be non-empty if specified"));
        }
        if has_newline(field) {
            errors.push(FieldError::invalid(&at.child("fieldPath"), field, "must not contain line breaks"));
        }
        let resolves = |schema: Schema| resolve_field_path(field, &schema).is_some();
        if !field.is_empty() && !Schema::from_json(&props.json()).map_or(true, resolves) {
            errors.push(FieldError::invalid(&at.child("fieldPath"), field, "must be a valid path"));
        }
    }
}
