//! What clients should know about a pod spec that they wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use controller_runtime_schema::FieldPath;
use serde_json::Value;

use super::super::fields::{Fields, at, is_given, items, number, text};
use super::super::quantity::Quantity;
use super::annotation::APP_ARMOR;
use super::every_container;
use super::overlap::overlapping_paths;
use crate::metadata::names;

const NULL_SELECTOR: &str = "a null labelSelector results in matching no pod";

/// Labels of nodes that had other names.
const OLD_LABELS: &[(&str, &str)] = &[
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    ("failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"),
    ("beta.kubernetes.io/instance-type", "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
];

/// Annotations that no longer do anything.
const OLD_ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
];

/// Volumes whose driver is gone, as the reference calls them.
const OLD_VOLUMES: &[(&str, &str, &str)] = &[
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

fn old_label(key: &str) -> Option<&'static str> {
    OLD_LABELS.iter().find(|(label, _)| *label == key).map(|(_, text)| *text)
}

/// What to say of a pod (at the root) or a pod template.
pub(in crate::strategy) fn warnings(pod: &Value, path: &FieldPath) -> Vec<String> {
    let mut warnings = Vec::new();
    let spec = at(pod, "spec");
    let spec_path = path.child("spec");
    nodes(spec, &spec_path, &mut warnings);
    spread(spec, &spec_path, &mut warnings);
    let annotations = at(pod, "metadata.annotations");
    let annotations_path = path.child("metadata.annotations");
    for (key, text) in OLD_ANNOTATIONS.iter().filter(|(key, _)| annotations.get(*key).is_some()) {
        warnings.push(format!("{}: {text}", annotations_path.key(key)));
    }
    volumes(spec, &spec_path, &mut warnings);
    warnings.extend(overlapping_paths(items(spec, "volumes")));
    duplicates(spec, &spec_path, &mut warnings);
    fractions(at(spec, "overhead"), &spec_path.child("overhead"), &mut warnings);
    if at(spec, "securityContext.seccompProfile").is_null() {
        old_seccomp("seccomp.security.alpha.kubernetes.io/pod", annotations, &annotations_path, &mut warnings);
    }
    for (place, container) in every_container(spec, &spec_path) {
        of_container(container, &place, &mut warnings);
        let name = text(container, "name");
        if at(container, "securityContext.seccompProfile").is_null() {
            let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
            old_seccomp(&key, annotations, &annotations_path, &mut warnings);
        }
        let key = format!("{APP_ARMOR}{name}");
        let has_field = !at(container, "securityContext.appArmorProfile").is_null();
        if !path.as_str().is_empty() && !has_field && annotations.get(&key).is_some() {
            let text = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
            warnings.push(format!("{}: {text}", annotations_path.key(key)));
        }
    }
    ports(spec, &spec_path, &mut warnings);
    if number(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let path = spec_path.child("terminationGracePeriodSeconds");
        warnings.push(format!("{path}: must be >= 0; negative values are invalid and will be treated as 1"));
    }
    null_selectors(spec, &spec_path, &mut warnings);
    addresses(spec, &spec_path, &mut warnings);
    warnings
}

fn old_seccomp(key: &str, annotations: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    if annotations.get(key).is_some() {
        warnings.push(format!("{}: non-functional in v1.27+; use the \"seccompProfile\" field instead", path.key(key)));
    }
}

fn nodes(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for key in at(spec, "nodeSelector").as_object().into_iter().flat_map(Fields::keys) {
        if let Some(text) = old_label(key) {
            warnings.push(format!("{}: {text}", path.child("nodeSelector").key(key)));
        }
    }
    let path = path.child("affinity.nodeAffinity");
    let affinity = at(spec, "affinity.nodeAffinity");
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    for (index, term) in items(at(affinity, required), "nodeSelectorTerms").iter().enumerate() {
        node_term(term, false, &path.child(required).child("nodeSelectorTerms").index(index), warnings);
    }
    for (index, term) in items(affinity, preferred).iter().enumerate() {
        let path = path.child(preferred).index(index).child("preference");
        node_term(at(term, "preference"), true, &path, warnings);
    }
}

fn node_term(term: &Value, checks_values: bool, path: &FieldPath, warnings: &mut Vec<String>) {
    for (index, expression) in items(term, "matchExpressions").iter().enumerate() {
        let path = path.child("matchExpressions").index(index);
        let key = text(expression, "key");
        if let Some(text) = old_label(key) {
            warnings.push(format!("{}: {key} is {text}", path.child("key")));
        }
        for (index, value) in items(expression, "values").iter().enumerate().filter(|_| checks_values) {
            let value = value.as_str().unwrap_or_default();
            for text in names::label_value(value) {
                warnings.push(format!("{}: {value} is invalid, {text}", path.child("values").index(index)));
            }
        }
    }
}

fn spread(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for (index, constraint) in items(spec, "topologySpreadConstraints").iter().enumerate() {
        let path = path.child("topologySpreadConstraints").index(index);
        let key = text(constraint, "topologyKey");
        if let Some(text) = old_label(key) {
            warnings.push(format!("{}: {key} is {text}", path.child("topologyKey")));
        }
        if at(constraint, "labelSelector").is_null() {
            warnings.push(format!("{}: {NULL_SELECTOR}", path.child("labelSelector")));
        }
    }
}

fn volumes(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for (index, volume) in items(spec, "volumes").iter().enumerate() {
        let path = path.child("volumes").index(index);
        for (_, shown, text) in OLD_VOLUMES.iter().filter(|(key, _, _)| !at(volume, key).is_null()) {
            warnings.push(format!("{}: {text}", path.child(shown)));
        }
        let claim = at(volume, "ephemeral.volumeClaimTemplate.spec");
        warnings.extend(claim_warnings(claim, &path.child("ephemeral.volumeClaimTemplate.spec")));
    }
}

