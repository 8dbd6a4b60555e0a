//! Rules for autoscalers in the words of the newer version.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use crate::strategy::fields::{at, indexed, is_given, items, number, text};
use crate::strategy::rules::{Errors, non_negative, one_of};

/// The five places where a metric can come from, in the order in which the reference looks at them, with their types.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];
const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const LONGEST_WINDOW: i64 = 3600;
const LONGEST_PERIOD: i64 = 1800;

pub(super) fn validate(autoscaler: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = at(autoscaler, "spec");
    let path = FieldPath::new("spec");
    let least = number(spec, "minReplicas");
    let most = number(spec, "maxReplicas").unwrap_or_default();
    if let Some(least) = least.filter(|least| *least < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(&path.child("minReplicas"), least, detail));
    }
    let most_path = path.child("maxReplicas");
    if most == 0 {
        errors.push(FieldError::required(&most_path, ""));
    } else if most < 0 {
        errors.push(FieldError::invalid(&most_path, most, "must be greater than or equal to 1"));
    }
    if least.is_some_and(|least| most < least) {
        errors.push(FieldError::invalid(&most_path, most, "must be greater than or equal to `minReplicas`"));
    }
    reference(at(spec, "scaleTargetRef"), &path.child("scaleTargetRef"), &mut errors);
    metrics(spec, least, &path.child("metrics"), &mut errors);
    for key in ["scaleUp", "scaleDown"] {
        let rules = at(spec, &format!("behavior.{key}"));
        if rules.is_object() {
            scaling_rules(rules, &path.child("behavior").child(key), &mut errors);
        }
    }
    errors
}

pub(super) fn validate_status(autoscaler: &Value) -> Errors {
    let mut errors = Errors::new();
    for (path, condition) in indexed(autoscaler, "status.conditions") {
        non_negative(at(condition, "observedGeneration"), &path.child("observedGeneration"), &mut errors);
    }
    for field in ["currentReplicas", "desiredReplicas"] {
        let path = FieldPath::new("status").child(field);
        non_negative(at(at(autoscaler, "status"), field), &path, &mut errors);
    }
    errors
}

/// What is scaled, or what a metric describes: any object that has a name.
fn reference(reference: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["kind", "name"] {
        let value = text(reference, key);
        if value.is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
        } else {
            errors.extend(segment(value).into_iter().map(|text| FieldError::invalid(&path.child(key), value, text)));
        }
    }
    let version = text(reference, "apiVersion");
    // The only kind of the core group that can be scaled.
    let needs_group = path.as_str().ends_with("scaleTargetRef") && text(reference, "kind") != "ReplicationController";
    let problem = match version.matches('/').count() {
        0 if needs_group => "apiVersion must specify API group".to_owned(),
        0 | 1 => return,
        _ => format!("unexpected GroupVersion string: {version}"),
    };
    errors.push(FieldError::invalid(&path.child("apiVersion"), version, problem));
}

/// What keeps a text from being one part of a path.
fn segment(value: &str) -> Vec<String> {
    if matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    let found = ["/", "%"].into_iter().filter(|part| value.contains(part));
    found.map(|part| format!("may not contain '{part}'")).collect()
}

fn metrics(spec: &Value, least: Option<i64>, path: &FieldPath, errors: &mut Errors) {
    for (index, metric) in items(spec, "metrics").iter().enumerate() {
        one_metric(metric, &path.index(index), errors);
    }
    let can_be_zero = items(spec, "metrics").iter().any(|metric| matches!(text(metric, "type"), "Object" | "External"));
    if least == Some(0) && !can_be_zero {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(FieldError::forbidden(path, detail));
    }
}

fn one_metric(metric: &Value, path: &FieldPath, errors: &mut Errors) {
    let kind = text(metric, "type");
    if kind.is_empty() {
        errors.push(FieldError::required(&path.child("type"), "must specify a metric source type"));
    }
    let known = SOURCES.iter().find(|(_, named)| *named == kind).map(|(key, _)| *key);
    if known.is_none() {
        errors.push(FieldError::not_supported(&path.child("type"), kind, &TYPES));
    }
    let present: Vec<&str> = SOURCES.iter().map(|(key, _)| *key).filter(|key| at(metric, key).is_object()).collect();
    if let Some(first) = present.first() {
        source(first, at(metric, first), &path.child(first), errors);
    }
    match known {
        Some(key) if !present.contains(&key) => {
            let detail = "must populate information for the given metric source";
            errors.push(FieldError::required(&path.child(key), detail));
        }
        None => errors.push(FieldError::not_supported(&path.child("type"), kind, &TYPES)),
        Some(_) => {}
    }
    if present.len() != 1 {
        for other in present.iter().filter(|key| known != Some(*key)) {
            errors.push(FieldError::forbidden(&path.child(other), "must populate the given metric source only"));
        }
    }
}

