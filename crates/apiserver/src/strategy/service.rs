//! `v1` Service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, is_given, items, number, object_mut, object_or_new, objects_mut, set_default, text};
use super::pod_spec::port;
use super::rules::{Errors, labels, named, one_of};
use super::{Change, Strategy, StrategyContext, service_addresses, service_ip_object, service_rules};
use crate::core::Core;
use crate::metadata::names;
use crate::store::ObjectKey;

/// `Service`.
pub(super) fn defaults(service: &mut Fields) {
    if let Some(spec) = object_or_new(service, "spec") {
        spec_defaults(spec);
    }
    let balanced = service.get("spec").is_some_and(|spec| text(spec, "type") == "LoadBalancer");
    let status = object_mut(service, "status").and_then(|status| object_mut(status, "loadBalancer"));
    if let Some(balancer) = status.filter(|_| balanced) {
        for ingress in objects_mut(balancer, "ingress").filter(|ingress| ingress.contains_key("ip")) {
            set_default(ingress, "ipMode", "VIP");
        }
    }
}

fn spec_defaults(spec: &mut Fields) {
    set_default(spec, "sessionAffinity", "None");
    match spec.get("sessionAffinity").and_then(Value::as_str) {
        Some("None") => {
            spec.remove("sessionAffinityConfig");
        }
        Some("ClientIP") => {
            let timeout = spec.get("sessionAffinityConfig").map(|config| at(config, "clientIP.timeoutSeconds"));
            if timeout.is_none_or(Value::is_null) {
                let config = json!({"clientIP": {"timeoutSeconds": 10800}});
                spec.insert("sessionAffinityConfig".to_owned(), config);
            }
        }
        _ => {}
    }
    set_default(spec, "type", "ClusterIP");
    for port in objects_mut(spec, "ports") {
        set_default(port, "protocol", "TCP");
        let target = port.get("targetPort");
        if target.is_none_or(|target| target == &json!(0) || target == &json!("")) {
            let number = port.get("port").cloned().unwrap_or_else(|| json!(0));
            port.insert("targetPort".to_owned(), number);
        }
    }
    let service_type = spec.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let with_external_addresses = spec.get("externalIPs").and_then(Value::as_array).is_some_and(|ips| !ips.is_empty());
    match service_type.as_str() {
        "NodePort" | "LoadBalancer" => set_default(spec, "externalTrafficPolicy", "Cluster"),
        "ClusterIP" if with_external_addresses => set_default(spec, "externalTrafficPolicy", "Cluster"),
        _ => {}
    }
    if matches!(service_type.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        set_default(spec, "internalTrafficPolicy", "Cluster");
    }
    if service_type == "LoadBalancer" {
        set_default(spec, "allocateLoadBalancerNodePorts", true);
    }
}

/// What is special about services.
#[derive(Debug)]
pub(super) struct Service;

impl Strategy for Service {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Service")
    }

    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        names::dns_label(name, prefix)
    }

    fn create_on_update(&self) -> bool {
        true
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }

    fn committed(&self, change: Change<'_>, core: &Arc<Core>) {
        service_ip_object::follow(change, core);
        if let (Some(old), None) = (change.old, change.new) {
            core.service_addresses.release(old);
        }
    }

    fn reserve(&self, object: &mut Value, old: Option<&Value>, cx: &StrategyContext<'_>) -> Errors {
        service_addresses::reserve(object, old, cx)
    }

    fn not_created(&self, key: &ObjectKey, stored: Option<&Value>, core: &Core) {
        core.service_addresses.restore(key, stored);
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            service_addresses::carry_over(new, old);
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        let service_type = text(spec, "type");
        ports(spec, service_type, &path.child("ports"), &mut errors);
        labels(at(spec, "selector"), &path.child("selector"), &mut errors);
        one_of(at(spec, "sessionAffinity"), &path.child("sessionAffinity"), &["ClientIP", "None"], &mut errors);
        let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
        one_of(at(spec, "type"), &path.child("type"), &types, &mut errors);
        if service_type == "ExternalName" {
            external_name(spec, &path, &mut errors);
        }
        service_rules::addresses(spec, service_type, &path, &mut errors);
        service_rules::affinity(spec, &path, &mut errors);
        service_rules::application_protocols(spec, &path.child("ports"), &mut errors);
        service_rules::external_addresses(spec, &path.child("externalIPs"), &mut errors);
        service_rules::load_balancer(spec, service_type, &path, &mut errors);
        service_rules::distribution(spec, &path, &mut errors);
        duplicate_ports(spec, &path.child("ports"), &mut errors);
        traffic(spec, service_type, &path, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return service_rules::balancer_status(new);
        }
        let mut errors = Errors::new();
        service_rules::class_stays(new, old, &mut errors);
        let fixed = |object: &Value| text(object, "spec.type") != "ExternalName";
        let (addresses, stored) = (at(new, "spec.clusterIPs"), at(old, "spec.clusterIPs"));
        let first = |addresses: &Value| addresses.get(0).cloned();
        if fixed(new) && fixed(old) && first(stored).is_some() && first(addresses) != first(stored) {
            let path = FieldPath::new("spec.clusterIPs").index(0);
            let detail = if first(addresses).is_none() {
                "primary clusterIP can not be unset"
            } else {
                "may not change once set"
            };
            errors.push(FieldError::invalid(&path, addresses.clone(), detail));
        }
        errors.extend(self.validate(new));
        errors
    }

    fn warnings(&self, new: &Value, _old: Option<&Value>) -> Vec<String> {
        service_rules::warnings(at(new, "spec"))
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["spec.clusterIP", "spec.type"]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        super::selectable_texts(self.selectable_labels(), object)
    }
}

