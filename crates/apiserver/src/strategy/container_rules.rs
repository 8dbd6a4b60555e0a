//! Rules for containers.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, is_given, items, number, text};
use super::pod_template_rules::Volumes;
use super::quantity::Quantity;
use super::rules::{Errors, named, non_negative_fields, one_of};
use crate::metadata::names;

const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

/// What containers of one pod must agree on.
pub(super) struct Containers<'a> {
    /// The volumes that can be mounted.
    pub(super) volumes: Volumes<'a>,
    /// The names that are taken.
    pub(super) names: BTreeSet<String>,
}

/// Rules for `containers`.
pub(super) fn containers(list: &[Value], path: &FieldPath, pod: &mut Containers<'_>, errors: &mut Errors) {
    if list.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    for (index, container) in list.iter().enumerate() {
        let path = path.index(index);
        common(container, &path, pod, errors);
        unique_name(container, &path, pod, errors);
        lifecycle_and_probes(container, &path, errors);
    }
}

/// Rules for `initContainers`.
pub(super) fn init_containers(list: &[Value], path: &FieldPath, pod: &mut Containers<'_>, errors: &mut Errors) {
    for (index, container) in list.iter().enumerate() {
        let path = path.index(index);
        common(container, &path, pod, errors);
        unique_name(container, &path, pod, errors);
        if text(container, "restartPolicy") == "Always" {
            lifecycle_and_probes(container, &path, errors);
            continue;
        }
        for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if !at(container, key).is_null() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.push(FieldError::forbidden(&path.child(key), detail));
            }
        }
    }
}

fn unique_name(container: &Value, path: &FieldPath, pod: &mut Containers<'_>, errors: &mut Errors) {
    let name = text(container, "name");
    if !pod.names.insert(name.to_owned()) {
        errors.push(FieldError::duplicate(&path.child("name"), name));
    }
}

fn common(container: &Value, path: &FieldPath, pod: &Containers<'_>, errors: &mut Errors) {
    let name = text(container, "name");
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    } else {
        named(name, &path.child("name"), names::dns_label(name, false), errors);
    }
    if text(container, "image").is_empty() {
        errors.push(FieldError::required(&path.child("image"), ""));
    }
    let policies = ["File", "FallbackToLogsOnError"];
    one_of(at(container, "terminationMessagePolicy"), &path.child("terminationMessagePolicy"), &policies, errors);
    ports(items(container, "ports"), &path.child("ports"), errors);
    environment(items(container, "env"), &path.child("env"), errors);
    mounts(items(container, "volumeMounts"), &path.child("volumeMounts"), &pod.volumes, errors);
    let policies = ["Always", "IfNotPresent", "Never"];
    one_of(at(container, "imagePullPolicy"), &path.child("imagePullPolicy"), &policies, errors);
    resources(at(container, "resources"), &path.child("resources"), errors);
}

fn ports(list: &[Value], path: &FieldPath, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, port) in list.iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let texts = port_name(name);
            if texts.is_empty() && !taken.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), name));
            }
            named(name, &path.child("name"), texts, errors);
        }
        match number(port, "containerPort").unwrap_or_default() {
            0 => errors.push(FieldError::required(&path.child("containerPort"), "")),
            1..=65535 => {}
            other => errors.push(FieldError::invalid(&path.child("containerPort"), other, PORT_RANGE)),
        }
        if !(0..=65535).contains(&number(port, "hostPort").unwrap_or_default()) {
            errors.push(FieldError::invalid(&path.child("hostPort"), at(port, "hostPort").clone(), PORT_RANGE));
        }
        one_of(at(port, "protocol"), &path.child("protocol"), &["SCTP", "TCP", "UDP"], errors);
    }
}

fn environment(list: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, variable) in list.iter().enumerate() {
        let path = path.index(index);
        let name = text(variable, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else if let Some(detail) = bad_variable(name) {
            errors.push(FieldError::invalid(&path.child("name"), name, detail));
        }
        let from = at(variable, "valueFrom");
        if from.is_null() {
            continue;
        }
        let path = path.child("valueFrom");
        for source in ["configMapKeyRef", "secretKeyRef"] {
            for key in ["name", "key"] {
                if !at(from, source).is_null() && text(at(from, source), key).is_empty() {
                    errors.push(FieldError::required(&path.child(source).child(key), ""));
                }
            }
        }
        let sources = from.as_object().map_or(0, serde_json::Map::len);
        if sources == 0 {
            let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                          `fileKeyRef`";
            errors.push(FieldError::invalid(&path, "", detail));
        } else if is_given(variable, "value") {
            errors.push(FieldError::invalid(&path, "", "may not be specified when `value` is not empty"));
        } else if sources > 1 {
            errors.push(FieldError::invalid(&path, "", "may not have more than one field specified at a time"));
        }
    }
}

