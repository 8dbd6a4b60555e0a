//! `policy/v1` PodDisruptionBudget.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::Strategy;
use super::condition::conditions;
use super::fields::{at, is_given, items};
use super::rules::{Errors, at_most_all, count_or_percent, label_selector, non_negative_fields, one_of};

/// What is special about pod disruption budgets.
#[derive(Debug)]
pub(super) struct PodDisruptionBudget;

impl Strategy for PodDisruptionBudget {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.policy.v1.PodDisruptionBudget")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn unconditional_update(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        if is_given(spec, "minAvailable") && is_given(spec, "maxUnavailable") {
            let detail = "minAvailable and maxUnavailable cannot be both set";
            errors.push(FieldError::invalid(&path, spec.clone(), detail));
        }
        for key in ["minAvailable", "maxUnavailable"] {
            count_or_percent(at(spec, key), &path.child(key), &mut errors);
            at_most_all(at(spec, key), &path.child(key), &mut errors);
        }
        label_selector(at(spec, "selector"), &path.child("selector"), &mut errors);
        if is_given(spec, "unhealthyPodEvictionPolicy") {
            let policies = ["AlwaysAllow", "IfHealthyBudget"];
            let path = path.child("unhealthyPodEvictionPolicy");
            one_of(at(spec, "unhealthyPodEvictionPolicy"), &path, &policies, &mut errors);
        }
        errors
    }

    fn validate_update(&self, new: &Value, _old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() { status(at(new, "status")) } else { self.validate(new) }
    }
}

fn status(status: &Value) -> Errors {
    let mut errors = Errors::new();
    let path = FieldPath::new("status");
    conditions(items(status, "conditions"), &path.child("conditions"), &mut errors);
    let counts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    non_negative_fields(status, &path, &counts, &mut errors);
    errors
}
