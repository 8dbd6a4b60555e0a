//! Checks of the baseline standard: what lets a pod out of its container.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::check::{Found, containers, counted, has_own_users, names, plural, quoted, setters, uses};
use crate::strategy::fields::{at, is_given, items, number, text};

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Kernel parameters that concern a pod alone, with the minor version since which they are allowed.
const SYSCTLS: [(&str, u32); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
    ("net.ipv4.tcp_notsent_lowat", 37),
];

pub(super) fn app_armor(pod: &Value, _minor: u32) -> Found {
    let is_bad =
        |profile: &Value| profile.as_str().is_some_and(|profile| !matches!(profile, "RuntimeDefault" | "Localhost"));
    let (mut who, values) = setters(pod, "appArmorProfile.type", is_bad);
    let mut values: Vec<String> = values.into_iter().map(str::to_owned).collect();
    let allowed =
        |profile: &str| profile.is_empty() || profile == "runtime/default" || profile.starts_with("localhost/");
    let annotations = at(pod, "metadata.annotations").as_object().into_iter().flatten();
    let forbidden: Vec<String> = annotations
        .filter(|(key, _)| key.starts_with("container.apparmor.security.beta.kubernetes.io/"))
        .filter_map(|(key, value)| Some((key, value.as_str()?)))
        .filter(|(_, value)| !allowed(value))
        .map(|(key, value)| format!("{key}=\"{value}\""))
        .collect();
    if !forbidden.is_empty() {
        who.push(plural("annotation", forbidden.len()));
        values.extend(forbidden);
    }
    if who.is_empty() {
        return None;
    }
    let reason = if values.len() == 1 { "forbidden AppArmor profile" } else { "forbidden AppArmor profiles" };
    let shown = quoted(values.iter().map(String::as_str));
    Some((reason, format!("{} must not set AppArmor profile type to {shown}", who.join(" and "))))
}

fn added(container: &Value) -> impl Iterator<Item = &str> {
    let added = items(container, "securityContext.capabilities.add").iter().filter_map(Value::as_str);
    added.filter(|capability| !CAPABILITIES.contains(capability))
}

pub(super) fn capabilities(pod: &Value, _minor: u32) -> Found {
    let bad = names(pod, |container| added(container).next().is_some());
    let all: BTreeSet<&str> = containers(pod).flat_map(added).collect();
    let detail = || {
        format!("{} must not include {} in securityContext.capabilities.add", counted("container", &bad), quoted(all))
    };
    (!bad.is_empty()).then(|| ("non-default capabilities", detail()))
}

pub(super) fn host_namespaces(pod: &Value, _minor: u32) -> Found {
    let shared = ["hostNetwork", "hostPID", "hostIPC"];
    let shared: Vec<String> =
        shared.iter().filter(|key| at(at(pod, "spec"), key) == &json!(true)).map(|key| format!("{key}=true")).collect();
    (!shared.is_empty()).then(|| ("host namespaces", shared.join(", ")))
}

pub(super) fn host_path_volumes(pod: &Value, _minor: u32) -> Found {
    let volumes = items(pod, "spec.volumes").iter().filter(|volume| !at(volume, "hostPath").is_null());
    let volumes: Vec<&str> = volumes.map(|volume| text(volume, "name")).collect();
    (!volumes.is_empty()).then(|| ("hostPath volumes", counted("volume", &volumes)))
}

fn host_ports_of(container: &Value) -> impl Iterator<Item = String> {
    let ports = items(container, "ports").iter().filter_map(|port| number(port, "hostPort"));
    ports.filter(|port| *port != 0).map(|port| port.to_string())
}

pub(super) fn host_ports(pod: &Value, _minor: u32) -> Found {
    let bad = names(pod, |container| host_ports_of(container).next().is_some());
    let ports: BTreeSet<String> = containers(pod).flat_map(host_ports_of).collect();
    let word = plural("hostPort", ports.len());
    let ports: Vec<String> = ports.into_iter().collect();
    let detail = || format!("{} {} {word} {}", counted("container", &bad), uses(bad.len()), ports.join(", "));
    (!bad.is_empty()).then(|| ("hostPort", detail()))
}

fn hosts(container: &Value) -> impl Iterator<Item = &str> {
    let handlers = ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"];
    let kinds = ["httpGet.host", "tcpSocket.host"];
    let hosts = handlers.into_iter().flat_map(move |handler| {
        let handler = at(container, handler);
        kinds.into_iter().map(move |kind| text(handler, kind))
    });
    hosts.filter(|host| !host.is_empty())
}

pub(super) fn probe_hosts(pod: &Value, minor: u32) -> Found {
    let bad: BTreeSet<&str> = names(pod, |container| hosts(container).next().is_some()).into_iter().collect();
    let bad: Vec<&str> = bad.into_iter().collect();
    let all: BTreeSet<&str> = containers(pod).flat_map(hosts).collect();
    let word = plural("probe or lifecycle host", all.len());
    let detail = || format!("{} {} {word} {}", counted("container", &bad), uses(bad.len()), quoted(all));
    (minor >= 34 && !bad.is_empty()).then(|| ("probe or lifecycle host", detail()))
}

