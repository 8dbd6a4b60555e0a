//! `v1` ResourceQuota.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::Strategy;
use super::fields::{at, items, text};
use super::pod_spec::{quantity, resource_name};
use super::rules::Errors;

/// Names of resources that quotas know, and that need no domain.
const STANDARD: [&str; 19] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// What is special about quotas.
#[derive(Debug)]
pub(super) struct ResourceQuota;

impl Strategy for ResourceQuota {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.ResourceQuota")
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let path = FieldPath::new("spec");
        let spec = at(object, "spec");
        amounts(at(spec, "hard"), &path.child("hard"), &mut errors);
        scopes(spec, &path.child("scopes"), &mut errors);
        if !at(spec, "scopeSelector").is_null() {
            selector(spec, &path.child("scopeSelector.matchExpressions"), &mut errors);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            let mut errors = Errors::new();
            let path = FieldPath::new("status");
            for key in ["hard", "used"] {
                amounts(at(at(new, "status"), key), &path.child(key), &mut errors);
            }
            return errors;
        }
        let mut errors = self.validate(new);
        let scopes = |quota: &Value| -> BTreeSet<String> {
            items(quota, "spec.scopes").iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        if scopes(new) != scopes(old) {
            let scopes = at(new, "spec.scopes").clone();
            errors.push(FieldError::invalid(&FieldPath::new("spec.scopes"), scopes, "field is immutable"));
        }
        errors
    }
}

fn amounts(amounts: &Value, path: &FieldPath, errors: &mut Errors) {
    for (name, amount) in amounts.as_object().into_iter().flatten() {
        let path = path.key(name);
        resource_name(name, &path, errors);
        if !name.contains('/') && !is_standard(name) {
            errors.push(FieldError::invalid(&path, name.as_str(), "must be a standard resource for quota"));
        }
        quantity(name, amount, &path, errors);
    }
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || name.starts_with("hugepages-") || name.starts_with("requests.hugepages-")
}

/// Whether a scope says something about a resource.
fn is_about(scope: &str, resource: &str) -> bool {
    let computes =
        matches!(resource, "cpu" | "memory" | "limits.cpu" | "limits.memory" | "requests.cpu" | "requests.memory");
    match scope {
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity" => {
            resource == "pods" || computes
        }
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    }
}

fn unfit(spec: &Value, scope: &str) -> usize {
    let hard = at(spec, "hard").as_object().into_iter().flatten();
    hard.filter(|(name, _)| is_standard(name) && !is_about(scope, name)).count()
}

fn conflicting(all: &BTreeSet<&str>) -> usize {
    let pairs = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
    pairs.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))).count()
}

fn scopes(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let shown = at(spec, "scopes");
    let mut wrong = |detail: &str| errors.push(FieldError::invalid(path, shown.clone(), detail));
    let all: BTreeSet<&str> = items(spec, "scopes").iter().filter_map(Value::as_str).collect();
    for scope in items(spec, "scopes").iter().filter_map(Value::as_str) {
        if !SCOPES.contains(&scope) {
            wrong("unsupported scope");
        }
        for _ in 0..unfit(spec, scope) {
            wrong("unsupported scope applied to resource");
        }
    }
    for _ in 0..conflicting(&all) {
        wrong("conflicting scopes");
    }
}

fn selector(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut all = BTreeSet::new();
    for requirement in items(spec, "scopeSelector.matchExpressions") {
        let (scope, operator) = (text(requirement, "scopeName"), text(requirement, "operator"));
        let operator_path = path.child("operator");
        all.insert(scope);
        if !SCOPES.contains(&scope) {
            errors.push(FieldError::invalid(&path.child("scopeName"), scope, "unsupported scope"));
        }
        for _ in 0..unfit(spec, scope) {
            let shown = at(spec, "scopeSelector").clone();
            errors.push(FieldError::invalid(path, shown, "unsupported scope applied to resource"));
        }
        let chooses = matches!(scope, "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope) && !chooses && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.push(FieldError::invalid(&operator_path, operator, detail));
        }
        let values = items(requirement, "values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.push(FieldError::required(&path.child("values"), detail));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                let shown = at(requirement, "values").clone();
                errors.push(FieldError::invalid(&path.child("values"), shown, detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.push(FieldError::invalid(&operator_path, operator, "not a valid selector operator")),
        }
    }
    for _ in 0..conflicting(&all) {
        errors.push(FieldError::invalid(path, at(spec, "scopes").clone(), "conflicting scopes"));
    }
}
