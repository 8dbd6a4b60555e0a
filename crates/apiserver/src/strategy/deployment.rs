//! `apps/v1` Deployment.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, copy_field, number, object_or_new, set_default};
use super::rules::{
    Errors, at_most_all, count_of, count_or_percent, immutable, non_negative, non_negative_fields, not_greater,
};
use super::workload::Workload;
use super::{Strategy, StrategyContext, differs_outside_metadata, workload};

const WORKLOAD: Workload = Workload {
    selector_of: "deployment",
    template_of: "ReplicaSet",
    invalid_selector: Some("invalid label selector"),
    needs_selector: true,
};

/// `DeploymentSpec`.
pub(super) fn defaults(spec: &mut Fields) {
    set_default(spec, "replicas", 1);
    if let Some(strategy) = object_or_new(spec, "strategy") {
        set_default(strategy, "type", "RollingUpdate");
        if strategy.get("type") == Some(&json!("RollingUpdate"))
            && let Some(rolling) = object_or_new(strategy, "rollingUpdate")
        {
            set_default(rolling, "maxUnavailable", "25%");
            set_default(rolling, "maxSurge", "25%");
        }
    }
    set_default(spec, "revisionHistoryLimit", 10);
    set_default(spec, "progressDeadlineSeconds", 600);
}

/// What is special about Deployments.
#[derive(Debug)]
pub(super) struct Deployment;

impl Strategy for Deployment {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.apps.v1.Deployment")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    /// Annotations count too: the controller copies them to its ReplicaSets.
    fn generation_changes(&self, new: &Value, old: &Value, has_status: bool) -> bool {
        differs_outside_metadata(new, old, has_status)
            || at(new, "metadata.annotations") != at(old, "metadata.annotations")
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        workload::drop_disabled(object);
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    /// A write of the status leaves the labels alone, but not other metadata.
    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            workload::drop_disabled(new);
        } else if let Some(metadata) = new.get_mut("metadata") {
            copy_field(metadata, at(old, "metadata"), "labels");
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
        let path = FieldPath::new("spec");
        non_negative(at(spec, "replicas"), &path.child("replicas"), &mut errors);
        WORKLOAD.selector(spec, &mut errors);
        WORKLOAD.template(spec, &mut errors);
        strategy(at(spec, "strategy"), &path.child("strategy"), &mut errors);
        let counts = ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"];
        non_negative_fields(spec, &path, &counts, &mut errors);
        let deadline = at(spec, "progressDeadlineSeconds");
        if deadline.as_i64().is_some_and(|deadline| deadline <= number(spec, "minReadySeconds").unwrap_or_default()) {
            let path = path.child("progressDeadlineSeconds");
            errors.push(FieldError::invalid(&path, deadline.clone(), "must be greater than minReadySeconds"));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource == Some("status") {
            return validate_status(new, old);
        }
        let mut errors = self.validate(new);
        immutable(new, old, "spec.selector", &mut errors);
        errors
    }
}

fn strategy(strategy: &Value, path: &FieldPath, errors: &mut Errors) {
    let rolling = at(strategy, "rollingUpdate");
    let rolling_path = path.child("rollingUpdate");
    match at(strategy, "type").as_str().unwrap_or_default() {
        "Recreate" => {
            if !rolling.is_null() {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                errors.push(FieldError::forbidden(&rolling_path, detail));
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (at(rolling, "maxUnavailable"), at(rolling, "maxSurge"));
            let unavailable_path = rolling_path.child("maxUnavailable");
            count_or_percent(unavailable, &unavailable_path, errors);
            count_or_percent(surge, &rolling_path.child("maxSurge"), errors);
            if count_of(unavailable) == 0 && count_of(surge) == 0 {
                let detail = "may not be 0 when `maxSurge` is 0";
                errors.push(FieldError::invalid(&unavailable_path, unavailable.clone(), detail));
            }
            at_most_all(unavailable, &unavailable_path, errors);
        }
        _ => {
            errors.push(workload::unknown_strategy(path, strategy, &["Recreate", "RollingUpdate"]));
        }
    }
}

fn validate_status(object: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let status = at(object, "status");
    let counts = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    non_negative_fields(status, &FieldPath::new("status"), &counts, &mut errors);
    let replicas = ["updatedReplicas", "readyReplicas", "availableReplicas"];
    not_greater(status, &replicas, "replicas", "status.replicas", &mut errors);
    not_greater(status, &["availableReplicas"], "readyReplicas", "readyReplicas", &mut errors);
    workload::not_decremented(object, old, &mut errors);
    errors
}
