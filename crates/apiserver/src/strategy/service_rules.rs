//! Rules of services beside those of their ports: addresses, families, affinity, load balancers.

use std::collections::BTreeSet;
use std::net::IpAddr;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, is_given, items, number, text};
use super::rules::{Errors, ip_address, named, one_of, one_of_given};
use crate::metadata::names;

/// The longest affinity of a client, in seconds: a day.
const MAX_AFFINITY: i64 = 86_400;

/// What is wrong with the addresses and families that a service asks for, as far as no other service matters.
pub(super) fn addresses(spec: &Value, service_type: &str, path: &FieldPath, errors: &mut Errors) {
    let (first, listed) = (text(spec, "clusterIP"), items(spec, "clusterIPs"));
    let all_at = path.child("clusterIPs");
    if service_type == "ExternalName" {
        if !first.is_empty() && listed.is_empty() {
            errors.push(FieldError::forbidden(&all_at, "may not be set for ExternalName services"));
        }
        return;
    }
    let shown = || at(spec, "clusterIPs").clone();
    if first.is_empty() && !listed.is_empty() {
        errors.push(FieldError::invalid(&all_at, shown(), "must be empty when `clusterIP` is not specified"));
    } else if listed.first().and_then(Value::as_str).is_some_and(|listed| listed != first) {
        errors.push(FieldError::invalid(&all_at, shown(), "first value must match `clusterIP`"));
    }
    if listed.is_empty() && !matches!(first, "" | "None") {
        address(first, &all_at.index(0), errors);
    }
    families(spec, path, errors);
}

/// An address that the one family of the cluster can have.
fn address(address: &str, path: &FieldPath, errors: &mut Errors) {
    let before = errors.len();
    ip_address(address, path, errors);
    if errors.len() == before && address.parse().is_ok_and(|address: IpAddr| address.is_ipv6()) {
        let shown: Value = [address].into_iter().collect();
        errors.push(FieldError::invalid(path, shown, "IPv6 is not configured on this cluster"));
    }
}

fn families(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let families_at = path.child("ipFamilies");
    let mut seen = BTreeSet::new();
    for (index, family) in items(spec, "ipFamilies").iter().enumerate() {
        let path = families_at.index(index);
        let name = family.as_str().unwrap_or_default();
        one_of(family, &path, &["IPv4", "IPv6"], errors);
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&path, name));
        }
    }
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    one_of_given(at(spec, "ipFamilyPolicy"), &path.child("ipFamilyPolicy"), &policies, errors);
}

/// How long a client stays with a pod.
pub(super) fn affinity(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    if text(spec, "sessionAffinity") != "ClientIP" {
        return;
    }
    let Some(seconds) = number(at(spec, "sessionAffinityConfig.clientIP"), "timeoutSeconds") else { return };
    if seconds <= 0 || seconds > MAX_AFFINITY {
        let path = path.child("sessionAffinityConfig").child("clientIP").child("timeoutSeconds");
        let detail = format!("must be greater than 0 and less than {MAX_AFFINITY}");
        errors.push(FieldError::invalid(&path, seconds, detail));
    }
}

/// The protocols of an application that ports name.
pub(super) fn application_protocols(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    for (index, port) in items(spec, "ports").iter().enumerate() {
        if let Some(protocol) = at(port, "appProtocol").as_str() {
            let path = path.index(index).child("appProtocol");
            named(protocol, &path, names::qualified_name(protocol), errors);
        }
    }
}

/// Addresses outside of the cluster must be such that packets can come to them.
pub(super) fn external_addresses(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    for (index, address) in items(spec, "externalIPs").iter().filter_map(Value::as_str).enumerate() {
        let (path, before) = (path.index(index), errors.len());
        ip_address(address, &path, errors);
        if errors.len() == before
            && let Ok(parsed) = address.parse::<IpAddr>()
            && let Some(detail) = unreachable(parsed, address)
        {
            errors.push(FieldError::invalid(&path, address, detail));
        }
    }
}

