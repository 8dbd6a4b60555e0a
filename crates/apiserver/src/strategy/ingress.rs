//! `networking.k8s.io/v1` Ingress.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Strategy;
use super::fields::{at, is_given, items, number, text};
use super::pod_spec::port_name;
use super::rules::{Errors, ip_address, named};
use crate::metadata::names;

/// The annotation that named the class before there was a field for it.
const CLASS: &str = "kubernetes.io/ingress.class";

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
        let mut errors = rules(object);
        let annotated = at(object, "metadata.annotations").get(CLASS).and_then(Value::as_str);
        let class = text(object, "spec.ingressClassName");
        if let Some(annotated) = annotated.filter(|annotated| !class.is_empty() && *annotated != class) {
            let path = FieldPath::new("annotations").child(CLASS);
            let detail = "must match `ingressClassName` when both are specified";
            errors.push(FieldError::invalid(&path, annotated, detail));
        }
        errors
    }

    fn validate_update(&self, new: &Value, _old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() { status(new) } else { rules(new) }
    }
}

/// Rules that hold for new and changed ingresses.
fn rules(object: &Value) -> Errors {
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
            no_address(host, &path.child("host"), &mut errors);
            host_name(host, &path.child("host"), &mut errors);
        }
        if !at(rule, "http").is_null() {
            paths(items(rule, "http.paths"), &path.child("http.paths"), &mut errors);
        }
    }
    for (index, tls) in items(spec, "tls").iter().enumerate() {
        tls_rules(tls, &path.child("tls").index(index), &mut errors);
    }
    let class = text(spec, "ingressClassName");
    if !class.is_empty() {
        named(class, &path.child("ingressClassName"), names::dns_subdomain(class, false), &mut errors);
    }
    errors
}

fn tls_rules(tls: &Value, path: &FieldPath, errors: &mut Errors) {
    for (index, host) in items(tls, "hosts").iter().filter_map(Value::as_str).enumerate() {
        host_name(host, &path.child("hosts").index(index), errors);
    }
    let secret = text(tls, "secretName");
    if !secret.is_empty() {
        named(secret, &path.child("secretName"), names::dns_subdomain(secret, false), errors);
    }
}

fn status(object: &Value) -> Errors {
    let mut errors = Errors::new();
    for (index, ingress) in items(object, "status.loadBalancer.ingress").iter().enumerate() {
        let path = FieldPath::new("status.loadBalancer.ingress").index(index);
        let (ip, host) = (text(ingress, "ip"), text(ingress, "hostname"));
        if !ip.is_empty() {
            ip_address(ip, &path.child("ip"), &mut errors);
        }
        if !host.is_empty() {
            named(host, &path.child("hostname"), names::dns_subdomain(host, false), &mut errors);
            no_address(host, &path.child("hostname"), &mut errors);
        }
    }
    errors
}

fn no_address(host: &str, path: &FieldPath, errors: &mut Errors) {
    if host.parse::<std::net::IpAddr>().is_ok() {
        errors.push(FieldError::invalid(path, host, "must be a DNS name, not an IP address"));
    }
}

/// The name of a host, where a star may stand for the first part.
fn host_name(host: &str, path: &FieldPath, errors: &mut Errors) {
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

fn resource(resource: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Some(group) = at(resource, "apiGroup").as_str() {
        named(group, &path.child("apiGroup"), names::dns_subdomain(group, false), errors);
    }
    for key in ["kind", "name"] {
        match text(resource, key) {
            "" => errors.push(FieldError::required(&path.child(key), "")),
            name => named(name, &path.child(key), names::path_segment(name, false), errors),
        }
    }
}

fn backend(backend: &Value, path: &FieldPath, errors: &mut Errors) {
    let service = at(backend, "service");
    match (at(backend, "resource").is_null(), service.is_null()) {
        (true, true) => errors.push(FieldError::invalid(path, "", "resource or service backend is required")),
        (false, false) => errors.push(FieldError::invalid(path, "", "cannot set both resource and service backends")),
        (false, true) => resource(at(backend, "resource"), &path.child("resource"), errors),
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