pub(super) fn privileged(pod: &Value, _minor: u32) -> Found {
    let bad = names(pod, |container| at(container, "securityContext.privileged") == &json!(true));
    let detail = || format!("{} must not set securityContext.privileged=true", counted("container", &bad));
    (!bad.is_empty()).then(|| ("privileged", detail()))
}

pub(super) fn proc_mount(pod: &Value, minor: u32) -> Found {
    if minor >= 35 && has_own_users(pod) { None } else { any_proc_mount(pod) }
}

/// Mounts of `/proc` that show more than usual.
pub(super) fn any_proc_mount(pod: &Value) -> Found {
    let mount = |container: &Value| {
        let mount = at(container, "securityContext.procMount").as_str();
        mount.filter(|mount| *mount != "Default").map(str::to_owned)
    };
    let bad = names(pod, |container| mount(container).is_some());
    let kinds: BTreeSet<String> = containers(pod).filter_map(mount).collect();
    let detail = || {
        let kinds = quoted(kinds.iter().map(String::as_str));
        format!("{} must not set securityContext.procMount to {kinds}", counted("container", &bad))
    };
    (!bad.is_empty()).then(|| ("procMount", detail()))
}

pub(super) fn se_linux(pod: &Value, minor: u32) -> Found {
    let allowed = |kind: &str| {
        matches!(kind, "" | "container_t" | "container_init_t" | "container_kvm_t")
            || minor >= 31 && kind == "container_engine_t"
    };
    let is_bad =
        |options: &Value| !allowed(text(options, "type")) || is_given(options, "user") || is_given(options, "role");
    let own = at(pod, "spec.securityContext.seLinuxOptions");
    let (who, _) = setters(pod, "seLinuxOptions", is_bad);
    if who.is_empty() {
        return None;
    }
    let others = containers(pod).map(|container| at(container, "securityContext.seLinuxOptions"));
    let all: Vec<&Value> = [own].into_iter().chain(others).collect();
    let types: BTreeSet<&str> = all.iter().map(|options| text(options, "type")).filter(|kind| !allowed(kind)).collect();
    let mut bad = Vec::new();
    if !types.is_empty() {
        bad.push(counted("type", &types.into_iter().collect::<Vec<_>>()));
    }
    for key in ["user", "role"] {
        if all.iter().any(|options| is_given(options, key)) {
            bad.push(format!("{key} may not be set"));
        }
    }
    let detail = format!("{} set forbidden securityContext.seLinuxOptions: {}", who.join(" and "), bad.join("; "));
    Some(("seLinuxOptions", detail))
}

/// Whether a profile of seccomp is one that restricts.
pub(super) fn restricts(profile: &str) -> bool {
    matches!(profile, "Localhost" | "RuntimeDefault")
}

pub(super) fn seccomp(pod: &Value, minor: u32) -> Found {
    if minor < 19 {
        return seccomp_annotations(pod);
    }
    let is_bad = |profile: &Value| profile.as_str().is_some_and(|profile| !restricts(profile));
    let (who, values) = setters(pod, "seccompProfile.type", is_bad);
    let detail =
        || format!("{} must not set securityContext.seccompProfile.type to {}", who.join(" and "), quoted(values));
    (!who.is_empty()).then(|| ("seccompProfile", detail()))
}

/// Before there were fields, annotations said it.
fn seccomp_annotations(pod: &Value) -> Found {
    let of_containers = containers(pod)
        .map(|container| format!("container.seccomp.security.alpha.kubernetes.io/{}", text(container, "name")));
    let keys = ["seccomp.security.alpha.kubernetes.io/pod".to_owned()].into_iter().chain(of_containers);
    let allowed =
        |value: &str| matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
    let forbidden: BTreeSet<String> = keys
        .filter_map(|key| Some((at(pod, "metadata.annotations").get(&key)?.as_str()?, key)))
        .filter(|(value, _)| !allowed(value))
        .map(|(value, key)| format!("{key}=\"{value}\""))
        .collect();
    let word = plural("annotation", forbidden.len());
    let all: Vec<String> = forbidden.into_iter().collect();
    (!all.is_empty()).then(|| ("seccompProfile", format!("forbidden {word} {}", all.join(", "))))
}

pub(super) fn sysctls(pod: &Value, minor: u32) -> Found {
    let allowed = |name: &str| SYSCTLS.iter().any(|(known, since)| *known == name && minor >= *since);
    let names = items(pod, "spec.securityContext.sysctls").iter().map(|sysctl| text(sysctl, "name"));
    let forbidden: Vec<&str> = names.filter(|name| !allowed(name)).collect();
    (!forbidden.is_empty()).then(|| ("forbidden sysctls", forbidden.join(", ")))
}

pub(super) fn windows_host_process(pod: &Value, _minor: u32) -> Found {
    let (who, _) = setters(pod, "windowsOptions.hostProcess", |value| value == &json!(true));
    let detail = || format!("{} must not set securityContext.windowsOptions.hostProcess=true", who.join(" and "));
    (!who.is_empty()).then(|| ("hostProcess", detail()))
}
