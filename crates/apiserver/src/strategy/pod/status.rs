//! Rules for what a kubelet says of a pod.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::super::fields::{at, items, number, object_mut, object_or_new, set_default, text};
use super::super::rules::{Errors, ip_address, named};
use super::update;
use crate::metadata::names;

/// Carries over what a status doesn't say again, and what isn't its own.
pub(super) fn prepare(new: &mut Value, old: &Value) {
    let Some(new) = new.as_object_mut() else { return };
    if let Some(status) = object_or_new(new, "status") {
        for key in ["qosClass", "observedGeneration", "resourceClaimStatuses", "extendedResourceClaimStatus"] {
            let before = at(at(old, "status"), key);
            if !before.is_null() {
                set_default(status, key, before.clone());
            }
        }
        let mut generations: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for condition in items(old, "status.conditions").iter().rev() {
            let generation = number(condition, "observedGeneration").unwrap_or_default();
            generations.entry(text(condition, "type")).or_default().push(generation);
        }
        for condition in super::super::fields::objects_mut(status, "conditions") {
            let kind = condition.get("type").and_then(Value::as_str).unwrap_or_default();
            let before = generations.get_mut(kind).and_then(Vec::pop).unwrap_or_default();
            if before != 0 {
                set_default(condition, "observedGeneration", before);
            }
        }
    }
    // Kubelets must not be able to cut a pod off from its owners.
    if let Some(metadata) = object_mut(new, "metadata") {
        match at(old, "metadata").get("ownerReferences") {
            Some(owners) => metadata.insert("ownerReferences".to_owned(), owners.clone()),
            None => metadata.remove("ownerReferences"),
        };
    }
}

/// Rules for a changed status.
pub(super) fn validate(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    update::annotations(new, old, &mut errors);
    let path = FieldPath::new("status");
    let (spec, before) = (at(old, "spec"), at(old, "status"));
    let status = at(new, "status");
    conditions(items(status, "conditions"), &path.child("conditions"), &mut errors);
    nominated_node(status, before, spec, &path.child("nominatedNodeName"), &mut errors);
    observed_generation(status, &path, &mut errors);
    if at(status, "qosClass") != at(before, "qosClass") {
        let class = at(status, "qosClass").clone();
        errors.push(FieldError::invalid(&path.child("qosClass"), class, "field is immutable"));
    }
    for (list, containers) in [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")] {
        let could_restart = |name: &str, code: i64| restarts(spec, containers, name, code);
        transitions(status, before, list, could_restart, &path.child(list), &mut errors);
    }
    let list = "ephemeralContainerStatuses";
    transitions(status, before, list, |_, _| false, &path.child(list), &mut errors);
    addresses(status, before, &path, &mut errors);
    errors
}

fn observed_generation(object: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Some(generation) = number(object, "observedGeneration").filter(|generation| *generation < 0) {
        let detail = "must be a non-negative integer";
        errors.push(FieldError::invalid(&path.child("observedGeneration"), generation, detail));
    }
}

fn conditions(conditions: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        observed_generation(condition, &path, errors);
        let kind = text(condition, "type");
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            named(kind, &path.child("Type"), names::qualified_name(kind), errors);
        }
    }
}

fn nominated_node(status: &Value, before: &Value, spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let node = text(status, "nominatedNodeName");
    if node.is_empty() || node == text(before, "nominatedNodeName") {
        return;
    }
    named(node, path, names::dns_subdomain(node, false), errors);
    if !text(spec, "nodeName").is_empty() {
        errors.push(FieldError::forbidden(path, "may not be set on pods that are already bound to a node"));
    }
}

/// Whether a container that ended with a code is started again.
fn restarts(spec: &Value, list: &str, name: &str, code: i64) -> bool {
    let container = items(spec, list).iter().find(|container| text(container, "name") == name);
    let Some(container) = container else { return false };
    for rule in items(container, "restartPolicyRules") {
        let listed = items(rule, "exitCodes.values").contains(&json!(code));
        if listed == (text(rule, "exitCodes.operator") == "In") {
            return true;
        }
    }
    let own = text(container, "restartPolicy");
    match if own.is_empty() { text(spec, "restartPolicy") } else { own } {
        "Always" => true,
        "OnFailure" => code != 0,
        _ => false,
    }
}

/// What ended for good stays ended.
fn transitions(
    status: &Value,
    before: &Value,
    list: &str,
    could_restart: impl Fn(&str, i64) -> bool,
    path: &FieldPath,
    errors: &mut Errors,
) {
    for (index, before) in items(before, list).iter().enumerate() {
        let ended = at(before, "state.terminated");
        let name = text(before, "name");
        let now = items(status, list).iter().find(|now| text(now, "name") == name);
        if ended.is_null() || now.is_none_or(|now| !at(now, "state.terminated").is_null()) {
            continue;
        }
        if !could_restart(name, number(ended, "exitCode").unwrap_or_default()) {
            let detail = "may not be transitioned to non-terminated state";
            errors.push(FieldError::forbidden(&path.index(index).child("state"), detail));
        }
    }
}

fn addresses(status: &Value, before: &Value, path: &FieldPath, errors: &mut Errors) {
    for (one, list) in [("podIP", "podIPs"), ("hostIP", "hostIPs")] {
        let path = path.child(list);
        let first = items(status, list).first().map_or("", |address| text(address, "ip"));
        if !items(status, list).is_empty() && first != text(status, one) {
            let detail = format!("must be equal to `{one}`");
            errors.push(FieldError::invalid(&path.index(0).child("ip"), first, detail));
        }
        let known = items(before, list);
        for (index, address) in items(status, list).iter().enumerate().filter(|(_, address)| !known.contains(address)) {
            ip_address(text(address, "ip"), &path.index(index), errors);
        }
        let all: Vec<&str> = items(status, list).iter().map(|address| text(address, "ip")).collect();
        let of_six = all.iter().filter(|address| address.contains(':')).count();
        if all.len() > 2 || all.len() == 2 && of_six != 1 {
            let detail = "may specify no more than one IP for each IP family";
            errors.push(FieldError::invalid(&path, at(status, list).clone(), detail));
        }
    }
}
