//! `apps/v1` ReplicaSet.

use controller_runtime_schema::FieldPath;
use serde_json::Value;

use super::fields::{Fields, at, set_default};
use super::rules::{Errors, immutable, non_negative_fields, not_greater};
use super::workload::Workload;
use super::{Strategy, StrategyContext, workload};

// The reference calls it a deployment in this one message.
const WORKLOAD: Workload = Workload {
    selector_of: "deployment",
    template_of: "ReplicaSet",
    invalid_selector: Some("invalid label selector"),
    needs_selector: true,
};

/// `ReplicaSetSpec`.
pub(super) fn defaults(spec: &mut Fields) {
    set_default(spec, "replicas", 1);
}

/// What is special about ReplicaSets.
#[derive(Debug)]
pub(super) struct ReplicaSet;

impl Strategy for ReplicaSet {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.apps.v1.ReplicaSet")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        workload::drop_disabled(object);
    }

    fn prepare_update(&self, new: &mut Value, _old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            workload::drop_disabled(new);
        }
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = workload::name_warning(new, old);
        warnings.extend(workload::template_warnings(new, old));
        warnings
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        non_negative_fields(spec, &FieldPath::new("spec"), &["replicas", "minReadySeconds"], &mut errors);
        WORKLOAD.selector(spec, &mut errors);
        WORKLOAD.template(spec, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource == Some("status") {
            return validate_status(new);
        }
        let mut errors = self.validate(new);
        immutable(new, old, "spec.selector", &mut errors);
        errors
    }
}

/// Rules for the status of ReplicaSets and ReplicationControllers.
pub(super) fn validate_status(object: &Value) -> Errors {
    let mut errors = Errors::new();
    let status = at(object, "status");
    let counts = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    non_negative_fields(status, &FieldPath::new("status"), &counts, &mut errors);
    let replicas = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
    not_greater(status, &replicas, "replicas", "status.replicas", &mut errors);
    not_greater(status, &["availableReplicas"], "readyReplicas", "readyReplicas", &mut errors);
    errors
}
