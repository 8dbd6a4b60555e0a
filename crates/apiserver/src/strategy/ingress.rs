//! `networking.k8s.io/v1` Ingress.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Strategy;
use super::fields::{at, is_given, items, number, text};
use super::pod_spec::port_name;
use super::rules::{Errors, named};
use crate::metadata::names;

/// What is special about ingresses.
#[derive(Debug)]
pub(super) struct Ingress;

impl Strategy for Ingress {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.networking.v1.Ingress")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        let default = at(spec, "defaultBackend");
        let listed = items(spec, "rules");
        if listed.is_empty() && default.is_null() {
            let detail = "either `defaultBackend` or `rules` must be specified";
            errors.push(FieldError::invalid(&path, json!(null), detail));
        }
        if !default.is_null() {
            backend(default, &path.child("defaultBackend"), &mut errors);
        }
        for (index, rule) in listed.iter().enumerate() {
            let path = path.child("rules").index(index);
            let host = text(rule, "host");
            if !host.is_empty() {
                host_rule(host, &path.child("host"), &mut errors);
            }
            if !at(rule, "http").is_null() {
                paths(items(rule, "http.paths"), &path.child("http.paths"), &mut errors);
            }
        }
        let class = text(spec, "ingressClassName");
        if !class.is_empty() {
            named(class, &path.child("ingressClassName"), names::dns_subdomain(class, false), &mut errors);
        }
        errors
    }
}

fn host_rule(host: &str, path: &FieldPath, errors: &mut Errors) {
    if host.parse::<std::net::IpAddr>().is_ok() {
        errors.push(FieldError::invalid(path, host, "must be a DNS name, not an IP address"));
    }
    match host.strip_prefix("*.") {
        Some(rest) if names::dns_subdomain(rest, false).is_empty() => {}
        _ if host.contains('*') => {
            let detail = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
                          must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric \
                          character (e.g. '*.example.com', regex used for validation is \
                          '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
            errors.push(FieldError::invalid(path, host, detail));
        }
        _ => named(host, path, names::dns_subdomain(host, false), errors),
    }
}

fn paths(paths: &[Value], path: &FieldPath, errors: &mut Errors) {
    if paths.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    for (index, rule) in paths.iter().enumerate() {
        let path = path.index(index);
        let url = text(rule, "path");
        match text(rule, "pathType") {
            "" => {
                errors.push(FieldError::required(&path.child("pathType"), "pathType must be specified"));
                continue;
            }
            "Exact" | "Prefix" => absolute(url, false, &path.child("path"), errors),
            "ImplementationSpecific" => absolute(url, true, &path.child("path"), errors),
            other => {
                let supported = ["Exact", "ImplementationSpecific", "Prefix"];
                errors.push(FieldError::not_supported(&path.child("pathType"), other, &supported));
            }
        }
        backend(at(rule, "backend"), &path.child("backend"), errors);
    }
}

fn absolute(url: &str, may_be_empty: bool, path: &FieldPath, errors: &mut Errors) {
    if !(url.starts_with('/') || may_be_empty && url.is_empty()) {
        errors.push(FieldError::invalid(path, url, "must be an absolute path"));
    }
    if may_be_empty {
        return;
    }
    for sequence in ["//", "/./", "/../", "%2f", "%2F"] {
        if url.contains(sequence) {
            errors.push(FieldError::invalid(path, url, format!("must not contain '{sequence}'")));
        }
    }
    for suffix in ["/..", "/."] {
        if url.ends_with(suffix) {
            errors.push(FieldError::invalid(path, url, format!("cannot end with '{suffix}'")));
        }
    }
}

fn backend(backend: &Value, path: &FieldPath, errors: &mut Errors) {
    let service = at(backend, "service");
    match (at(backend, "resource").is_null(), service.is_null()) {
        (true, true) => errors.push(FieldError::invalid(path, "", "resource or service backend is required")),
        (false, false) => errors.push(FieldError::invalid(path, "", "cannot set both resource and service backends")),
        (false, true) => {}
        (true, false) => {
            let name = text(service, "name");
            let name_path = path.child("service.name");
            if name.is_empty() {
                errors.push(FieldError::required(&name_path, ""));
            } else {
                named(name, &name_path, names::dns_label(name, false), errors);
            }
            let port_path = path.child("service.port");
            let port = number(service, "port.number").filter(|port| *port != 0);
            match (is_given(service, "port.name"), port) {
                (true, Some(_)) => {
                    errors.push(FieldError::invalid(path, "", "cannot set both port name & port number"));
                }
                (true, None) => {
                    let name = text(service, "port.name");
                    named(name, &port_path.child("name"), port_name(name), errors);
                }
                (false, Some(port)) if !(1..=65535).contains(&port) => {
                    let detail = "must be between 1 and 65535, inclusive";
                    errors.push(FieldError::invalid(&port_path.child("number"), port, detail));
                }
                (false, Some(_)) => {}
                (false, None) => errors.push(FieldError::required(path, "port name or number is required")),
            }
        }
    }
}