fn unreachable(address: IpAddr, shown: &str) -> Option<String> {
    let (link_local, local_multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), address.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(address) => {
            let first = address.segments().first().copied().unwrap_or_default();
            (first & 0xffc0 == 0xfe80, first & 0xff0f == 0xff02)
        }
    };
    if address.is_unspecified() {
        Some(format!("may not be unspecified ({shown})"))
    } else if address.is_loopback() {
        Some("may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned())
    } else if link_local {
        Some("may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned())
    } else if local_multicast {
        Some("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned())
    } else {
        None
    }
}

/// What only load balancers may have.
pub(super) fn load_balancer(spec: &Value, service_type: &str, path: &FieldPath, errors: &mut Errors) {
    const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
    let is_balanced = service_type == "LoadBalancer";
    let ranges_at = path.child("LoadBalancerSourceRanges");
    let ranges = items(spec, "loadBalancerSourceRanges");
    if !ranges.is_empty() && !is_balanced {
        errors.push(FieldError::forbidden(&ranges_at, ONLY));
    } else {
        for (index, range) in ranges.iter().filter_map(Value::as_str).enumerate() {
            if !is_network(range.trim()) {
                let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
                errors.push(FieldError::invalid(&ranges_at.index(index), range, detail));
            }
        }
    }
    if is_given(spec, "allocateLoadBalancerNodePorts") && !is_balanced {
        errors.push(FieldError::forbidden(&path.child("allocateLoadBalancerNodePorts"), ONLY));
    }
    if let Some(class) = at(spec, "loadBalancerClass").as_str() {
        let path = path.child("loadBalancerClass");
        if is_balanced {
            named(class, &path, names::qualified_name(class), errors);
        } else {
            errors.push(FieldError::forbidden(&path, ONLY));
        }
    }
    health_check(spec, is_balanced, path, errors);
}

fn health_check(spec: &Value, is_balanced: bool, path: &FieldPath, errors: &mut Errors) {
    let Some(port) = number(spec, "healthCheckNodePort").filter(|port| *port != 0) else { return };
    if !is_balanced || text(spec, "externalTrafficPolicy") != "Local" {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(FieldError::invalid(&path.child("healthCheckNodePort"), port, detail));
    }
}

pub(super) fn is_network(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}

/// Where traffic goes by preference.
pub(super) fn distribution(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let ways = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    let given = at(spec, "trafficDistribution");
    if given.as_str().is_some_and(|way| !ways.contains(&way)) {
        let detail = ways.map(|way| format!("\"{way}\"")).join(", ");
        let error = FieldError::not_supported(&path.child("trafficDistribution"), given.clone(), &ways);
        // In this order, which isn't that of the names.
        errors.push(FieldError { detail: format!("supported values: {detail}"), ..error });
    }
}

/// A class stays what it is for as long as the service is a load balancer.
pub(super) fn class_stays(new: &Value, old: &Value, errors: &mut Errors) {
    let is_balanced = |service: &Value| text(service, "spec.type") == "LoadBalancer";
    let (class, before) = (at(new, "spec.loadBalancerClass"), at(old, "spec.loadBalancerClass"));
    if is_balanced(new) && is_balanced(old) && class != before {
        let path = FieldPath::new("spec").child("loadBalancerClass");
        errors.push(FieldError::invalid(&path, class.clone(), "may not change once set"));
    }
}

/// What load balancers report of themselves.
pub(super) fn balancer_status(service: &Value) -> Errors {
    let mut errors = Errors::new();
    let path = FieldPath::new("status.loadBalancer.ingress");
    let balancer = at(service, "status.loadBalancer");
    let reported = items(balancer, "ingress");
    if !reported.is_empty() && text(service, "spec.type") != "LoadBalancer" {
        errors.push(FieldError::forbidden(&path, "may only be used when `spec.type` is 'LoadBalancer'"));
        return errors;
    }
    for (index, ingress) in reported.iter().enumerate() {
        let path = path.index(index);
        let (address, host) = (text(ingress, "ip"), text(ingress, "hostname"));
        if !address.is_empty() {
            ip_address(address, &path.child("ip"), &mut errors);
            one_of_given(at(ingress, "ipMode"), &path.child("ipMode"), &["Proxy", "VIP"], &mut errors);
        }
        if !host.is_empty() {
            named(host, &path.child("hostname"), names::dns_subdomain(host, false), &mut errors);
        }
    }
    errors
}

/// What a client should know of fields that go out of use.
pub(super) fn warnings(spec: &Value) -> Vec<String> {
    let external = !items(spec, "externalIPs").is_empty();
    let close = text(spec, "trafficDistribution") == "PreferClose";
    let texts = [
        (external, "spec.externalIPs is deprecated and may no longer be implemented in some clusters"),
        (close, "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\""),
    ];
    texts.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text.to_owned()).collect()
}
