//! What controllers say of a claim.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::at;
use super::super::quantity::Quantity;
use super::super::rules::{Errors, named};
use crate::metadata::names;

const RESIZES: &[&str] = &[
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// Takes out what belongs to a feature that is switched off by default.
pub(super) fn drop_disabled(claim: &mut Value) {
    if let Some(status) = claim.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("healthStatus");
    }
}

/// Rules for a changed status.
pub(super) fn validate(claim: &Value) -> Errors {
    let mut errors = Errors::new();
    let path = FieldPath::new("status");
    let status = at(claim, "status");
    for (name, amount) in at(status, "capacity").as_object().into_iter().flatten() {
        not_negative(amount, &path.child("capacity").key(name), &mut errors);
    }
    let resizes = path.child("allocatedResourceStatuses");
    for (name, resize) in at(status, "allocatedResourceStatuses").as_object().into_iter().flatten() {
        resource_name(name, &resizes, &mut errors);
        if !resize.as_str().is_some_and(|resize| RESIZES.contains(&resize)) {
            // The reference shows the name of the resource for its status.
            errors.push(FieldError::not_supported(&resizes, name.as_str(), RESIZES));
        }
    }
    let allocated = path.child("allocatedResources");
    for (name, amount) in at(status, "allocatedResources").as_object().into_iter().flatten() {
        if resource_name(name, &allocated, &mut errors) {
            not_negative(amount, &allocated.key(name), &mut errors);
        }
    }
    errors
}

fn not_negative(amount: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Some(amount) = amount.as_str().and_then(Quantity::parse).filter(|amount| amount.is_negative()) {
        // Whole units, as the reference shows them.
        let whole = i64::try_from(amount.nanos().div_euclid(1_000_000_000)).unwrap_or(i64::MIN);
        errors.push(FieldError::invalid(path, whole, "must be a valid resource quantity"));
    }
}

/// A claim's only resource of Kubernetes' own is storage. Gives whether the name is one.
fn resource_name(name: &str, path: &FieldPath, errors: &mut Errors) -> bool {
    let texts = names::qualified_name(name);
    let valid = texts.is_empty();
    named(name, path, texts, errors);
    let native = !name.contains('/') || name.contains("kubernetes.io/");
    if valid && native && name != "storage" {
        errors.push(FieldError::not_supported(path, name, &["storage"]));
        return false;
    }
    valid
}
