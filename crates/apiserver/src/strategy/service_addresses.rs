//! The cluster IPs and node ports that services get.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use controller_runtime_schema::{FieldError, FieldPath};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::StrategyContext;
use super::fields::{Fields, at, is_given, items, number, object_mut, objects_mut, set_default, text};
use super::rules::Errors;
use crate::store::ObjectKey;

/// The network that cluster IPs are taken from: 10.0.0.0/24.
const NETWORK: [u8; 3] = [10, 0, 0];
/// 10.0.0.1 belongs to the API server itself.
const ADDRESSES: std::ops::RangeInclusive<u8> = 2..=254;
/// The ports that nodes open for services.
const NODE_PORTS: std::ops::RangeInclusive<i64> = 30000..=32767;

/// What is taken, by the service that has it. Belongs to one server.
#[derive(Debug, Default)]
pub(crate) struct ServiceAddresses {
    taken: Mutex<BTreeMap<Owner, Taken>>,
}

/// Namespace and name of a service.
type Owner = (String, String);

#[derive(Clone, Debug, Default)]
struct Taken {
    addresses: BTreeSet<Ipv4Addr>,
    ports: BTreeSet<i64>,
}

impl ServiceAddresses {
    /// Gives up what a service had, once it is gone.
    pub(super) fn release(&self, service: &Value) {
        self.taken.lock().remove(&owner(service));
    }

    /// Goes back to what a service has that could not be written: what is stored under its name, if anything is.
    pub(super) fn restore(&self, service: &ObjectKey, stored: Option<&Value>) {
        let owner = (service.namespace.clone(), service.name.clone());
        let mut all = self.taken.lock();
        match stored {
            Some(stored) => all.insert(owner, Taken::of(stored)),
            None => all.remove(&owner),
        };
    }
}

impl Taken {
    /// What a stored service has.
    fn of(service: &Value) -> Self {
        let address = text(service, "spec.clusterIP").parse::<Ipv4Addr>().ok();
        let ports = items(service, "spec.ports").iter().filter_map(|port| number(port, "nodePort"));
        let ports = ports.chain(number(service, "spec.healthCheckNodePort"));
        Self {
            addresses: address.into_iter().filter(|address| address.octets().starts_with(&NETWORK)).collect(),
            ports: ports.filter(|port| NODE_PORTS.contains(port)).collect(),
        }
    }

    /// What services other than this one have.
    fn of_others(all: &BTreeMap<Owner, Taken>, owner: &Owner) -> Self {
        let mut others = Self::default();
        for (_, taken) in all.iter().filter(|(found, _)| *found != owner) {
            others.addresses.extend(&taken.addresses);
            others.ports.extend(&taken.ports);
        }
        others
    }
}

fn owner(service: &Value) -> Owner {
    (text(service, "metadata.namespace").to_owned(), text(service, "metadata.name").to_owned())
}

/// Gives a service the addresses and ports that it asks for or needs.
pub(super) fn reserve(service: &mut Value, old: Option<&Value>, cx: &StrategyContext<'_>) -> Errors {
    let mut errors = Errors::new();
    let owner = owner(service);
    // Held to the end: nobody else may be given the same.
    let mut all = cx.core.service_addresses.taken.lock();
    let others = Taken::of_others(&all, &owner);
    let mut taken = Taken::default();
    if let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) {
        if text_of(spec, "type") != "ExternalName" {
            families(spec, old, &mut errors);
            if errors.is_empty() {
                addresses(spec, &others, &mut taken, &mut errors);
            }
        }
        if needs_node_ports(spec) {
            node_ports(spec, &others, &mut taken, &mut errors);
        }
        health_check_port(spec, &others, &mut taken);
    }
    if errors.is_empty() && !cx.dry_run {
        all.insert(owner, taken);
    }
    errors
}

fn text_of<'a>(spec: &'a Fields, key: &str) -> &'a str {
    spec.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn needs_node_ports(spec: &Fields) -> bool {
    match text_of(spec, "type") {
        "NodePort" => true,
        "LoadBalancer" => spec.get("allocateLoadBalancerNodePorts") != Some(&json!(false)),
        _ => false,
    }
}

