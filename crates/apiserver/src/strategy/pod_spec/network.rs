//! Rules for how a pod is reached and finds others: ports of the node, DNS, host names.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, is_given, items, number, text};
use super::super::rules::{Errors, ip_address, named, one_of};
use crate::metadata::names;

/// A container of a pod in the node's network has the ports that it says. Pods get their host ports by default.
pub(super) fn host_ports(spec: &Value, is_pod: bool, path: &FieldPath, errors: &mut Errors) {
    if at(spec, "hostNetwork") != &Value::Bool(true) {
        return;
    }
    for (index, container) in items(spec, "containers").iter().enumerate() {
        for (port_index, port) in items(container, "ports").iter().enumerate() {
            let host = number(port, "hostPort").unwrap_or_default();
            if (is_pod || host != 0) && host != number(port, "containerPort").unwrap_or_default() {
                let path = path.child("containers").index(index).child("ports").index(port_index).child("hostPort");
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(&path, host, detail));
            }
        }
    }
}

/// Rules for `dnsPolicy`.
pub(super) fn dns_policy(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(at(spec, "dnsPolicy"), path, &policies, errors);
}

/// Rules for `dnsConfig`.
pub(super) fn dns_config(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let config = at(spec, "dnsConfig");
    let servers = items(config, "nameservers");
    if text(spec, "dnsPolicy") == "None" {
        if config.is_null() {
            errors.push(FieldError::required(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.push(FieldError::required(&path.child("nameservers"), detail));
            return;
        }
    }
    let servers_path = path.child("nameservers");
    if servers.len() > 3 {
        let given = at(config, "nameservers").clone();
        errors.push(FieldError::invalid(&servers_path, given, "must not have more than 3 nameservers"));
    }
    for (index, server) in servers.iter().enumerate() {
        ip_address(server.as_str().unwrap_or_default(), &servers_path.index(index), errors);
    }
    searches(config, &path.child("searches"), errors);
    for (index, option) in items(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            errors.push(FieldError::required(&path.child("options").index(index), "must not be empty"));
        }
    }
}

fn searches(config: &Value, path: &FieldPath, errors: &mut Errors) {
    let searches: Vec<&str> = items(config, "searches").iter().filter_map(Value::as_str).collect();
    let given = || at(config, "searches").clone();
    if searches.len() > 32 {
        errors.push(FieldError::invalid(path, given(), "must not have more than 32 search paths"));
    }
    if searches.join(" ").len() > 2048 {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        errors.push(FieldError::invalid(path, given(), detail));
    }
    for (index, search) in searches.into_iter().enumerate().filter(|(_, search)| *search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        named(search, &path.index(index), names::dns_subdomain_with_underscore(search), errors);
    }
}

/// Rules for the names of a pod: `hostname`, `subdomain` and what stands in its place.
pub(super) fn host_name_override(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let Some(name) = at(spec, "hostnameOverride").as_str() else { return };
    let path = path.child("hostnameOverride");
    for key in ["setHostnameAsFQDN", "hostNetwork"] {
        if at(spec, key) == &Value::Bool(true) {
            errors.push(FieldError::forbidden(&path, format!("may not be specified when {key} is true")));
        }
    }
    if name.len() > 64 {
        errors.push(FieldError::too_long(&path, 64));
    }
    named(name, &path, names::dns_subdomain(name, false), errors);
}

/// Rules for `hostname` and `subdomain`.
pub(super) fn host_names(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["hostname", "subdomain"] {
        if is_given(spec, key) {
            named(text(spec, key), &path.child(key), names::dns_label(text(spec, key), false), errors);
        }
    }
}

/// Rules for `hostAliases`.
pub(super) fn host_aliases(aliases: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, alias) in aliases.iter().enumerate() {
        let path = path.index(index);
        ip_address(text(alias, "ip"), &path.child("ip"), errors);
        for (index, name) in items(alias, "hostnames").iter().enumerate() {
            let name = name.as_str().unwrap_or_default();
            named(name, &path.child("hostnames").index(index), names::dns_subdomain(name, false), errors);
        }
    }
}
