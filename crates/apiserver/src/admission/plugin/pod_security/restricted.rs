//! Checks of the restricted standard: what a hardened pod says of itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::baseline::{any_proc_mount, restricts};
use super::check::{Found, containers, counted, has_own_users, is_windows, names, plural, quoted, setters, uses};
use crate::strategy::fields::{at, items, text};

/// Kinds of volumes that need nothing of the node.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Kinds of volumes by which those are named that aren't allowed.
const RESTRICTED_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

pub(super) fn privilege_escalation(pod: &Value, minor: u32) -> Found {
    if minor < 8 || minor >= 25 && is_windows(pod) {
        return None;
    }
    let bad = names(pod, |container| at(container, "securityContext.allowPrivilegeEscalation") != &json!(false));
    let detail = || format!("{} must set securityContext.allowPrivilegeEscalation=false", counted("container", &bad));
    (!bad.is_empty()).then(|| ("allowPrivilegeEscalation != false", detail()))
}

fn added(container: &Value) -> impl Iterator<Item = &str> {
    let added = items(container, "securityContext.capabilities.add").iter().filter_map(Value::as_str);
    added.filter(|capability| *capability != "NET_BIND_SERVICE")
}

pub(super) fn capabilities(pod: &Value, minor: u32) -> Found {
    if minor < 22 || minor >= 25 && is_windows(pod) {
        return None;
    }
    let keeps = |container: &Value| !items(container, "securityContext.capabilities.drop").contains(&json!("ALL"));
    let keeping = names(pod, keeps);
    let adding = names(pod, |container| added(container).next().is_some());
    let all: BTreeSet<&str> = containers(pod).flat_map(added).collect();
    let mut details = Vec::new();
    if !keeping.is_empty() {
        let who = counted("container", &keeping);
        details.push(format!("{who} must set securityContext.capabilities.drop=[\"ALL\"]"));
    }
    if !adding.is_empty() {
        let who = counted("container", &adding);
        details.push(format!("{who} must not include {} in securityContext.capabilities.add", quoted(all)));
    }
    (!details.is_empty()).then(|| ("unrestricted capabilities", details.join("; ")))
}

pub(super) fn proc_mount(pod: &Value, minor: u32) -> Found {
    if minor < 35 { None } else { any_proc_mount(pod) }
}

pub(super) fn volumes(pod: &Value, _minor: u32) -> Found {
    let has = |volume: &Value, kind: &str| !at(volume, kind).is_null();
    let bad: Vec<&Value> =
        items(pod, "spec.volumes").iter().filter(|volume| !VOLUMES.iter().any(|kind| has(volume, kind))).collect();
    let kind = |volume: &&Value| {
        let known = RESTRICTED_VOLUMES.iter().find(|kind| has(volume, kind));
        known.copied().unwrap_or("unknown")
    };
    let kinds: BTreeSet<&str> = bad.iter().map(kind).collect();
    let names: Vec<&str> = bad.iter().map(|volume| text(volume, "name")).collect();
    let word = plural("restricted volume type", kinds.len());
    let detail = || format!("{} {} {word} {}", counted("volume", &names), uses(names.len()), quoted(kinds));
    (!names.is_empty()).then(|| ("restricted volume types", detail()))
}

pub(super) fn non_root(pod: &Value, minor: u32) -> Found {
    if minor >= 35 && has_own_users(pod) {
        return None;
    }
    let path = "runAsNonRoot";
    let (who, _) = setters(pod, path, |value| value == &json!(false));
    if !who.is_empty() {
        let detail = format!("{} must not set securityContext.runAsNonRoot=false", who.join(" and "));
        return Some(("runAsNonRoot != true", detail));
    }
    let by_pod = at(pod, "spec.securityContext.runAsNonRoot") == &json!(true);
    let silent = names(pod, |container| !by_pod && at(container, "securityContext.runAsNonRoot").is_null());
    let detail = || format!("pod or {} must set securityContext.runAsNonRoot=true", counted("container", &silent));
    (!silent.is_empty()).then(|| ("runAsNonRoot != true", detail()))
}

pub(super) fn user(pod: &Value, minor: u32) -> Found {
    if minor < 23 || minor >= 35 && has_own_users(pod) {
        return None;
    }
    let (who, _) = setters(pod, "runAsUser", |value| value == &json!(0));
    (!who.is_empty()).then(|| ("runAsUser=0", format!("{} must not set runAsUser=0", who.join(" and "))))
}

pub(super) fn seccomp(pod: &Value, minor: u32) -> Found {
    if minor < 19 || minor >= 25 && is_windows(pod) {
        return None;
    }
    let is_bad = |profile: &Value| profile.as_str().is_some_and(|profile| !restricts(profile));
    let (who, values) = setters(pod, "seccompProfile.type", is_bad);
    if !who.is_empty() {
        let who = who.join(" and ");
        let detail = format!("{who} must not set securityContext.seccompProfile.type to {}", quoted(values));
        return Some(("seccompProfile", detail));
    }
    let by_pod = !at(pod, "spec.securityContext.seccompProfile").is_null();
    let silent = names(pod, |container| !by_pod && at(container, "securityContext.seccompProfile").is_null());
    let detail = || {
        let who = counted("container", &silent);
        format!("pod or {who} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"")
    };
    (!silent.is_empty()).then(|| ("seccompProfile", detail()))
}
