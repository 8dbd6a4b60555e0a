//! Rules for the security contexts of pods and containers: users, groups, profiles, kernel parameters.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, is_given, items, text};
use super::super::rules::{Errors, one_of_given, user_or_group};
use super::volume::descending_path;
use super::windows;

const PROFILE_TYPES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];

/// Rules for the `PodSecurityContext` of a pod of `spec`.
pub(super) fn of_pod(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let context = at(spec, "securityContext");
    if context.is_null() {
        return;
    }
    for key in ["fsGroup", "runAsUser", "runAsGroup"] {
        user_or_group(at(context, key), &path.child(key), errors);
    }
    for (index, group) in items(context, "supplementalGroups").iter().enumerate() {
        user_or_group(group, &path.child("supplementalGroups").index(index), errors);
    }
    sysctls(items(context, "sysctls"), spec, &path.child("sysctls"), errors);
    let policies = ["Always", "OnRootMismatch"];
    one_of_given(at(context, "fsGroupChangePolicy"), &path.child("fsGroupChangePolicy"), &policies, errors);
    seccomp(at(context, "seccompProfile"), &path.child("seccompProfile"), errors);
    windows::options(at(context, "windowsOptions"), &path.child("windowsOptions"), errors);
    app_armor(at(context, "appArmorProfile"), &path.child("appArmorProfile"), errors);
    let policies = ["Merge", "Strict"];
    one_of_given(at(context, "supplementalGroupsPolicy"), &path.child("supplementalGroupsPolicy"), &policies, errors);
    let policies = ["MountOption", "Recursive"];
    one_of_given(at(context, "seLinuxChangePolicy"), &path.child("seLinuxChangePolicy"), &policies, errors);
}

/// Rules for the `SecurityContext` of a container in a pod of `spec`.
pub(super) fn of_container(container: &Value, spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let context = at(container, "securityContext");
    if context.is_null() {
        return;
    }
    let truth = Value::Bool(true);
    let privileged = at(context, "privileged") == &truth;
    for key in ["runAsUser", "runAsGroup"] {
        user_or_group(at(context, key), &path.child(key), errors);
    }
    let proc_mount = at(context, "procMount");
    one_of_given(proc_mount, &path.child("procMount"), &["Default", "Unmasked"], errors);
    if proc_mount == "Unmasked" && at(spec, "hostUsers") != &Value::Bool(false) {
        let detail = "`hostUsers` must be false to use `Unmasked`";
        errors.push(FieldError::invalid(&path.child("procMount"), proc_mount.clone(), detail));
    }
    seccomp(at(context, "seccompProfile"), &path.child("seccompProfile"), errors);
    if at(context, "allowPrivilegeEscalation") == &Value::Bool(false) {
        if privileged {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.push(FieldError::invalid(path, context.clone(), detail));
        }
        for _ in items(context, "capabilities.add").iter().filter(|capability| *capability == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.push(FieldError::invalid(path, context.clone(), detail));
        }
    }
    windows::options(at(context, "windowsOptions"), &path.child("windowsOptions"), errors);
    app_armor(at(context, "appArmorProfile"), &path.child("appArmorProfile"), errors);
}

fn seccomp(profile: &Value, path: &FieldPath, errors: &mut Errors) {
    if profile.is_null() {
        return;
    }
    let kind = text(profile, "type");
    if kind.is_empty() {
        errors.push(FieldError::required(&path.child("type"), "type is required when seccompProfile is set"));
    } else if !PROFILE_TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(&path.child("type"), kind, PROFILE_TYPES));
    }
    let path = path.child("localhostProfile");
    match (kind, at(profile, "localhostProfile").as_str()) {
        ("Localhost", None) => {
            errors.push(FieldError::required(&path, "must be set when seccomp type is Localhost"));
        }
        ("Localhost", Some(local)) => descending_path(local, &path, errors),
        (_, Some(_)) => {
            let detail = "can only be set when seccomp type is Localhost";
            errors.push(FieldError::invalid(&path, profile.clone(), detail));
        }
        (_, None) => {}
    }
}

fn app_armor(profile: &Value, path: &FieldPath, errors: &mut Errors) {
    if profile.is_null() {
        return;
    }
    let local_path = path.child("localhostProfile");
    let local = at(profile, "localhostProfile").as_str();
    match (text(profile, "type"), local) {
        ("Localhost", Some(local)) => {
            if local.trim() != local {
                errors.push(FieldError::invalid(&local_path, local, "must not be padded with whitespace"));
            } else if local.is_empty() {
                errors.push(FieldError::required(&local_path, "must be set when AppArmor type is Localhost"));
            }
            if local.len() > 4095 {
                errors.push(FieldError::too_long(&local_path, 4095));
            }
        }
        ("Localhost", None) => {
            errors.push(FieldError::required(&local_path, "must be set when AppArmor type is Localhost"));
        }
        ("RuntimeDefault" | "Unconfined", Some(local)) => {
            errors.push(FieldError::invalid(&local_path, local, "can only be set when AppArmor type is Localhost"));
        }
        ("RuntimeDefault" | "Unconfined", None) => {}
        ("", _) => {
            errors.push(FieldError::required(&path.child("type"), "type is required when appArmorProfile is set"));
        }
        (kind, _) => errors.push(FieldError::not_supported(&path.child("type"), kind, PROFILE_TYPES)),
    }
}

fn sysctls(list: &[Value], spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, sysctl) in list.iter().enumerate() {
        let path = path.index(index).child("name");
        let name = text(sysctl, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else if !is_sysctl(name) {
            let detail = "must have at most 253 characters and match regex \
                          ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            errors.push(FieldError::invalid(&path, name, detail));
        } else if taken.contains(name) {
            errors.push(FieldError::duplicate(&path, name));
        }
        taken.insert(name);
        for (key, of) in [("hostNetwork", is_of_network as fn(&str) -> bool), ("hostIPC", is_of_ipc)] {
            if at(spec, key) == &Value::Bool(true) && of(&name.replace('/', ".")) {
                errors.push(FieldError::invalid(&path, name, format!("may not be specified when '{key}' is true")));
            }
        }
    }
}

fn is_sysctl(name: &str) -> bool {
    let outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let segment = |segment: &str| {
        let bytes = segment.as_bytes();
        bytes.first().is_some_and(|byte| outer(*byte))
            && bytes.last().is_some_and(|byte| outer(*byte))
            && bytes.iter().all(|byte| outer(*byte) || matches!(byte, b'-' | b'_'))
    };
    name.len() <= 253 && name.split(['.', '/']).all(segment)
}

fn is_of_network(name: &str) -> bool {
    name.starts_with("net.")
}

fn is_of_ipc(name: &str) -> bool {
    const KERNEL: &[&str] = &[
        "kernel.sem",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.shm",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
        "kernel.msg",
    ];
    KERNEL.contains(&name) || name.starts_with("fs.mqueue.")
}

/// Rules for namespaces of the node that a pod shares.
pub(super) fn host_namespaces(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    if at(spec, "hostUsers") != &Value::Bool(false) {
        return;
    }
    let detail = "when `hostUsers` is false";
    for (key, place) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if at(spec, key) == &Value::Bool(true) {
            errors.push(FieldError::forbidden(&path.child(place), detail));
        }
    }
    for (path, container) in super::every_container(spec, path) {
        if is_given(container, "volumeDevices") {
            errors.push(FieldError::forbidden(&path.child("volumeDevices"), detail));
        }
    }
}
