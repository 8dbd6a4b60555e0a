//! Rules for when a job fails and when it has succeeded.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, items, number, text};
use super::super::rules::{Errors, named, non_negative, one_of};
use super::indexes;
use crate::metadata::names;

const ACTIONS: &[&str] = &["Count", "FailIndex", "FailJob", "Ignore"];
const STATUSES: &[&str] = &["False", "True", "Unknown"];

/// Rules for `podFailurePolicy`.
pub(super) fn failure(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let rules = items(spec, "podFailurePolicy.rules");
    let path = path.child("rules");
    at_most(rules.len(), 20, &path, errors);
    for (index, rule) in rules.iter().enumerate() {
        failure_rule(rule, spec, &path.index(index), errors);
    }
}

fn at_most(count: usize, most: i64, path: &FieldPath, errors: &mut Errors) {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    if count > most {
        errors.push(FieldError::too_many(path, count, most));
    }
}

fn invalid_whole(path: &FieldPath, detail: &str, errors: &mut Errors) {
    let mut error = FieldError::invalid(path, Value::Null, detail);
    error.value = None;
    errors.push(error);
}

fn failure_rule(rule: &Value, spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let action_path = path.child("action");
    match text(rule, "action") {
        "" => errors
            .push(FieldError::required(&action_path, "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]")),
        "FailIndex" => {
            if at(spec, "backoffLimitPerIndex").is_null() {
                let detail = "requires the backoffLimitPerIndex to be set";
                errors.push(FieldError::invalid(&action_path, "FailIndex", detail));
            }
        }
        _ => one_of(at(rule, "action"), &action_path, ACTIONS, errors),
    }
    let (codes, conditions) = (at(rule, "onExitCodes"), items(rule, "onPodConditions"));
    if !codes.is_null() {
        exit_codes(codes, spec, &path.child("onExitCodes"), errors);
    }
    let conditions_path = path.child("onPodConditions");
    at_most(conditions.len(), 20, &conditions_path, errors);
    for (index, pattern) in conditions.iter().enumerate() {
        let path = conditions_path.index(index);
        let kind = text(pattern, "type");
        named(kind, &path.child("type"), names::qualified_name(kind), errors);
        one_of(at(pattern, "status"), &path.child("status"), STATUSES, errors);
    }
    match (codes.is_null(), conditions.is_empty()) {
        (false, false) => {
            invalid_whole(path, "specifying both OnExitCodes and OnPodConditions is not supported", errors);
        }
        (true, true) => {
            invalid_whole(path, "specifying one of OnExitCodes and OnPodConditions is required", errors);
        }
        _ => {}
    }
}

fn exit_codes(codes: &Value, spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let operator = text(codes, "operator");
    if operator.is_empty() {
        errors.push(FieldError::required(&path.child("operator"), "valid values: [\"In\" \"NotIn\"]"));
    } else {
        one_of(at(codes, "operator"), &path.child("operator"), &["In", "NotIn"], errors);
    }
    let pod = at(spec, "template.spec");
    let mut containers = items(pod, "containers").iter().chain(items(pod, "initContainers"));
    if let Some(name) = at(codes, "containerName").as_str()
        && !containers.any(|container| text(container, "name") == name)
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.push(FieldError::invalid(&path.child("containerName"), name, detail));
    }
    let values_path = path.child("values");
    let values: Vec<i64> = items(codes, "values").iter().filter_map(Value::as_i64).collect();
    if values.is_empty() {
        errors.push(FieldError::invalid(&values_path, at(codes, "values").clone(), "at least one value is required"));
    }
    at_most(values.len(), 255, &values_path, errors);
    let mut seen = BTreeSet::new();
    for (index, value) in values.iter().enumerate() {
        if operator == "In" && *value == 0 {
            errors.push(FieldError::invalid(&values_path.index(index), 0, "must not be 0 for the In operator"));
        }
        if !seen.insert(*value) {
            errors.push(FieldError::duplicate(&values_path.index(index), *value));
        }
    }
    if !values.is_sorted() {
        errors.push(FieldError::invalid(&values_path, at(codes, "values").clone(), "must be ordered"));
    }
}

/// Rules for `successPolicy`.
pub(super) fn success(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let policy = at(spec, "successPolicy");
    if text(spec, "completionMode") != "Indexed" {
        errors.push(FieldError::invalid(path, policy.clone(), "requires indexed completion mode"));
        return;
    }
    let rules = items(policy, "rules");
    let path = path.child("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.push(FieldError::required(&path, detail));
    }
    at_most(rules.len(), 20, &path, errors);
    let completions = number(spec, "completions").unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        success_rule(rule, completions, &path.index(index), errors);
    }
}

fn success_rule(rule: &Value, completions: i64, path: &FieldPath, errors: &mut Errors) {
    let named = at(rule, "succeededIndexes").as_str();
    let count = number(rule, "succeededCount");
    if named.is_none() && count.is_none() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(FieldError::required(path, detail));
    }
    let mut total = 0;
    if let Some(text) = named {
        let path = path.child("succeededIndexes");
        if text.len() > 64 * 1024 {
            errors.push(FieldError::too_long(&path, 64 * 1024));
        }
        match indexes::count(text, completions) {
            Ok(count) => total = count,
            Err(error) => {
                let detail = format!("error parsing succeededIndexes: {error}");
                errors.push(FieldError::invalid(&path, text, detail));
            }
        }
    }
    let Some(count) = count else { return };
    let path = path.child("succeededCount");
    non_negative(at(rule, "succeededCount"), &path, errors);
    if count > completions {
        let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
        errors.push(FieldError::invalid(&path, count, detail));
    }
    if named.is_some() && count > total {
        let detail = format!(
            "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        );
        errors.push(FieldError::invalid(&path, count, detail));
    }
}
