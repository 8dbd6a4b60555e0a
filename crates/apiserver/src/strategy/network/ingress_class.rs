use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use crate::metadata::names;
use crate::strategy::fields::{at, is_given, text};
use crate::strategy::rules::{Errors, immutable, named, one_of};

const LONGEST_CONTROLLER: usize = 250;

/// Rules for `networking.k8s.io/v1` IngressClass.
pub(in crate::strategy) fn ingress_class(new: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let path = FieldPath::new("spec");
    if let Some(old) = old {
        immutable(new, old, "spec.controller", &mut errors);
    } else {
        controller(text(new, "spec.controller"), &path.child("controller"), &mut errors);
    }
    let reference = at(new, "spec.parameters");
    if reference.is_object() {
        parameters(reference, &path.child("parameters"), &mut errors);
    }
    errors
}

fn controller(controller: &str, path: &FieldPath, errors: &mut Errors) {
    if controller.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    if controller.len() > LONGEST_CONTROLLER {
        errors.push(FieldError::too_long(path, 250));
    }
    if let Some((domain, _)) = controller.split_once('/') {
        named(controller, path, names::dns_subdomain(domain, false), errors);
    } else {
        let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        errors.push(FieldError::invalid(path, controller, detail));
    }
}

fn parameters(reference: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Some(group) = at(reference, "apiGroup").as_str() {
        named(group, &path.child("apiGroup"), names::dns_subdomain(group, false), errors);
    }
    for key in ["kind", "name"] {
        let value = text(reference, key);
        if value.is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
        }
        for part in ["/", "%"].into_iter().filter(|part| value.contains(part)) {
            errors.push(FieldError::invalid(&path.child(key), value, format!("may not contain '{part}'")));
        }
    }
    one_of(at(reference, "scope"), &path.child("scope"), &["Cluster", "Namespace"], errors);
    let namespace = path.child("namespace");
    match (text(reference, "scope"), is_given(reference, "namespace")) {
        ("Namespace", false) => {
            errors.push(FieldError::required(&namespace, "`parameters.scope` is set to 'Namespace'"));
        }
        ("Cluster", true) => {
            errors.push(FieldError::forbidden(&namespace, "`parameters.scope` is set to 'Cluster'"));
        }
        _ => {}
    }
}
