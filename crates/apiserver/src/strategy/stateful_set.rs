//! `apps/v1` StatefulSet.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, indexed, items, number, object_mut, object_or_new, objects_mut, set_default, text};
use super::persistent_volume_claim::validate_spec as validate_claim_spec;
use super::rules::{
    Errors, at_most_all, count_of, count_or_percent, immutable, is_valid_selector, named, non_negative,
    non_negative_fields, not_greater, one_of,
};
use super::workload::Workload;
use super::{Strategy, StrategyContext, pod_spec, workload};
use crate::metadata::names;

const WORKLOAD: Workload = Workload {
    selector_of: "statefulset",
    template_of: "StatefulSet",
    invalid_selector: Some(""),
    needs_selector: true,
};

/// `StatefulSetSpec`.
pub(super) fn defaults(spec: &mut Fields) {
    set_default(spec, "podManagementPolicy", "OrderedReady");
    if let Some(strategy) = object_or_new(spec, "updateStrategy") {
        if !strategy.contains_key("type") {
            set_default(strategy, "type", "RollingUpdate");
            set_default(strategy, "rollingUpdate", json!({}));
        }
        if strategy.get("type") == Some(&json!("RollingUpdate"))
            && let Some(rolling) = object_mut(strategy, "rollingUpdate")
        {
            set_default(rolling, "partition", 0);
            set_default(rolling, "maxUnavailable", 1);
        }
    }
    if let Some(policy) = object_or_new(spec, "persistentVolumeClaimRetentionPolicy") {
        set_default(policy, "whenDeleted", "Retain");
        set_default(policy, "whenScaled", "Retain");
    }
    set_default(spec, "replicas", 1);
    set_default(spec, "revisionHistoryLimit", 10);
    // Claim templates are whole objects.
    for claim in objects_mut(spec, "volumeClaimTemplates") {
        claim.insert("apiVersion".to_owned(), json!("v1"));
        claim.insert("kind".to_owned(), json!("PersistentVolumeClaim"));
    }
}

/// What is special about StatefulSets.
#[derive(Debug)]
pub(super) struct StatefulSet;

impl Strategy for StatefulSet {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.apps.v1.StatefulSet")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        names::dns_label(name, prefix)
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
        let mut warnings = workload::template_warnings(new, old);
        for (path, claim) in indexed(new, "spec.volumeClaimTemplates") {
            let path = if old.is_some() { path.child("Spec") } else { path };
            warnings.extend(pod_spec::claim_warnings(at(claim, "spec"), &path));
        }
        if number(new, "spec.revisionHistoryLimit").is_some_and(|limit| limit < 0) {
            let text = "a negative value retains all historical revisions; a value >= 0 is recommended";
            warnings.push(format!("spec.revisionHistoryLimit: {text}"));
        }
        warnings
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        policies(spec, &path, &mut errors);
        for (path, claim) in indexed(object, "spec.volumeClaimTemplates") {
            validate_claim_spec(at(claim, "spec"), &path.child("spec"), &mut errors);
        }
        non_negative_fields(spec, &path, &["replicas", "minReadySeconds"], &mut errors);
        non_negative(at(spec, "ordinals.start"), &path.child("ordinals.start"), &mut errors);
        let service = at(spec, "serviceName").as_str().unwrap_or_default();
        if !service.is_empty() {
            named(service, &path.child("serviceName"), names::dns_label(service, false), &mut errors);
        }
        WORKLOAD.selector(spec, &mut errors);
        WORKLOAD.template(&with_claims(spec), &mut errors);
        if !is_valid_selector(at(spec, "selector")) {
            WORKLOAD.lifetime(spec, &mut errors);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource == Some("status") {
            return validate_status(new, old);
        }
        let mut errors = self.validate(new);
        for path in ["spec.selector", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"] {
            immutable(new, old, path, &mut errors);
        }
        errors
    }
}

fn policies(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    one_of_quoted(at(spec, "podManagementPolicy"), &path.child("podManagementPolicy"), errors);
    let strategy = at(spec, "updateStrategy");
    let rolling = at(strategy, "rollingUpdate");
    let strategy_path = path.child("updateStrategy");
    let rolling_path = strategy_path.child("rollingUpdate");
    match at(strategy, "type").as_str().unwrap_or_default() {
        "OnDelete" => {
            if !rolling.is_null() {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                errors.push(FieldError::invalid(&rolling_path, rolling.clone(), detail));
            }
        }
        "RollingUpdate" => {
            non_negative(at(rolling, "partition"), &rolling_path.child("partition"), errors);
            let unavailable = at(rolling, "maxUnavailable");
            if !unavailable.is_null() {
                let path = rolling_path.child("maxUnavailable");
                count_or_percent(unavailable, &path, errors);
                if count_of(unavailable) == 0 {
                    errors.push(FieldError::invalid(&path, unavailable.clone(), "cannot be 0"));
                }
                at_most_all(unavailable, &path, errors);
            }
        }
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            errors.push(FieldError::invalid(&strategy_path, strategy.clone(), detail));
        }
    }
    let retention = path.child("persistentVolumeClaimRetentionPolicy");
    for key in ["whenDeleted", "whenScaled"] {
        let policy = at(spec, &format!("persistentVolumeClaimRetentionPolicy.{key}"));
        one_of(policy, &retention.child(key), &["Retain", "Delete"], errors);
    }
}

fn one_of_quoted(policy: &Value, path: &FieldPath, errors: &mut Errors) {
    if !matches!(policy.as_str(), Some("OrderedReady" | "Parallel")) {
        errors.push(FieldError::invalid(path, policy.clone(), "must be 'OrderedReady' or 'Parallel'"));
    }
}

/// The spec as its pods will have it: claim templates give volumes, the controller sets hostname and subdomain.
fn with_claims(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let templates = items(&spec, "volumeClaimTemplates").iter();
    let claims: BTreeSet<&str> = templates.map(|claim| text(claim, "metadata.name")).collect();
    let claimed: Vec<Value> =
        claims.into_iter().map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}})).collect();
    let Some(pod) = spec.pointer_mut("/template/spec").and_then(Value::as_object_mut) else { return spec };
    pod.remove("hostname");
    pod.remove("subdomain");
    if !claimed.is_empty() {
        let given = pod.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
        let named = |volume: &Value| claimed.iter().any(|claimed| claimed["name"] == volume["name"]);
        let rest = given.into_iter().filter(|volume| !named(volume));
        let volumes: Vec<Value> = claimed.iter().cloned().chain(rest).collect();
        pod.insert("volumes".to_owned(), Value::Array(volumes));
    }
    spec
}

fn validate_status(object: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let status = at(object, "status");
    let path = FieldPath::new("status");
    let counts = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ];
    non_negative_fields(status, &path, &counts, &mut errors);
    let replicas = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    not_greater(status, &replicas, "replicas", "status.replicas", &mut errors);
    not_greater(status, &["availableReplicas"], "readyReplicas", "status.readyReplicas", &mut errors);
    workload::not_decremented(object, old, &mut errors);
    errors
}
