//! Rules for the operating system of a pod, and for what only Windows has.

use controller_runtime_schema::{FieldError, FieldPath, Pattern};
use serde_json::Value;

use super::super::fields::{at, is_given, text};
use super::super::rules::{Errors, named};
use super::every_container;
use crate::metadata::names;

/// Rules for `WindowsSecurityContextOptions`.
pub(super) fn options(options: &Value, path: &FieldPath, errors: &mut Errors) {
    if let Some(name) = at(options, "gmsaCredentialSpecName").as_str() {
        named(name, &path.child("gmsaCredentialSpecName"), names::dns_subdomain(name, false), errors);
    }
    if let Some(spec) = at(options, "gmsaCredentialSpec").as_str() {
        let detail = match spec.len() {
            0 => Some("gmsaCredentialSpec cannot be an empty string"),
            length if length > 64 * 1024 => Some("gmsaCredentialSpec size must be under 64 KiB"),
            _ => None,
        };
        if let Some(detail) = detail {
            errors.push(FieldError::invalid(&path.child("gmsaCredentialSpec"), spec, detail));
        }
    }
    if let Some(name) = at(options, "runAsUserName").as_str() {
        for detail in user_name(name) {
            errors.push(FieldError::invalid(&path.child("runAsUserName"), name, format!("runAsUserName{detail}")));
        }
    }
}

/// A user of Windows, optionally with a domain and a backslash before it.
fn user_name(name: &str) -> Vec<&'static str> {
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [""] => return vec![" cannot be an empty string"],
        _ if name.bytes().any(|byte| byte.is_ascii_control()) => return vec![" cannot contain control characters"],
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return vec![" cannot contain more than one backslash"],
    };
    let mut texts = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= 256) {
        texts.push("'s Domain length must be under 256 characters");
    }
    if domain.is_some_and(|domain| !is_domain(domain)) {
        texts.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        texts.push("'s User cannot be empty");
    } else if user.len() > 104 {
        texts.push("'s User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|byte| matches!(byte, b'.' | b' ')) {
        texts.push("'s User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        texts.push("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    texts
}

fn is_domain(domain: &str) -> bool {
    let forms = [
        r#"^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$"#,
        r"^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
    ];
    forms.iter().any(|form| Pattern::new(*form).is_match(domain).unwrap_or(false))
}

/// Rules for pods whose containers are processes of the node.
pub(super) fn host_processes(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let of = |object: &Value| at(object, "securityContext.windowsOptions.hostProcess").as_bool();
    let of_pod = of(spec);
    let (mut all, mut processes) = (0, 0);
    for (path, container) in every_container(spec, path) {
        let of_container = of(container);
        if let (Some(of_pod), Some(of_container)) = (of_pod, of_container)
            && of_pod != of_container
        {
            let path = path.child("securityContext.windowsOptions.hostProcess");
            let detail = format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            errors.push(FieldError::invalid(&path, of_container, detail));
        }
        all += 1;
        processes += usize::from(of_container.or(of_pod).unwrap_or_default());
    }
    if processes == 0 {
        return;
    }
    if processes != all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.push(FieldError::invalid(path, "", detail));
    }
    if at(spec, "hostNetwork") != &Value::Bool(true) {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.push(FieldError::invalid(&path.child("hostNetwork"), false, detail));
    }
}

/// Rules for the `os` of a pod and what that system doesn't have.
pub(super) fn operating_system(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    if at(spec, "os").is_null() {
        return;
    }
    match text(spec, "os.name") {
        "" => errors.push(FieldError::required(&path.child("os.name"), "")),
        "linux" => without_windows(spec, path, errors),
        "windows" => without_linux(spec, path, errors),
        other => errors.push(FieldError::not_supported(&path.child("os"), other, &["linux", "windows"])),
    }
}

fn without_windows(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let of_containers = every_container(spec, path);
    for (path, object) in std::iter::once((path.clone(), spec)).chain(of_containers) {
        if !at(object, "securityContext.windowsOptions").is_null() {
            let detail = "windows options cannot be set for a linux pod";
            errors.push(FieldError::forbidden(&path.child("securityContext.windowsOptions"), detail));
        }
    }
}

fn without_linux(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    const OF_PODS: &[&str] = &[
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "sysctls",
        "runAsUser",
        "runAsGroup",
        "supplementalGroups",
        "supplementalGroupsPolicy",
        "seLinuxChangePolicy",
    ];
    const OF_CONTAINERS: &[&str] = &[
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "capabilities",
        "readOnlyRootFilesystem",
        "privileged",
        "allowPrivilegeEscalation",
        "procMount",
        "runAsUser",
        "runAsGroup",
    ];
    let mut forbid = |object: &Value, keys: &[&str], path: &FieldPath| {
        for key in keys.iter().filter(|key| at(object, key).is_object() || is_given(object, key)) {
            errors.push(FieldError::forbidden(&path.child(key), "cannot be set for a windows pod"));
        }
    };
    forbid(at(spec, "securityContext"), OF_PODS, &path.child("securityContext"));
    forbid(spec, &["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"], path);
    for (path, container) in every_container(spec, path) {
        forbid(at(container, "securityContext"), OF_CONTAINERS, &path.child("securityContext"));
    }
}
