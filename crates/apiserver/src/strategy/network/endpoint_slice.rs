use std::collections::BTreeSet;
use std::net::IpAddr;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::address::endpoint_ip;
use crate::metadata::names;
use crate::strategy::fields::{at, indexed, items, text};
use crate::strategy::rules::{Errors, ip_address, labels, named, one_of};

/// Rules for `discovery.k8s.io/v1` EndpointSlice.
pub(in crate::strategy) fn endpoint_slice(new: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let kind = text(new, "addressType");
    let path = FieldPath::new("addressType");
    if kind.is_empty() {
        errors.push(FieldError::required(&path, ""));
    } else {
        one_of(at(new, "addressType"), &path, &["FQDN", "IPv4", "IPv6"], &mut errors);
    }
    for (path, one) in indexed(new, "endpoints") {
        endpoint(one, kind, &path, &mut errors);
    }
    ports(new, &mut errors);
    if old.is_some_and(|old| text(old, "addressType") != kind) {
        // The reference shows no value here.
        return vec![FieldError::invalid(&path, Value::Null, "field is immutable")];
    }
    errors
}

/// What those should know who write slices of names.
pub(in crate::strategy) fn endpoint_slice_warnings(new: &Value) -> Vec<String> {
    let is_deprecated = text(new, "addressType") == "FQDN";
    is_deprecated.then(|| "spec.addressType: FQDN endpoints are deprecated".to_owned()).into_iter().collect()
}

fn endpoint(endpoint: &Value, kind: &str, path: &FieldPath, errors: &mut Errors) {
    let addresses = path.child("addresses");
    if items(endpoint, "addresses").is_empty() {
        errors.push(FieldError::required(&addresses, ""));
    }
    for (index, address) in items(endpoint, "addresses").iter().filter_map(Value::as_str).enumerate() {
        let path = addresses.index(index);
        if kind == "FQDN" {
            named(address, &path, names::dns_subdomain(address, false), errors);
            continue;
        }
        let before = errors.len();
        ip_address(address, &path, errors);
        if errors.len() > before {
            continue;
        }
        let is_first = address.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4());
        if is_first != (kind == "IPv4") {
            errors.push(FieldError::invalid(&addresses, address, format!("must be an {kind} address")));
        }
        endpoint_ip(address, &path, errors);
    }
    if let Some(node) = at(endpoint, "nodeName").as_str() {
        named(node, &path.child("nodeName"), names::dns_subdomain(node, false), errors);
    }
    labels(at(endpoint, "deprecatedTopology"), &path.child("deprecatedTopology"), errors);
    if let Some(hostname) = at(endpoint, "hostname").as_str() {
        named(hostname, &path.child("hostname"), names::dns_label(hostname, false), errors);
    }
    let mut zones = BTreeSet::new();
    for (index, zone) in items(endpoint, "hints.forZones").iter().enumerate() {
        if !zones.insert(text(zone, "name")) {
            let path = path.child("hints").child("forZones").index(index).child("name");
            errors.push(FieldError::duplicate(&path, text(zone, "name")));
        }
    }
}

fn ports(slice: &Value, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (path, port) in indexed(slice, "ports") {
        let name = text(port, "name");
        if !name.is_empty() {
            named(name, &path.child("name"), names::dns_label(name, false), errors);
        }
        if !taken.insert(name) {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
        one_of(at(port, "protocol"), &path.child("protocol"), &["SCTP", "TCP", "UDP"], errors);
        if let Some(protocol) = at(port, "appProtocol").as_str() {
            named(protocol, &path.child("appProtocol"), names::qualified_name(protocol), errors);
        }
    }
}
