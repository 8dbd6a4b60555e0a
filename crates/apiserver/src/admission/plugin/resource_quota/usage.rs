//! What an object takes, by the names that quotas have for it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::Write;
use super::{Amounts, ends, is_of};
use crate::admission::Operation;
use crate::strategy::fields::{at, is_given, items, number, text};
use crate::strategy::{CLASS_ANNOTATION, Quantity, together};

const BY_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Resources that pods are made of, by the names of quotas.
const OF_PODS: [&str; 11] = [
    "count/pods",
    "pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// What every container must say, where a quota is about it.
const REQUIRED: [&str; 6] = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/// Resources whose objects are counted under a name of their own too.
const ALIASES: [&str; 4] = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

/// Whether quotas are asked about a write at all.
pub(super) fn is_counted(write: Write<'_>, object: &Value) -> bool {
    let resource = &write.call.resource;
    if resource.is_only_created() || resource.plural == "events" {
        return false;
    }
    let updates = write.operation == Operation::Update;
    match write.call.subresource.as_deref() {
        None if is_of(write, "", "pods") => !updates || write.old.is_some_and(|old| ends(old) != ends(object)),
        None => !updates || is_of(write, "", "services") || is_of(write, "", "persistentvolumeclaims"),
        Some("resize") => updates && is_of(write, "", "pods"),
        Some(_) => false,
    }
}

/// The name under which objects of the resource are counted.
fn count_name(write: Write<'_>) -> String {
    format!("count/{}", write.call.resource.group_resource())
}

/// Whether a name of a quota is about objects of the resource.
pub(super) fn concerns(write: Write<'_>, name: &str) -> bool {
    if is_of(write, "", "pods") {
        let foreign = name.strip_prefix("requests.").is_some_and(is_extended);
        let pages = name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
        return OF_PODS.contains(&name) || pages || foreign;
    }
    if name == count_name(write) {
        return true;
    }
    if is_of(write, "", "services") {
        return matches!(name, "services" | "services.nodeports" | "services.loadbalancers");
    }
    if is_of(write, "", "persistentvolumeclaims") {
        let base = name.split_once(BY_CLASS).map_or(name, |(_, base)| base);
        return matches!(base, "persistentvolumeclaims" | "requests.storage");
    }
    let resource = &write.call.resource;
    resource.group.is_empty() && ALIASES.contains(&resource.plural.as_str()) && name == resource.plural
}

fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

/// What every container of a pod must say for a quota to be able to count it.
pub(super) fn constraints(write: Write<'_>, object: &Value, concerns: &[&str]) -> Result<(), String> {
    let spec = at(object, "spec");
    let whole = is_given(spec, "resources.requests") || is_given(spec, "resources.limits");
    if !is_of(write, "", "pods") || whole {
        return Ok(());
    }
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in items(spec, "containers").iter().chain(items(spec, "initContainers")) {
        let amount = |kind: &str, name: &str| {
            let amounts = at(at(container, "resources"), kind);
            amounts.get(name).and_then(Value::as_str).and_then(Quantity::parse)
        };
        let said = computed(container_names(container), amount);
        for name in REQUIRED.iter().filter(|name| concerns.contains(name) && !said.contains_key(**name)) {
            missing.entry(name).or_default().insert(text(container, "name"));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let one = |(name, containers): (&str, BTreeSet<&str>)| {
        let containers: Vec<&str> = containers.into_iter().collect();
        format!("{name} for: {}", containers.join(","))
    };
    let all: Vec<String> = missing.into_iter().map(one).collect();
    Err(format!("must specify {}", all.join("; ")))
}

/// What an object takes.
pub(super) fn of(write: Write<'_>, object: &Value) -> Amounts {
    let mut usage = Amounts::from([(count_name(write), Quantity::of(1))]);
    if is_of(write, "", "pods") {
        of_pod(object, &mut usage);
    } else if is_of(write, "", "services") {
        of_service(object, &mut usage);
    } else if is_of(write, "", "persistentvolumeclaims") {
        of_claim(object, &mut usage);
    } else if ALIASES.contains(&write.call.resource.plural.as_str()) {
        usage.insert(write.call.resource.plural.clone(), Quantity::of(1));
    }
    usage
}

fn container_names(container: &Value) -> BTreeSet<String> {
    let kinds = ["requests", "limits"].into_iter();
    kinds
        .flat_map(|kind| at(at(container, "resources"), kind).as_object().into_iter().flatten())
        .map(|(name, _)| name.clone())
        .collect()
}

fn of_pod(pod: &Value, usage: &mut Amounts) {
    if matches!(text(pod, "status.phase"), "Succeeded" | "Failed") {
        return;
    }
    let spec = at(pod, "spec");
    let containers = items(spec, "containers").iter().chain(items(spec, "initContainers"));
    let mut names: BTreeSet<String> = containers.flat_map(container_names).collect();
    names.extend(container_names(spec));
    names.extend(at(spec, "overhead").as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    let amount = |kind: &str, name: &str| {
        let own = at(at(spec, "resources"), kind).get(name).and_then(Value::as_str).and_then(Quantity::parse);
        let of_whole = own.or_else(|| together(spec, kind, name));
        let overhead = at(spec, "overhead").get(name).and_then(Value::as_str).and_then(Quantity::parse);
        match (of_whole, overhead) {
            (Some(amount), Some(overhead)) => Some(amount.plus(overhead)),
            (None, overhead) if kind == "requests" => overhead,
            (amount, _) => amount,
        }
    };
    usage.extend(computed(names, amount));
}

/// Amounts of a pod or container under the names of quotas.
fn computed(names: BTreeSet<String>, amount: impl Fn(&str, &str) -> Option<Quantity>) -> Amounts {
    let mut usage = Amounts::from([("pods".to_owned(), Quantity::of(1))]);
    for name in names {
        let common = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        let pages = name.starts_with("hugepages-");
        if let Some(request) = amount("requests", &name) {
            if common || pages {
                usage.insert(name.clone(), request);
            }
            if common || pages || is_extended(&name) {
                usage.insert(format!("requests.{name}"), request);
            }
        }
        if let Some(limit) = amount("limits", &name).filter(|_| common) {
            usage.insert(format!("limits.{name}"), limit);
        }
    }
    usage
}

fn of_service(service: &Value, usage: &mut Amounts) {
    let ports = items(service, "spec.ports");
    let named = ports.iter().filter(|port| number(port, "nodePort").unwrap_or_default() != 0).count();
    let kept = at(service, "spec.allocateLoadBalancerNodePorts") == &Value::Bool(false);
    let (balancers, node_ports) = match text(service, "spec.type") {
        "NodePort" => (0, ports.len()),
        "LoadBalancer" if kept => (1, named),
        "LoadBalancer" => (1, ports.len()),
        _ => (0, 0),
    };
    let node_ports = i64::try_from(node_ports).unwrap_or(i64::MAX);
    for (name, count) in [("services", 1), ("services.loadbalancers", balancers), ("services.nodeports", node_ports)] {
        usage.insert(name.to_owned(), Quantity::of(count));
    }
}

fn of_claim(claim: &Value, usage: &mut Amounts) {
    let annotation = at(claim, "metadata.annotations").get(CLASS_ANNOTATION).and_then(Value::as_str);
    let class = annotation.unwrap_or_else(|| text(claim, "spec.storageClassName"));
    let storage = at(claim, "spec.resources.requests.storage").as_str().and_then(Quantity::parse);
    let one = Some(Quantity::of(1));
    for (name, amount) in [("persistentvolumeclaims", one), ("requests.storage", storage)] {
        let Some(amount) = amount else { continue };
        usage.insert(name.to_owned(), amount);
        if !class.is_empty() {
            usage.insert(format!("{class}{BY_CLASS}{name}"), amount);
        }
    }
}
