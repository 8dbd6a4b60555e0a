//! `v1` Node.

use std::collections::{BTreeMap, BTreeSet};

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::cidr::Cidr;
use super::fields::{Fields, at, indexed, items, object_or_new, text};
use super::pod_spec::quantity;
use super::rules::{Errors, named, one_of};
use super::{Strategy, StrategyContext};
use crate::metadata::names;

/// What is special about nodes.
#[derive(Debug)]
pub(super) struct Node;

/// `NodeSpec`: the first block of addresses stands in a field of its own too, which counts where the two differ.
pub(super) fn defaults(spec: &mut Fields) {
    let first = spec.get("podCIDR").and_then(Value::as_str).filter(|first| !first.is_empty()).map(str::to_owned);
    let listed = spec.get("podCIDRs").and_then(|listed| listed.get(0)).and_then(Value::as_str).map(str::to_owned);
    match (first, listed) {
        (Some(first), listed) if listed.as_ref() != Some(&first) => {
            spec.insert("podCIDRs".to_owned(), json!([first]));
        }
        (None, Some(listed)) => {
            spec.insert("podCIDR".to_owned(), json!(listed));
        }
        _ => {}
    }
}

impl Strategy for Node {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Node")
    }

    /// A new node takes no pods until its kubelet says that it is ready.
    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
        let Some(node) = object.as_object_mut() else { return };
        if let Some(spec) = object_or_new(node, "spec") {
            let taints = spec.entry("taints").or_insert_with(|| json!([]));
            if let Some(list) = taints.as_array_mut()
                && !list.contains(&taint)
            {
                list.push(taint);
            }
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        taints(object, &mut errors);
        amounts(object, &mut errors);
        pod_cidrs(object, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let mut errors = Errors::new();
        amounts(new, &mut errors);
        let mut seen: Vec<&Value> = Vec::new();
        for (path, address) in indexed(new, "status.addresses") {
            if seen.contains(&address) {
                errors.push(FieldError::duplicate(&path, address.clone()));
            }
            seen.push(address);
        }
        let changed = |key: &str| !at(old, key).is_null() && at(old, key) != at(new, key);
        if changed("spec.podCIDRs") {
            let detail = "node updates may not change podCIDR except from \"\" to valid";
            errors.push(FieldError::forbidden(&FieldPath::new("spec.podCIDRs"), detail));
        }
        if changed("spec.providerID") {
            let how = if text(new, "spec.providerID").is_empty() { "cleared" } else { "modified" };
            let detail = format!("field cannot be {how} once set");
            errors.push(FieldError::invalid(&FieldPath::new("spec.providerID"), Value::Null, detail));
        }
        taints(new, &mut errors);
        if at(new, "spec.externalID") != at(old, "spec.externalID") {
            errors.push(FieldError::forbidden(&FieldPath::new("spec.externalID"), "may not be updated"));
        }
        errors
    }

    /// The status of a node may be given at once.
    fn drops_status(&self) -> bool {
        false
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["spec.unschedulable"]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        let unschedulable = at(object, "spec.unschedulable").as_bool().unwrap_or_default();
        [("spec.unschedulable".to_owned(), unschedulable.to_string())].into()
    }
}

/// The reference looks for taints in the metadata when it tells what is wrong with them.
fn taints(node: &Value, errors: &mut Errors) {
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let mut seen = BTreeSet::new();
    for (index, taint) in items(node, "spec.taints").iter().enumerate() {
        let path = FieldPath::new("metadata.taints").index(index);
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        named(key, &path.child("key"), names::qualified_name(key), errors);
        let wrong = names::label_value(value);
        if !wrong.is_empty() {
            errors.push(FieldError::invalid(&path.child("value"), value, wrong.join(";")));
        }
        if effect.is_empty() {
            errors.push(FieldError::required(&path.child("effect"), ""));
        } else {
            one_of(at(taint, "effect"), &path.child("effect"), &effects, errors);
        }
        if !seen.insert((key, effect)) {
            let mut error = FieldError::duplicate(&path, Value::Null);
            error.value = None;
            error.detail = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{}}}: taints must be unique by key and effect pair",
                json!(key),
                json!(value),
                json!(effect),
                at(taint, "timeAdded"),
            );
            errors.push(error);
        }
    }
}

fn amounts(node: &Value, errors: &mut Errors) {
    for key in ["capacity", "allocatable"] {
        let path = FieldPath::new("status").child(key);
        for (name, amount) in at(node, "status").get(key).and_then(Value::as_object).into_iter().flatten() {
            quantity(name, amount, &path.child(name), errors);
        }
    }
}

fn pod_cidrs(node: &Value, errors: &mut Errors) {
    let path = FieldPath::new("spec.podCIDRs");
    let listed = items(node, "spec.podCIDRs");
    let blocks = listed.iter().filter_map(Value::as_str).enumerate();
    let read: Vec<Cidr> = blocks.filter_map(|(index, text)| Cidr::checked(text, &path.index(index), errors)).collect();
    let families: BTreeSet<bool> = read.iter().map(|block| block.is_ipv4()).collect();
    if read.len() == listed.len() && listed.len() > families.len() {
        let detail = "may specify no more than one CIDR for each IP family";
        errors.push(FieldError::invalid(&path, at(node, "spec.podCIDRs").clone(), detail));
    }
}