fn ports(spec: &Value, service_type: &str, path: &FieldPath, errors: &mut Errors) {
    let ports = items(spec, "ports");
    let headless = text(spec, "clusterIP") == "None";
    if ports.is_empty() && !headless && service_type != "ExternalName" {
        errors.push(FieldError::required(path, ""));
    }
    let mut taken = BTreeSet::new();
    for (index, service_port) in ports.iter().enumerate() {
        let path = path.index(index);
        let name = text(service_port, "name");
        if !name.is_empty() {
            named(name, &path.child("name"), names::dns_label(name, false), errors);
            if !taken.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), name));
            }
        } else if ports.len() > 1 {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        let number = number(service_port, "port").unwrap_or_default();
        if !(1..=65535).contains(&number) {
            let detail = "must be between 1 and 65535, inclusive";
            errors.push(FieldError::invalid(&path.child("port"), number, detail));
        }
        one_of(at(service_port, "protocol"), &path.child("protocol"), &["SCTP", "TCP", "UDP"], errors);
        port(at(service_port, "targetPort"), &path.child("targetPort"), errors);
        if is_given(service_port, "nodePort") && matches!(service_type, "ClusterIP" | "ExternalName") {
            let detail = format!("may not be used when `type` is '{service_type}'");
            errors.push(FieldError::forbidden(&path.child("nodePort"), detail));
        }
    }
}

fn external_name(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if is_given(spec, key) {
            let detail = "may not be set for ExternalName services";
            errors.push(FieldError::forbidden(&path.child(key), detail));
        }
    }
    let name = text(spec, "externalName");
    let bare = name.strip_suffix('.').unwrap_or(name);
    if bare.is_empty() {
        errors.push(FieldError::required(&path.child("externalName"), ""));
    } else {
        named(bare, &path.child("externalName"), names::dns_subdomain(bare, false), errors);
    }
}

fn duplicate_ports(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, port) in items(spec, "ports").iter().enumerate() {
        if !taken.insert((text(port, "protocol"), number(port, "port"))) {
            // The reference shows the internal form of a port.
            let shown = json!({
                "Name": text(port, "name"),
                "Protocol": text(port, "protocol"),
                "AppProtocol": null,
                "Port": at(port, "port"),
                "TargetPort": 0,
                "NodePort": 0,
            });
            errors.push(FieldError::duplicate(&path.index(index), shown));
        }
    }
}

fn traffic(spec: &Value, service_type: &str, path: &FieldPath, errors: &mut Errors) {
    let external = match service_type {
        "NodePort" | "LoadBalancer" => true,
        "ClusterIP" => is_given(spec, "externalIPs"),
        _ => false,
    };
    let policy = at(spec, "externalTrafficPolicy");
    let policy_path = path.child("externalTrafficPolicy");
    if external {
        one_of(policy, &policy_path, &["Cluster", "Local"], errors);
    } else if is_given(spec, "externalTrafficPolicy") {
        let detail = "may only be set for externally-accessible services";
        errors.push(FieldError::invalid(&policy_path, policy.clone(), detail));
    }
    if is_given(spec, "internalTrafficPolicy") {
        let path = path.child("internalTrafficPolicy");
        one_of(at(spec, "internalTrafficPolicy"), &path, &["Cluster", "Local"], errors);
    }
}
