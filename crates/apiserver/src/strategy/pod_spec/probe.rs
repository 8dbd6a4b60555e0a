//! Rules for what is run in or asked of a container: probes, and hooks of its life.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, items, number, text};
use super::super::rules::{Errors, named, non_negative_fields, one_of, within};

const MANY: &str = "may not specify more than 1 handler type";

/// Rules for `lifecycle` and the probes of a container that stays.
pub(super) fn lifecycle_and_probes(container: &Value, grace: Option<i64>, path: &FieldPath, errors: &mut Errors) {
    for hook in ["postStart", "preStop"] {
        let handler = at(at(container, "lifecycle"), hook);
        if !handler.is_null() {
            let kinds = ["exec", "httpGet", "tcpSocket", "sleep"];
            handler_rules(handler, &kinds, grace, &path.child("lifecycle").child(hook), errors);
        }
    }
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = at(container, key);
        if !probe.is_null() {
            probe_rules(probe, key, grace, &path.child(key), errors);
        }
    }
}

fn probe_rules(probe: &Value, key: &str, grace: Option<i64>, path: &FieldPath, errors: &mut Errors) {
    handler_rules(probe, &["exec", "httpGet", "tcpSocket", "grpc"], grace, path, errors);
    let counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
    non_negative_fields(probe, path, &counts, errors);
    let own_grace = at(probe, "terminationGracePeriodSeconds");
    let grace_path = path.child("terminationGracePeriodSeconds");
    if own_grace.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.push(FieldError::invalid(&grace_path, own_grace.clone(), "must be greater than 0"));
    }
    if key == "readinessProbe" {
        if !own_grace.is_null() {
            let detail = "must not be set for readinessProbes";
            errors.push(FieldError::invalid(&grace_path, own_grace.clone(), detail));
        }
    } else if number(probe, "successThreshold") != Some(1) {
        let threshold = at(probe, "successThreshold").clone();
        errors.push(FieldError::invalid(&path.child("successThreshold"), threshold, "must be 1"));
    }
}

fn handler_rules(handler: &Value, kinds: &[&str], grace: Option<i64>, path: &FieldPath, errors: &mut Errors) {
    let mut found = false;
    for key in kinds {
        let action = at(handler, key);
        if action.is_null() {
            continue;
        }
        let path = path.child(key);
        if found {
            errors.push(FieldError::forbidden(&path, MANY));
            continue;
        }
        found = true;
        match *key {
            "exec" if items(action, "command").is_empty() => {
                errors.push(FieldError::required(&path.child("command"), ""));
            }
            "httpGet" => http_get(action, &path, errors),
            "tcpSocket" | "grpc" => port(at(action, "port"), &path.child("port"), errors),
            "sleep" => sleep(action, grace, &path, errors),
            _ => {}
        }
    }
    if !found {
        errors.push(FieldError::required(path, "must specify a handler type"));
    }
}

fn http_get(action: &Value, path: &FieldPath, errors: &mut Errors) {
    port(at(action, "port"), &path.child("port"), errors);
    one_of(at(action, "scheme"), &path.child("scheme"), &["HTTP", "HTTPS"], errors);
    for header in items(action, "httpHeaders") {
        let name = text(header, "name");
        if name.is_empty() || !name.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric()) {
            let detail = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', \
                          regex used for validation is '[-A-Za-z0-9]+')";
            errors.push(FieldError::invalid(&path.child("httpHeaders"), name, detail));
        }
    }
}

fn sleep(action: &Value, grace: Option<i64>, path: &FieldPath, errors: &mut Errors) {
    let seconds = number(action, "seconds").unwrap_or_default();
    if let Some(grace) = grace
        && !(0..=grace).contains(&seconds)
    {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.push(FieldError::invalid(path, seconds, detail));
    }
}

/// A port by number or name.
pub(in crate::strategy) fn port(port: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Value::String(name) = port {
        return named(name, path, port_name(name), errors);
    }
    within(&Value::from(port.as_i64().unwrap_or_default()), 1..=65535, path, errors);
}

/// What is wrong with the name of a port (RFC 6335).
pub(in crate::strategy) fn port_name(name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    if name.len() > 15 {
        texts.push("must be no more than 15 characters".to_owned());
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
