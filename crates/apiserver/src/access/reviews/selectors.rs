//! The selectors of an access review (KEP-4601): which part of a collection somebody wants to see.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use crate::selector::{FieldSelector, LabelSelector};

/// What is wrong with the selectors of a review.
pub(super) fn check(attributes: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("spec.resourceAttributes");
    ["fieldSelector", "labelSelector"]
        .into_iter()
        .filter_map(|kind| Some((kind, attributes.get(kind).filter(|selector| selector.is_object())?)))
        .flat_map(|(kind, selector)| check_selector(selector, &path.child(kind)))
        .collect()
}

fn check_selector(selector: &Value, path: &FieldPath) -> Vec<FieldError> {
    let raw = selector.get("rawSelector").and_then(Value::as_str).unwrap_or_default();
    let requirements = requirements(selector);
    let mut errors = Vec::new();
    if !raw.is_empty() && !requirements.is_empty() {
        let detail = "may not specified at the same time as requirements";
        errors.push(FieldError::invalid(&path.child("rawSelector"), raw, detail));
    }
    if raw.is_empty() && requirements.is_empty() {
        let detail = format!("when {path} is specified, requirements or rawSelector is required");
        errors.push(FieldError::required(&path.child("requirements"), detail));
    }
    for (index, requirement) in requirements.iter().enumerate() {
        check_requirement(requirement, &path.child("requirements").index(index), &mut errors);
    }
    errors
}

/// Operators that this server doesn't know are allowed: newer clients may ask with them.
fn check_requirement(requirement: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let text = |key: &str| requirement.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("key").is_empty() {
        errors.push(FieldError::required(&path.child("key"), "must be specified"));
    }
    let values = requirement.get("values").and_then(Value::as_array).is_some_and(|values| !values.is_empty());
    match text("operator") {
        "In" | "NotIn" if !values => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&path.child("values"), detail));
        }
        "Exists" | "DoesNotExist" if values => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&path.child("values"), detail));
        }
        _ => {}
    }
}

/// What couldn't be made of the selectors; the decision is made without that.
pub(super) fn ignored(attributes: &Value) -> Option<String> {
    let texts = ["fieldSelector", "labelSelector"].into_iter().filter_map(|kind| {
        let selector = attributes.get(kind).filter(|selector| selector.is_object())?;
        let how = unreadable(kind, selector)?;
        Some(format!("spec.resourceAttributes.{kind} {how} due to parse error"))
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn unreadable(kind: &str, selector: &Value) -> Option<&'static str> {
    let is_field = kind == "fieldSelector";
    let requirements = requirements(selector);
    if requirements.is_empty() {
        let raw = selector.get("rawSelector").and_then(Value::as_str).unwrap_or_default();
        let readable = if is_field { FieldSelector::parse(raw).is_ok() } else { LabelSelector::parse(raw).is_ok() };
        return (!readable).then_some("ignored");
    }
    let understood = |requirement: &&Value| {
        let values = requirement.get("values").and_then(Value::as_array).map_or(0, Vec::len);
        match requirement.get("operator").and_then(Value::as_str).unwrap_or_default() {
            "In" | "NotIn" => !is_field || values == 1,
            "Exists" | "DoesNotExist" => !is_field,
            _ => false,
        }
    };
    match requirements.iter().filter(understood).count() {
        0 => Some("ignored"),
        some if some < requirements.len() => Some("partially ignored"),
        _ => None,
    }
}

fn requirements(selector: &Value) -> &[Value] {
    selector.get("requirements").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
