//! Rules for when and how pods are scheduled: tolerations, spreading, gates.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, is_given, number, text};
use super::super::rules::{Errors, label_selector, named, one_of, one_of_given, positive};
use super::affinity::label_keys;
use crate::metadata::names;

/// Rules for `tolerations`.
pub(in crate::strategy) fn tolerations(tolerations: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = path.index(index);
        let (key, value) = (text(toleration, "key"), text(toleration, "value"));
        let (operator, effect) = (text(toleration, "operator"), text(toleration, "effect"));
        if !key.is_empty() {
            named(key, &path.child("key"), names::qualified_name(key), errors);
        } else if operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(FieldError::invalid(&path.child("operator"), operator, detail));
        }
        if is_given(toleration, "tolerationSeconds") && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid(&path.child("effect"), effect, detail));
        }
        let operator_path = path.child("operator");
        match operator {
            "" | "Equal" => {
                let texts = names::label_value(value);
                if !texts.is_empty() {
                    errors.push(FieldError::invalid(&operator_path, value, texts.join(";")));
                }
            }
            "Exists" if !value.is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid(&operator_path, value, detail));
            }
            "Exists" => {}
            "Lt" | "Gt" => {
                let supported = ["Equal", "Exists", "Lt", "Gt"];
                errors.push(FieldError::not_supported(&operator_path, operator, &supported));
            }
            _ => errors.push(FieldError::not_supported(&operator_path, operator, &["Equal", "Exists"])),
        }
        if !effect.is_empty() {
            let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            one_of(at(toleration, "effect"), &path.child("effect"), &effects, errors);
        }
    }
}

/// Rules for `topologySpreadConstraints`.
pub(super) fn spread(constraints: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.index(index);
        let (key, action) = (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
        positive(number(constraint, "maxSkew").unwrap_or_default(), &path.child("maxSkew"), errors);
        if key.is_empty() {
            errors.push(FieldError::required(&path.child("topologyKey"), "can not be empty"));
        }
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        one_of(at(constraint, "whenUnsatisfiable"), &path.child("whenUnsatisfiable"), &actions, errors);
        let same = |other: &Value| text(other, "topologyKey") == key && text(other, "whenUnsatisfiable") == action;
        if constraints.iter().skip(index + 1).any(same) {
            let path = path.child("{topologyKey, whenUnsatisfiable}");
            errors.push(FieldError::duplicate(&path, format!("{{{key}, {action}}}")));
        }
        if let Some(least) = number(constraint, "minDomains") {
            positive(least, &path.child("minDomains"), errors);
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                errors.push(FieldError::invalid(&path.child("minDomains"), least, detail));
            }
        }
        for key in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            one_of_given(at(constraint, key), &path.child(key), &["Honor", "Ignore"], errors);
        }
        label_keys(constraint, &path, errors);
        label_selector(at(constraint, "labelSelector"), &path.child("labelSelector"), errors);
    }
}

/// Rules for `readinessGates`.
pub(super) fn readiness_gates(gates: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, gate) in gates.iter().enumerate() {
        let condition = text(gate, "conditionType");
        named(condition, &path.index(index).child("conditionType"), names::qualified_name(condition), errors);
    }
}

/// Rules for `schedulingGates`.
pub(super) fn scheduling_gates(gates: &[Value], path: &FieldPath, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for (index, gate) in gates.iter().enumerate() {
        let path = path.index(index);
        let name = text(gate, "name");
        named(name, &path, names::qualified_name(name), errors);
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&path, name));
        }
    }
}
