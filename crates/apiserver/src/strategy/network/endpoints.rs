use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::address::endpoint_ip;
use crate::metadata::names;
use crate::strategy::fields::{at, indexed, items, number, text};
use crate::strategy::rules::{Errors, ip_address, named, one_of};

/// Rules for `v1` Endpoints.
pub(in crate::strategy) fn endpoints(new: &Value, _old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    for (path, subset) in indexed(new, "subsets") {
        if items(subset, "addresses").is_empty() && items(subset, "notReadyAddresses").is_empty() {
            errors.push(FieldError::required(&path, "must specify `addresses` or `notReadyAddresses`"));
        }
        for list in ["addresses", "notReadyAddresses"] {
            for (index, one) in items(subset, list).iter().enumerate() {
                address(one, &path.child(list).index(index), &mut errors);
            }
        }
        let ports = items(subset, "ports");
        for (index, one) in ports.iter().enumerate() {
            port(one, ports.len() > 1, &path.child("ports").index(index), &mut errors);
        }
    }
    errors
}

fn address(address: &Value, path: &FieldPath, errors: &mut Errors) {
    ip_address(text(address, "ip"), &path.child("ip"), errors);
    let hostname = text(address, "hostname");
    if !hostname.is_empty() {
        named(hostname, &path.child("hostname"), names::dns_label(hostname, false), errors);
    }
    if let Some(node) = at(address, "nodeName").as_str() {
        named(node, &path.child("nodeName"), names::dns_subdomain(node, false), errors);
    }
    endpoint_ip(text(address, "ip"), &path.child("ip"), errors);
}

fn port(port: &Value, needs_name: bool, path: &FieldPath, errors: &mut Errors) {
    let name = text(port, "name");
    if needs_name && name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    } else if !name.is_empty() {
        named(name, &path.child("name"), names::dns_label(name, false), errors);
    }
    let number = number(port, "port").unwrap_or_default();
    if !(1..=65535).contains(&number) {
        errors.push(FieldError::invalid(&path.child("port"), number, "must be between 1 and 65535, inclusive"));
    }
    one_of(at(port, "protocol"), &path.child("protocol"), &["SCTP", "TCP", "UDP"], errors);
    if let Some(protocol) = at(port, "appProtocol").as_str() {
        named(protocol, &path.child("appProtocol"), names::qualified_name(protocol), errors);
    }
}
