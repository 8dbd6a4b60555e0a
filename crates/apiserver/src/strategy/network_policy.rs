//! `networking.k8s.io/v1` NetworkPolicy.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::cidr::Cidr;
use super::fields::{Fields, at, indexed, items, number, text};
use super::pod_spec::port as number_or_name;
use super::rules::{Errors, label_selector, one_of, one_of_given};

const TYPES: [&str; 2] = ["Ingress", "Egress"];

/// `NetworkPolicySpec`: a policy is at least about what comes in.
pub(super) fn defaults(spec: &mut Fields) {
    let given = |key: &str| spec.get(key).and_then(Value::as_array).is_some_and(|items| !items.is_empty());
    if !given("policyTypes") {
        let types = if given("egress") { json!(TYPES) } else { json!(["Ingress"]) };
        spec.insert("policyTypes".to_owned(), types);
    }
}

/// Rules for a policy.
pub(super) fn rules(policy: &Value, _old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let spec = at(policy, "spec");
    let path = FieldPath::new("spec");
    label_selector(at(spec, "podSelector"), &path.child("podSelector"), &mut errors);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (path, rule) in indexed(policy, &format!("spec.{direction}")) {
            for (index, one) in items(rule, "ports").iter().enumerate() {
                port(one, &path.child("ports").index(index), &mut errors);
            }
            for (index, one) in items(rule, peers).iter().enumerate() {
                peer(one, &path.child(peers).index(index), &mut errors);
            }
        }
    }
    let types = items(spec, "policyTypes");
    let path = path.child("policyTypes");
    if types.len() > TYPES.len() {
        // The reference shows where the list is in its memory.
        let detail = "may not specify more than two policyTypes";
        errors.push(FieldError::invalid(&path, at(spec, "policyTypes").clone(), detail));
        return errors;
    }
    for (index, name) in types.iter().enumerate() {
        one_of(name, &path.index(index), &TYPES, &mut errors);
    }
    errors
}

fn port(rule: &Value, path: &FieldPath, errors: &mut Errors) {
    one_of_given(at(rule, "protocol"), &path.child("protocol"), &["TCP", "UDP", "SCTP"], errors);
    let port = at(rule, "port");
    let Some(last) = number(rule, "endPort") else {
        if !port.is_null() {
            number_or_name(port, &path.child("port"), errors);
        }
        return;
    };
    let path_of_last = path.child("endPort");
    match port {
        Value::Null => {
            errors.push(FieldError::invalid(&path_of_last, last, "may not be specified when `port` is not specified"));
        }
        Value::Number(first) => {
            number_or_name(port, &path.child("port"), errors);
            if first.as_i64().is_some_and(|first| last < first) {
                errors.push(FieldError::invalid(&path_of_last, last, "must be greater than or equal to `port`"));
            }
            number_or_name(at(rule, "endPort"), &path_of_last, errors);
        }
        name => {
            errors.push(FieldError::invalid(&path_of_last, last, "may not be specified when `port` is non-numeric"));
            number_or_name(name, &path.child("port"), errors);
        }
    }
}

fn peer(peer: &Value, path: &FieldPath, errors: &mut Errors) {
    let selectors = ["podSelector", "namespaceSelector"].into_iter().filter(|key| !at(peer, key).is_null());
    let mut count = 0;
    for key in selectors {
        count += 1;
        label_selector(at(peer, key), &path.child(key), errors);
    }
    let block = at(peer, "ipBlock");
    if !block.is_null() {
        ip_block(block, &path.child("ipBlock"), errors);
        if count > 0 {
            errors.push(FieldError::forbidden(path, "may not specify both ipBlock and another peer"));
        }
    } else if count == 0 {
        errors.push(FieldError::required(path, "must specify a peer"));
    }
}

fn ip_block(block: &Value, path: &FieldPath, errors: &mut Errors) {
    let cidr = text(block, "cidr");
    if cidr.is_empty() {
        errors.push(FieldError::required(&path.child("cidr"), ""));
        return;
    }
    let Some(whole) = Cidr::checked(cidr, &path.child("cidr"), errors) else { return };
    for (index, except) in items(block, "except").iter().filter_map(Value::as_str).enumerate() {
        let path = path.child("except").index(index);
        if Cidr::checked(except, &path, errors).is_some_and(|except| !whole.exceeds(except)) {
            errors.push(FieldError::invalid(&path, except, "must be a strict subset of `cidr`"));
        }
    }
}