/// The IP families: the cluster has IPv4 alone, but a service that nobody selects pods for may have both.
fn families(spec: &mut Fields, old: Option<&Value>, errors: &mut Errors) {
    let path = FieldPath::new("spec");
    let free = text_of(spec, "clusterIP") == "None"
        && spec.get("selector").and_then(Value::as_object).is_none_or(Fields::is_empty);
    let policy = old.map(|old| text(old, "spec.ipFamilyPolicy")).filter(|policy| !policy.is_empty());
    let policy = policy.unwrap_or(if free { "RequireDualStack" } else { "SingleStack" });
    set_default(spec, "ipFamilyPolicy", policy);
    let policy = text_of(spec, "ipFamilyPolicy").to_owned();
    if free {
        let both = if policy == "SingleStack" { json!(["IPv4"]) } else { json!(["IPv4", "IPv6"]) };
        set_default(spec, "ipFamilies", both);
        return;
    }
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(&path.child("ipFamilyPolicy"), policy, detail));
    }
    for (index, family) in spec.get("ipFamilies").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if family != "IPv4" {
            let path = path.child("ipFamilies").index(index);
            errors.push(FieldError::invalid(&path, family.clone(), "not configured on this cluster"));
        }
    }
    set_default(spec, "ipFamilies", json!(["IPv4"]));
}

fn addresses(spec: &mut Fields, others: &Taken, taken: &mut Taken, errors: &mut Errors) {
    let asked = text_of(spec, "clusterIP").to_owned();
    if !asked.is_empty() {
        set_default(spec, "clusterIPs", json!([asked]));
    }
    if asked == "None" {
        return;
    }
    let path = FieldPath::new("spec.clusterIPs");
    let [a, b, c] = NETWORK;
    if asked.is_empty() {
        let mut free = ADDRESSES.map(|last| Ipv4Addr::new(a, b, c, last)).filter(|ip| !others.addresses.contains(ip));
        let Some(address) = free.next() else {
            errors.push(FieldError::internal(&path, "failed to allocate a serviceIP: range is full"));
            return;
        };
        taken.addresses.insert(address);
        spec.insert("clusterIP".to_owned(), json!(address.to_string()));
        spec.insert("clusterIPs".to_owned(), json!([address.to_string()]));
        return;
    }
    let within = asked.parse::<Ipv4Addr>().ok().filter(|address| address.octets().starts_with(&NETWORK));
    let problem = match within {
        None => "the provided network does not match the current range".to_owned(),
        Some(address) if others.addresses.contains(&address) => "provided IP is already allocated".to_owned(),
        Some(address) => {
            taken.addresses.insert(address);
            return;
        }
    };
    let detail = format!("failed to allocate IP {asked}: {problem}");
    errors.push(FieldError::invalid(&path, spec.get("clusterIPs").cloned().unwrap_or_default(), detail));
}

fn node_ports(spec: &mut Fields, others: &Taken, taken: &mut Taken, errors: &mut Errors) {
    let asked = |port: &Fields| port.get("nodePort").and_then(Value::as_i64).filter(|number| *number != 0);
    let path = FieldPath::new("spec.ports");
    let wanted: Vec<Option<i64>> = objects_mut(spec, "ports").map(|port| asked(port)).collect();
    for (index, number) in wanted.iter().enumerate().filter_map(|(index, number)| Some((index, (*number)?))) {
        let path = path.index(index).child("nodePort");
        if !NODE_PORTS.contains(&number) {
            let detail = "provided port is not in the valid range. The range of valid ports is 30000-32767";
            errors.push(FieldError::invalid(&path, number, detail));
        } else if others.ports.contains(&number) || taken.ports.contains(&number) {
            errors.push(FieldError::invalid(&path, number, "provided port is already allocated"));
        } else {
            taken.ports.insert(number);
        }
    }
    for port in objects_mut(spec, "ports").filter(|port| asked(port).is_none()) {
        let free = NODE_PORTS.clone().find(|number| !others.ports.contains(number) && !taken.ports.contains(number));
        let Some(number) = free else {
            errors.push(FieldError::internal(&path, "failed to allocate a nodePort: range is full"));
            return;
        };
        taken.ports.insert(number);
        port.insert("nodePort".to_owned(), json!(number));
    }
}

