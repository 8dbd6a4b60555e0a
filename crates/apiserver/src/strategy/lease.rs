//! `coordination.k8s.io/v1` Lease.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::Strategy;
use super::fields::{at, is_given, number};
use super::rules::{Errors, non_negative};

/// What is special about leases.
#[derive(Debug)]
pub(super) struct Lease;

impl Strategy for Lease {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.coordination.v1.Lease")
    }

    /// A lease is only taken by who has seen it as it is.
    fn unconditional_update(&self) -> bool {
        false
    }

    fn create_on_update(&self) -> bool {
        true
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        if let Some(duration) = number(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
            errors.push(FieldError::invalid(&path.child("leaseDurationSeconds"), duration, "must be greater than 0"));
        }
        non_negative(at(spec, "leaseTransitions"), &path.child("leaseTransitions"), &mut errors);
        if is_given(spec, "preferredHolder") && !is_given(spec, "strategy") {
            let detail = "may only be specified if `strategy` is defined";
            errors.push(FieldError::forbidden(&path.child("preferredHolder"), detail));
        }
        errors
    }
}
