//! Rules for where pods want to be: by nodes and by other pods.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{Fields, at, items, number, text};
use super::super::rules::{Errors, label_selector, named};
use crate::metadata::names;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Rules for `Affinity`.
pub(super) fn affinity(affinity: &Value, path: &FieldPath, errors: &mut Errors) {
    let nodes = at(affinity, "nodeAffinity");
    let nodes_path = path.child("nodeAffinity");
    let required = at(nodes, REQUIRED);
    if !required.is_null() {
        node_selector(required, &nodes_path.child(REQUIRED), errors);
    }
    for (index, term) in items(nodes, PREFERRED).iter().enumerate() {
        let path = nodes_path.child(PREFERRED).index(index);
        weight(term, &path, errors);
        node_selector_term(at(term, "preference"), false, &path.child("preference"), errors);
    }
    for key in ["podAffinity", "podAntiAffinity"] {
        let pods = at(affinity, key);
        let path = path.child(key);
        for (index, term) in items(pods, REQUIRED).iter().enumerate() {
            pod_term(term, &path.child(REQUIRED).index(index), errors);
        }
        for (index, term) in items(pods, PREFERRED).iter().enumerate() {
            let path = path.child(PREFERRED).index(index);
            weight(term, &path, errors);
            pod_term(at(term, "podAffinityTerm"), &path.child("podAffinityTerm"), errors);
        }
    }
}

fn weight(term: &Value, path: &FieldPath, errors: &mut Errors) {
    let weight = number(term, "weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        errors.push(FieldError::invalid(&path.child("weight"), weight, "must be in the range 1-100"));
    }
}

/// Rules for `NodeSelector`.
pub(in crate::strategy) fn node_selector(selector: &Value, path: &FieldPath, errors: &mut Errors) {
    let path = path.child("nodeSelectorTerms");
    let terms = items(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        errors.push(FieldError::required(&path, "must have at least one node selector term"));
    }
    for (index, term) in terms.iter().enumerate() {
        node_selector_term(term, true, &path.index(index), errors);
    }
}

fn node_selector_term(term: &Value, checks_values: bool, path: &FieldPath, errors: &mut Errors) {
    for (index, requirement) in items(term, "matchExpressions").iter().enumerate() {
        node_labels(requirement, checks_values, &path.child("matchExpressions").index(index), errors);
    }
    for (index, requirement) in items(term, "matchFields").iter().enumerate() {
        node_fields(requirement, &path.child("matchFields").index(index), errors);
    }
}

fn node_labels(requirement: &Value, checks_values: bool, path: &FieldPath, errors: &mut Errors) {
    let values = items(requirement, "values");
    let values_path = path.child("values");
    match text(requirement, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&values_path, detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&values_path, detail));
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.push(FieldError::required(&values_path, detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        operator => {
            errors.push(FieldError::invalid(&path.child("operator"), operator, "not a valid selector operator"));
        }
    }
    let key = text(requirement, "key");
    named(key, &path.child("key"), names::qualified_name(key), errors);
    if checks_values {
        for (index, value) in values.iter().enumerate() {
            let value = value.as_str().unwrap_or_default();
            named(value, &values_path.index(index), names::label_value(value), errors);
        }
    }
}

fn node_fields(requirement: &Value, path: &FieldPath, errors: &mut Errors) {
    let values = items(requirement, "values");
    match text(requirement, "operator") {
        "In" | "NotIn" if values.len() == 1 => {}
        "In" | "NotIn" => {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.push(FieldError::required(&path.child("values"), detail));
        }
        operator => {
            errors.push(FieldError::invalid(&path.child("operator"), operator, "not a valid selector operator"));
        }
    }
    let key = text(requirement, "key");
    if key != "metadata.name" {
        errors.push(FieldError::invalid(&path.child("key"), key, "not a valid field selector key"));
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        named(value, &path.child("values").index(index), names::dns_subdomain(value, false), errors);
    }
}

fn pod_term(term: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["labelSelector", "namespaceSelector"] {
        label_selector(at(term, key), &path.child(key), errors);
    }
    for namespace in items(term, "namespaces") {
        let namespace = namespace.as_str().unwrap_or_default();
        named(namespace, &path.child("namespace"), names::dns_label(namespace, false), errors);
    }
    label_keys(term, path, errors);
    let key = text(term, "topologyKey");
    let path = path.child("topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(&path, "can not be empty"));
    }
    named(key, &path, names::qualified_name(key), errors);
}

/// Rules for `matchLabelKeys` and `mismatchLabelKeys`, which add to a selector.
pub(super) fn label_keys(term: &Value, path: &FieldPath, errors: &mut Errors) {
    let selector = at(term, "labelSelector");
    let matching = items(term, "matchLabelKeys");
    let mismatching = items(term, "mismatchLabelKeys");
    for (key, keys) in [("matchLabelKeys", matching), ("mismatchLabelKeys", mismatching)] {
        let path = path.child(key);
        if !keys.is_empty() && selector.is_null() {
            errors.push(FieldError::forbidden(&path, "must not be specified when labelSelector is not set"));
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            let key = key.as_str().unwrap_or_default();
            named(key, &path.index(index), names::qualified_name(key), errors);
        }
    }
    let mut selected: BTreeSet<&str> =
        at(selector, "matchLabels").as_object().into_iter().flat_map(Fields::keys).map(String::as_str).collect();
    for expression in items(selector, "matchExpressions") {
        let key = text(expression, "key");
        if let Some(index) = matching.iter().rposition(|matching| matching == key)
            && selected.contains(key)
        {
            let detail = "exists in both matchLabelKeys and labelSelector";
            errors.push(FieldError::invalid(&path.index(index), key, detail));
        }
        selected.insert(key);
    }
    for (index, key) in matching.iter().enumerate().filter(|(_, key)| mismatching.contains(key)) {
        let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
        errors.push(FieldError::invalid(&path.child("matchLabelKeys").index(index), key.clone(), detail));
    }
}
