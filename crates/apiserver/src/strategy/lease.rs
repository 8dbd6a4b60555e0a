//! `coordination.k8s.io/v1` Lease.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, is_given, number};
use super::rules::{Errors, non_negative};
use super::{Strategy, StrategyContext};

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

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        drop_elections(object, &Value::Null);
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, _subresource: Option<&str>) {
        drop_elections(new, old);
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        if let Some(duration) = number(spec, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
            errors.push(FieldError::invalid(&path.child("leaseDurationSeconds"), duration, "must be greater than 0"));
        }
        non_negative(at(spec, "leaseTransitions"), &path.child("leaseTransitions"), &mut errors);
        errors
    }
}

/// Coordinated elections are switched off by default: what belongs to them isn't taken over.
fn drop_elections(lease: &mut Value, old: &Value) {
    let Some(spec) = lease.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for key in ["strategy", "preferredHolder"] {
        if !is_given(at(old, "spec"), key) {
            spec.remove(key);
        }
    }
}
