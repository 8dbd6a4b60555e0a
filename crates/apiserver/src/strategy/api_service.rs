//! `apiregistration.k8s.io/v1` APIService.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, is_given, number, text};
use super::rules::{Errors, named};
use crate::metadata::names;

/// Rules for what is served elsewhere, or here.
pub(super) fn rules(new: &Value, _old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let spec = at(new, "spec");
    let path = FieldPath::new("spec");
    let (group, version) = (text(spec, "group"), text(spec, "version"));
    let name = text(new, "metadata.name");
    let expected = format!("{version}.{group}");
    if name != expected {
        let detail = format!("must be `spec.version+\".\"+spec.group`: {expected:?}");
        errors.push(FieldError::invalid(&FieldPath::new("metadata.name"), name, detail));
    }
    if group.is_empty() && version != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        errors.push(FieldError::required(&path.child("group"), detail));
    }
    if !group.is_empty() {
        named(group, &path.child("group"), names::dns_subdomain(group, false), &mut errors);
    }
    named(version, &path.child("version"), names::dns_1035_label(version, false), &mut errors);
    for (key, most) in [("groupPriorityMinimum", 20000), ("versionPriority", 1000)] {
        let value = number(spec, key).unwrap_or_default();
        if !(1..=most).contains(&value) {
            let detail = format!("must be positive and less than {most}");
            errors.push(FieldError::invalid(&path.child(key), value, detail));
        }
    }
    service(spec, &path, &mut errors);
    errors
}

fn service(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let insecure = at(spec, "insecureSkipTLSVerify") == &Value::Bool(true);
    let insecure_path = path.child("insecureSkipTLSVerify");
    if at(spec, "service").is_null() {
        if is_given(spec, "caBundle") {
            let detail = "local APIServices may not have a caBundle";
            errors.push(FieldError::invalid(&path.child("caBundle"), at(spec, "caBundle").clone(), detail));
        }
        if insecure {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(FieldError::invalid(&insecure_path, true, detail));
        }
        return;
    }
    for key in ["namespace", "name"] {
        if text(at(spec, "service"), key).is_empty() {
            errors.push(FieldError::required(&path.child("service").child(key), ""));
        }
    }
    if let Some(port) = number(spec, "service.port").filter(|port| !(1..=65535).contains(port)) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&path.child("service").child("port"), port, detail));
    }
    if insecure && is_given(spec, "caBundle") {
        errors.push(FieldError::invalid(&insecure_path, true, "may not be true if caBundle is present"));
    }
}