/// The port at which nodes tell whether they have pods of a service whose traffic stays on the node.
fn health_check_port(spec: &mut Fields, others: &Taken, taken: &mut Taken) {
    let is_local = text_of(spec, "type") == "LoadBalancer" && text_of(spec, "externalTrafficPolicy") == "Local";
    let given = spec.get("healthCheckNodePort").and_then(Value::as_i64).filter(|port| *port != 0);
    if let Some(port) = given {
        taken.ports.insert(port);
    } else if is_local {
        let free = NODE_PORTS.clone().find(|number| !others.ports.contains(number) && !taken.ports.contains(number));
        if let Some(number) = free {
            taken.ports.insert(number);
            spec.insert("healthCheckNodePort".to_owned(), json!(number));
        }
    }
}

/// Keeps what an update left out and the service still needs; drops what its new type can't have.
pub(super) fn carry_over(new: &mut Value, old: &Value) {
    let typed = |service: &Value, kind: &str| text(service, "spec.type") == kind;
    let ports_before = typed(old, "NodePort") || typed(old, "LoadBalancer");
    let ports_after = typed(new, "NodePort") || typed(new, "LoadBalancer");
    let (was_name, is_name) = (typed(old, "ExternalName"), typed(new, "ExternalName"));
    let was_balanced = typed(old, "LoadBalancer") && !typed(new, "LoadBalancer");
    let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let old_spec = at(old, "spec");
    let drop_same = |spec: &mut Fields, key: &str| {
        if spec.get(key) == old_spec.get(key) {
            spec.remove(key);
        }
    };
    if !was_name && !is_name {
        if !text_of(spec, "clusterIP").is_empty()
            && spec.get("clusterIP") != old_spec.get("clusterIP")
            && spec.get("clusterIPs") == old_spec.get("clusterIPs")
        {
            // Who changes the one address means the list.
            let first = spec.get("clusterIP").cloned();
            spec.insert("clusterIPs".to_owned(), first.into_iter().collect());
        }
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if !at(old_spec, key).is_null() {
                set_default(spec, key, at(old_spec, key).clone());
            }
        }
    } else if is_name && !was_name {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"] {
            drop_same(spec, key);
        }
    }
    if ports_before && ports_after {
        keep_node_ports(spec, old_spec);
    } else if ports_before {
        for port in objects_mut(spec, "ports") {
            port.remove("nodePort");
        }
        if !is_given(old_spec, "externalIPs") {
            drop_same(spec, "externalTrafficPolicy");
        }
    }
    let is_local =
        |spec: &Value| text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
    if is_local(old_spec) {
        if text_of(spec, "type") == "LoadBalancer" && text_of(spec, "externalTrafficPolicy") == "Local" {
            if let Some(port) = number(old_spec, "healthCheckNodePort") {
                set_default(spec, "healthCheckNodePort", port);
            }
        } else {
            drop_same(spec, "healthCheckNodePort");
        }
    }
    if was_balanced {
        drop_same(spec, "allocateLoadBalancerNodePorts");
        drop_same(spec, "loadBalancerClass");
        if let Some(status) = new.as_object_mut().and_then(|service| object_mut(service, "status")) {
            status.insert("loadBalancer".to_owned(), json!({}));
        }
    }
}

/// Node ports stay with the names of their ports.
fn keep_node_ports(spec: &mut Fields, old_spec: &Value) {
    for port in objects_mut(spec, "ports") {
        let name = port.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let known = items(old_spec, "ports").iter().find(|old| text(old, "name") == name);
        if let Some(kept) = known.and_then(|known| number(known, "nodePort")).filter(|number| *number != 0) {
            set_default(port, "nodePort", kept);
        }
    }
}
