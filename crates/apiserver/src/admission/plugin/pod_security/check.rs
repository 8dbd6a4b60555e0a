//! Checks of a pod against a standard, and how what they find is told.

use std::collections::BTreeSet;

use serde_json::Value;

use super::policy::{Level, LevelVersion, Version};
use super::{baseline, restricted};
use crate::strategy::fields::{at, items, text};

/// The newest minor version in which a standard changed.
const NEWEST: u32 = 37;

/// What a check finds: a reason in few words, and details.
pub(super) type Found = Option<(&'static str, String)>;

/// Looks at a pod; the number is the minor version whose standard counts.
type Check = fn(&Value, u32) -> Found;

/// What is wrong with a pod.
#[derive(Debug)]
pub(super) struct Violations(Vec<(&'static str, String)>);

impl Violations {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn reasons(&self) -> String {
        let reasons: Vec<&str> = self.0.iter().map(|(reason, _)| *reason).collect();
        reasons.join(", ")
    }

    pub(super) fn details(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(|(reason, detail)| format!("{reason} ({detail})")).collect();
        texts.join(", ")
    }
}

/// Checks of the baseline, in order; those that a version of the restricted standard has checks in place of name it.
const BASELINE: [(Check, Option<u32>); 12] = [
    (baseline::app_armor, None),
    (baseline::capabilities, Some(22)),
    (baseline::host_namespaces, None),
    (baseline::host_path_volumes, Some(0)),
    (baseline::host_ports, None),
    (baseline::probe_hosts, None),
    (baseline::privileged, None),
    (baseline::proc_mount, Some(35)),
    (baseline::se_linux, None),
    (baseline::seccomp, Some(19)),
    (baseline::sysctls, None),
    (baseline::windows_host_process, None),
];

/// Checks of the restricted standard alone, in order.
const RESTRICTED: [Check; 7] = [
    restricted::privilege_escalation,
    restricted::capabilities,
    restricted::proc_mount,
    restricted::volumes,
    restricted::non_root,
    restricted::user,
    restricted::seccomp,
];

/// Checks a pod, or a template of pods.
pub(super) fn violations(standard: LevelVersion, pod: &Value) -> Violations {
    let minor = match standard.version {
        Version::Minor(minor) => minor.min(NEWEST),
        Version::Latest => NEWEST,
    };
    let is_restricted = standard.level == Level::Restricted;
    let replaced = |since: Option<u32>| is_restricted && since.is_some_and(|since| minor >= since);
    let mut found = Vec::new();
    if standard.level >= Level::Baseline {
        let checks = BASELINE.iter().filter(|(_, since)| !replaced(*since));
        found.extend(checks.filter_map(|(check, _)| check(pod, minor)));
    }
    if is_restricted {
        found.extend(RESTRICTED.iter().filter_map(|check| check(pod, minor)));
    }
    Violations(found)
}

/// All containers of a pod in the order in which they start.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let spec = at(pod, "spec");
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(|list| items(spec, list))
}

/// The names of containers for which something holds.
pub(super) fn names(pod: &Value, holds: impl Fn(&Value) -> bool) -> Vec<&str> {
    containers(pod).filter(|container| holds(container)).map(|container| text(container, "name")).collect()
}

/// What the pod and its containers set to a value that isn't allowed: who sets it, and the values.
pub(super) fn setters<'a>(
    pod: &'a Value,
    path: &str,
    is_bad: impl Fn(&Value) -> bool,
) -> (Vec<String>, BTreeSet<&'a str>) {
    let own = at(at(pod, "spec.securityContext"), path);
    let mut values = BTreeSet::new();
    let mut who = Vec::new();
    if is_bad(own) {
        who.push("pod".to_owned());
        values.insert(own.as_str().unwrap_or_default());
    }
    let mut bad = Vec::new();
    for container in containers(pod) {
        let value = at(at(container, "securityContext"), path);
        if is_bad(value) {
            bad.push(text(container, "name"));
            values.insert(value.as_str().unwrap_or_default());
        }
    }
    if !bad.is_empty() {
        who.push(counted("container", &bad));
    }
    (who, values)
}

/// Names in quotes.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    names.join(", ")
}

/// A word for one or for many.
pub(super) fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// `container "a"`, or `containers "a", "b"`.
pub(super) fn counted(word: &str, names: &[&str]) -> String {
    format!("{} {}", plural(word, names.len()), quoted(names.iter().copied()))
}

/// Whether somebody uses, or many use.
pub(super) fn uses(count: usize) -> &'static str {
    if count == 1 { "uses" } else { "use" }
}

/// Whether a pod has users of its own, not those of its node.
pub(super) fn has_own_users(pod: &Value) -> bool {
    at(pod, "spec.hostUsers") == &Value::Bool(false)
}

pub(super) fn is_windows(pod: &Value) -> bool {
    text(pod, "spec.os.name") == "windows"
}