fn source(key: &str, source: &Value, path: &FieldPath, errors: &mut Errors) {
    let target = at(source, "target");
    let target_path = path.child("target");
    let has = |field: &str| !at(target, field).is_null();
    let required = |field: &str, detail: &str| FieldError::required(&target_path.child(field), detail);
    if matches!(key, "resource" | "containerResource") {
        for field in ["name", "container"].into_iter().filter(|field| *field == "name" || key == "containerResource") {
            if text(source, field).is_empty() {
                let what = if field == "name" { "resource name" } else { "container" };
                errors.push(FieldError::required(&path.child(field), format!("must specify a {what}")));
            }
        }
        metric_target(target, &target_path, errors);
        if !has("averageUtilization") && !has("averageValue") {
            let detail = "must set either a target raw value or a target utilization";
            errors.push(required("averageUtilization", detail));
        }
        if has("averageUtilization") && has("averageValue") {
            let detail = "may not set both a target raw value and a target utilization";
            errors.push(FieldError::forbidden(&target_path.child("averageValue"), detail));
        }
        return;
    }
    if key == "object" {
        reference(at(source, "describedObject"), &path.child("describedObject"), errors);
    }
    if text(source, "metric.name").is_empty() {
        errors.push(FieldError::required(&path.child("metric").child("name"), "must specify a metric name"));
    }
    metric_target(target, &target_path, errors);
    if key == "pods" && !has("averageValue") {
        errors.push(required("averageValue", "must specify a positive target averageValue"));
    }
    if key != "pods" && !has("value") && !has("averageValue") {
        let detail = if key == "object" {
            "must set either a target value or averageValue"
        } else {
            "must set either a target value for metric or a per-pod target"
        };
        errors.push(required("averageValue", detail));
    }
    if key == "external" && has("value") && has("averageValue") {
        let detail = "may not set both a target value for metric and a per-pod target";
        errors.push(FieldError::forbidden(&target_path.child("value"), detail));
    }
}

fn metric_target(target: &Value, path: &FieldPath, errors: &mut Errors) {
    if text(target, "type").is_empty() {
        errors.push(FieldError::required(&path.child("type"), "must specify a metric target type"));
    }
    let types = ["Utilization", "Value", "AverageValue"];
    if !types.contains(&text(target, "type")) {
        let detail = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid(&path.child("type"), text(target, "type"), detail));
    }
    if let Some(utilization) = number(target, "averageUtilization").filter(|utilization| *utilization < 1) {
        errors.push(FieldError::invalid(&path.child("averageUtilization"), utilization, "must be greater than 0"));
    }
    for field in ["value", "averageValue"] {
        let amount = text(target, field);
        if !amount.is_empty() && (amount.starts_with('-') || amount == "0") {
            errors.push(FieldError::invalid(&path.child(field), amount, "must be positive"));
        }
    }
}

fn scaling_rules(rules: &Value, path: &FieldPath, errors: &mut Errors) {
    let window = number(rules, "stabilizationWindowSeconds").unwrap_or_default();
    let window_path = path.child("stabilizationWindowSeconds");
    if window < 0 {
        errors.push(FieldError::invalid(&window_path, window, "must be greater than or equal to zero"));
    }
    if window > LONGEST_WINDOW {
        let detail = format!("must be less than or equal to {LONGEST_WINDOW}");
        errors.push(FieldError::invalid(&window_path, window, detail));
    }
    if is_given(rules, "selectPolicy") {
        one_of(at(rules, "selectPolicy"), &path.child("selectPolicy"), &["Disabled", "Max", "Min"], errors);
    }
    let policies = items(rules, "policies");
    if policies.is_empty() {
        errors.push(FieldError::required(&path.child("policies"), "must specify at least one Policy"));
    }
    for (index, policy) in policies.iter().enumerate() {
        let path = path.child("policies").index(index);
        one_of(at(policy, "type"), &path.child("type"), &["Percent", "Pods"], errors);
        for field in ["value", "periodSeconds"] {
            let value = number(policy, field).unwrap_or_default();
            if value <= 0 {
                errors.push(FieldError::invalid(&path.child(field), value, "must be greater than zero"));
            }
            if field == "periodSeconds" && value > LONGEST_PERIOD {
                let detail = format!("must be less than or equal to {LONGEST_PERIOD}");
                errors.push(FieldError::invalid(&path.child(field), value, detail));
            }
        }
    }
}