/// What to say of a `PersistentVolumeClaimSpec`.
pub(in crate::strategy) fn claim_warnings(spec: &Value, path: &FieldPath) -> Vec<String> {
    let mut warnings = Vec::new();
    for kind in ["requests", "limits"] {
        let amount = at(at(spec, "resources"), kind).get("storage");
        fraction(amount, &path.child("resources").child(kind).key("storage"), &mut warnings);
    }
    warnings
}

fn fraction(amount: Option<&Value>, path: &FieldPath, warnings: &mut Vec<String>) {
    let Some(amount) = amount.and_then(Value::as_str) else { return };
    if Quantity::parse(amount).is_some_and(|amount| amount.nanos() % 1_000_000_000 != 0) {
        warnings.push(format!("{path}: fractional byte value \"{amount}\" is invalid, must be an integer"));
    }
}

fn fractions(amounts: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for name in ["memory", "ephemeral-storage"] {
        fraction(amounts.get(name), &path.key(name), warnings);
    }
}

fn duplicates(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for (list, key) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let mut seen = BTreeSet::new();
        for (index, item) in items(spec, list).iter().enumerate() {
            if !seen.insert(text(item, key)) {
                let path = path.child(list).index(index).child(key);
                warnings.push(format!("{path}: duplicate {key} \"{}\"", text(item, key)));
            }
        }
    }
    for (index, secret) in items(spec, "imagePullSecrets").iter().enumerate() {
        if text(secret, "name").is_empty() {
            let path = path.child("imagePullSecrets").index(index).child("name");
            warnings.push(format!("{path}: invalid empty name \"\""));
        }
    }
}

fn of_container(container: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for name in ["memory", "ephemeral-storage"] {
        for kind in ["limits", "requests"] {
            let amount = at(at(container, "resources"), kind).get(name);
            fraction(amount, &path.child("resources").child(kind).key(name), warnings);
        }
    }
    let mut seen = BTreeSet::new();
    for (index, variable) in items(container, "env").iter().enumerate() {
        let name = text(variable, "name");
        let (value, reference) = (text(variable, "value"), format!("$({name})"));
        let extends = at(variable, "valueFrom").is_null() && value != reference && value.contains(&reference);
        if !seen.insert(name) && !extends {
            let path = path.child("env").index(index);
            let text = format!("hides previous definition of \"{name}\", which may be dropped when using apply");
            warnings.push(format!("{path}: {text}"));
        }
    }
}

fn ports(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    let mut known: BTreeMap<(i64, &str), Vec<(FieldPath, &Value)>> = BTreeMap::new();
    let mut named: BTreeMap<&str, FieldPath> = BTreeMap::new();
    let mut by_name = Vec::new();
    for (place, container) in every_container(spec, path) {
        for (index, port) in items(container, "ports").iter().enumerate() {
            let path = place.child("ports").index(index);
            let host = |port: &Value| (text(port, "hostIP").to_owned(), number(port, "hostPort").unwrap_or_default());
            let (address, host_port) = host(port);
            let key = (number(port, "containerPort").unwrap_or_default(), text(port, "protocol"));
            let others = known.entry(key).or_default();
            for (other, with) in others.iter() {
                let (other_address, other_port) = host(with);
                let text = if (&address, host_port) == (&other_address, other_port) {
                    "duplicate port definition with"
                } else if host_port == 0 || other_port == 0 {
                    "overlapping port definition with"
                } else if host_port == other_port && address.is_empty() != other_address.is_empty() {
                    "dangerously ambiguous port definition with"
                } else {
                    continue;
                };
                warnings.push(format!("{path}: {text} {other}"));
            }
            others.push((path.clone(), port));
            let name = text(port, "name");
            if let Some(other) = named.get(name) {
                by_name.push(format!(
                    "{path}: duplicate port name \"{name}\" with {other}, services and probes that select ports by name \
                     will use {other}"
                ));
            } else if is_given(port, "name") {
                named.insert(name, path);
            }
        }
    }
    warnings.extend(by_name);
}

fn null_selectors(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        for (list, inner) in [
            ("requiredDuringSchedulingIgnoredDuringExecution", ""),
            ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
        ] {
            for (index, term) in items(at(at(spec, "affinity"), kind), list).iter().enumerate() {
                let path = path.child("affinity").child(kind).child(list).index(index);
                let (term, path) = if inner.is_empty() { (term, path) } else { (at(term, inner), path.child(inner)) };
                if at(term, "labelSelector").is_null() {
                    warnings.push(format!("{}: {NULL_SELECTOR}", path.child("labelSelector")));
                }
            }
        }
    }
}

fn addresses(spec: &Value, path: &FieldPath, warnings: &mut Vec<String>) {
    for (index, server) in items(spec, "dnsConfig.nameservers").iter().enumerate() {
        let path = path.child("dnsConfig.nameservers").index(index);
        warnings.extend(ip_warning(server.as_str().unwrap_or_default(), &path));
    }
    for (index, alias) in items(spec, "hostAliases").iter().enumerate() {
        let path = path.child("hostAliases").index(index).child("ip");
        warnings.extend(ip_warning(text(alias, "ip"), &path));
    }
}

/// What to say of an address that isn't in its canonical form.
pub(in crate::strategy) fn ip_warning(address: &str, path: &FieldPath) -> Option<String> {
    let canonical = address.parse::<IpAddr>().ok()?.to_string();
    (canonical != address && address.contains(':'))
        .then(|| format!("{path}: IPv6 address \"{address}\" should be in RFC 5952 canonical format (\"{canonical}\")"))
}