/// Names of variables may hold any printable ASCII but the sign that ends them.
fn bad_variable(name: &str) -> Option<&'static str> {
    let printable = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
    (!printable)
        .then_some("a valid environment variable name must consist only of printable ASCII characters other than '='")
}

fn mounts(list: &[Value], path: &FieldPath, volumes: &Volumes<'_>, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, mount) in list.iter().enumerate() {
        let path = path.index(index);
        let name = text(mount, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        if !volumes.contains_key(name) {
            errors.push(FieldError::not_found(&path.child("name"), name));
        }
        let place = text(mount, "mountPath");
        if place.is_empty() {
            errors.push(FieldError::required(&path.child("mountPath"), ""));
        }
        if !taken.insert(place) {
            errors.push(FieldError::invalid(&path.child("mountPath"), place, "must be unique"));
        }
    }
}

/// Rules for `ResourceRequirements`.
pub(super) fn resources(resources: &Value, path: &FieldPath, errors: &mut Errors) {
    let limits = at(resources, "limits");
    for (name, limit) in limits.as_object().into_iter().flatten() {
        amount(limit, &path.child("limits").key(name), errors);
    }
    for (name, request) in at(resources, "requests").as_object().into_iter().flatten() {
        let path = path.child("requests");
        amount(request, &path.key(name), errors);
        let limit = limits.get(name).and_then(Value::as_str);
        if let Some(text) = limit
            && let (Some(limit), Some(wanted)) = (Quantity::parse(text), request.as_str().and_then(Quantity::parse))
            && wanted.nanos() > limit.nanos()
        {
            let detail = format!("must be less than or equal to {name} limit of {text}");
            errors.push(FieldError::invalid(&path, request.clone(), detail));
        }
    }
}

fn amount(amount: &Value, path: &FieldPath, errors: &mut Errors) {
    if amount.as_str().and_then(Quantity::parse).is_some_and(Quantity::is_negative) {
        errors.push(FieldError::invalid(path, amount.clone(), "must be greater than or equal to 0"));
    }
}

fn lifecycle_and_probes(container: &Value, path: &FieldPath, errors: &mut Errors) {
    for hook in ["postStart", "preStop"] {
        let handler = at(at(container, "lifecycle"), hook);
        if !handler.is_null() {
            handler_rules(handler, &path.child("lifecycle").child(hook), errors);
        }
    }
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = at(container, key);
        if probe.is_null() {
            continue;
        }
        let path = path.child(key);
        handler_rules(probe, &path, errors);
        let counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
        non_negative_fields(probe, &path, &counts, errors);
        if key != "readinessProbe" && number(probe, "successThreshold").is_some_and(|threshold| threshold != 1) {
            let threshold = at(probe, "successThreshold").clone();
            errors.push(FieldError::invalid(&path.child("successThreshold"), threshold, "must be 1"));
        }
    }
}

fn handler_rules(handler: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut known = 0;
    for key in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = at(handler, key);
        if action.is_null() {
            continue;
        }
        known += 1;
        let path = path.child(key);
        if known > 1 {
            errors.push(FieldError::forbidden(&path, "may not specify more than 1 handler type"));
        } else if key == "exec" && items(action, "command").is_empty() {
            errors.push(FieldError::required(&path.child("command"), ""));
        } else if matches!(key, "httpGet" | "tcpSocket") {
            port(at(action, "port"), &path.child("port"), errors);
        }
    }
    if known == 0 {
        errors.push(FieldError::required(path, "must specify a handler type"));
    }
}

/// A port by number or name.
pub(super) fn port(port: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Value::String(name) = port {
        return named(name, path, port_name(name), errors);
    }
    let number = port.as_i64().unwrap_or_default();
    if !(1..=65535).contains(&number) {
        errors.push(FieldError::invalid(path, number, PORT_RANGE));
    }
}

/// What is wrong with the name of a port (RFC 6335).
pub(super) fn port_name(name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    if name.len() > 15 {
        texts.push("must be no more than 15 bytes".to_owned());
    }
    let allowed = |byte: u8| byte == b'-' || byte.is_ascii_digit() || byte.is_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(allowed) {
        texts.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        texts.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        texts.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        texts.push("must not begin or end with a hyphen".to_owned());
    }
    texts
}
