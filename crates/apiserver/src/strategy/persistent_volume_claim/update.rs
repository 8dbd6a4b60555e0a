//! What of a claim may change: the volume once, the size when it is bound.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{Fields, at, copy_field, text};
use super::super::quantity::Quantity;
use super::super::rules::Errors;
use super::CLASS;

/// Rules for a changed claim beyond those for a new one.
pub(super) fn validate(new: &Value, old: &Value, errors: &mut Errors) {
    let annotation = |claim: &Value| at(claim, "metadata.annotations").get(CLASS).cloned();
    let (mut after, mut before) = (at(new, "spec").clone(), at(old, "spec").clone());
    if text(old, "spec.volumeName").is_empty() {
        copy_field(&mut before, &after, "volumeName");
    }
    class(&mut after, &mut before, annotation(new), annotation(old), errors);
    if text(new, "status.phase") == "Bound" {
        let requests = at(&before, "resources.requests").clone();
        if let Some(after) = after.pointer_mut("/resources/requests") {
            copy_field(after, &requests, "storage");
        }
        copy_field(&mut after, &before, "volumeAttributesClassName");
    }
    if !same(&after, &before) {
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
    }
    shrinks(new, old, errors);
    if at(new, "spec.volumeMode") != at(old, "spec.volumeMode") {
        let mode = at(new, "spec.volumeMode").clone();
        errors.push(FieldError::invalid(&FieldPath::new("volumeMode"), mode, "field is immutable"));
    }
    attributes(new, old, errors);
}

/// The class may move from the annotation to the field, or be given where there was none.
fn class(after: &mut Value, before: &mut Value, new: Option<Value>, old: Option<Value>, errors: &mut Errors) {
    let field = at(after, "storageClassName").clone();
    let fresh = at(before, "storageClassName").is_null() && !field.is_null();
    let moves = fresh && old.as_ref() == Some(&field) && (new.is_none() || new == old);
    if !moves && new != old {
        // The reference doesn't say of which annotation it is the value.
        let path = FieldPath::new("metadata.annotations").key(CLASS);
        errors.push(FieldError::invalid(&path, new.unwrap_or_else(|| Value::from("")), "field is immutable"));
    }
    if moves || fresh && old.is_none_or(|old| old == field) {
        copy_field(before, after, "storageClassName");
    }
}

/// Whether two specs mean the same: quantities may be written in more ways than one.
fn same(after: &Value, before: &Value) -> bool {
    match (after, before) {
        (Value::Object(after), Value::Object(before)) => same_fields(after, before) && same_fields(before, after),
        (Value::String(after), Value::String(before)) if after != before => {
            let nanos = |text: &str| Quantity::parse(text).map(Quantity::nanos);
            nanos(after).is_some() && nanos(after) == nanos(before)
        }
        _ => after == before,
    }
}

fn same_fields(fields: &Fields, others: &Fields) -> bool {
    fields.iter().all(|(key, field)| others.get(key).is_some_and(|other| same(field, other)))
}

fn shrinks(new: &Value, old: &Value, errors: &mut Errors) {
    let amount = |claim: &Value, path: &str| {
        let amount = at(claim, path).as_str().and_then(Quantity::parse);
        amount.map_or(0, Quantity::nanos)
    };
    let size = amount(new, "spec.resources.requests.storage");
    if size < amount(old, "spec.resources.requests.storage") && size <= amount(old, "status.capacity.storage") {
        let path = FieldPath::new("spec.resources.requests.storage");
        errors.push(FieldError::forbidden(&path, "field can not be less than status.capacity"));
    }
}

/// A class of attributes that is in force can be exchanged, not taken away.
fn attributes(new: &Value, old: &Value, errors: &mut Errors) {
    let (after, before) = (at(new, "spec.volumeAttributesClassName"), at(old, "spec.volumeAttributesClassName"));
    if after == before || at(old, "status.currentVolumeAttributesClassName").is_null() {
        return;
    }
    let to = match after.as_str() {
        None => "nil",
        Some("") => "empty string",
        Some(_) => return,
    };
    let detail = format!("update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil");
    errors.push(FieldError::forbidden(&FieldPath::new("spec.volumeAttributesClassName"), detail));
}
