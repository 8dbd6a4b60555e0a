//! Rules for annotations that say something of pods, from before there were fields for it.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{Fields, at, is_given, text};
use super::super::rules::{Errors, named};
use super::every_container;
use super::volume::descending_path;
use crate::metadata::names;

/// Marks the image of a pod that a kubelet runs by itself.
pub(in crate::strategy) const MIRROR: &str = "kubernetes.io/config.mirror";

/// Before the name of a container: its AppArmor profile.
pub(in crate::strategy) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The keys of annotations.
pub(in crate::strategy) fn annotations(annotations: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in annotations.as_object().into_iter().flat_map(Fields::keys) {
        named(key, path, names::qualified_name(&key.to_lowercase()), errors);
    }
}

/// What annotations say of a pod or pod template.
pub(in crate::strategy) fn pod_annotations(pod: &Value, path: &FieldPath, errors: &mut Errors) {
    let spec = at(pod, "spec");
    let annotations = at(pod, "metadata.annotations");
    let annotation = |key: &str| annotations.get(key).and_then(Value::as_str);
    if let Some(mirror) = annotation(MIRROR)
        && !is_given(spec, "nodeName")
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.push(FieldError::invalid(&path.key(MIRROR), mirror, detail));
    }
    if let Some(cost) = annotation(DELETION_COST)
        && !is_cost(cost)
    {
        errors.push(FieldError::invalid(&path.key(DELETION_COST), cost, "must be a 32bit integer"));
    }
    if let Some(profile) = annotation(SECCOMP_POD) {
        seccomp(profile, &path.child(SECCOMP_POD), errors);
    }
    let each = || annotations.as_object().into_iter().flatten();
    for (key, profile) in each().filter(|(key, _)| key.starts_with(SECCOMP_CONTAINER)) {
        seccomp(profile.as_str().unwrap_or_default(), &path.child(key), errors);
    }
    for (key, profile) in each() {
        let Some(container) = key.strip_prefix(APP_ARMOR) else { continue };
        if !every_container(spec, path).any(|(_, other)| text(other, "name") == container) {
            errors.push(FieldError::invalid(&path.key(key), container, "container not found"));
        }
        let profile = profile.as_str().unwrap_or_default();
        if !matches!(profile, "" | "runtime/default" | "unconfined") && !profile.starts_with("localhost/") {
            let detail = format!("invalid AppArmor profile name: \"{profile}\"");
            errors.push(FieldError::invalid(&path.key(key), profile, detail));
        }
    }
}

fn is_cost(cost: &str) -> bool {
    let first_is_fine = cost == "0" || !cost.starts_with(['+', '0']);
    first_is_fine && cost.parse::<i32>().is_ok()
}

fn seccomp(profile: &str, path: &FieldPath, errors: &mut Errors) {
    if matches!(profile, "runtime/default" | "docker/default" | "unconfined") {
        return;
    }
    match profile.strip_prefix("localhost/") {
        Some(local) => descending_path(local, path, errors),
        None => errors.push(FieldError::invalid(path, profile, "must be a valid seccomp profile")),
    }
}

/// Annotations and fields that say the same; AppArmor's are compared for pods alone.
pub(in crate::strategy) fn profiles_match(pod: &Value, path: &FieldPath, is_pod: bool, errors: &mut Errors) {
    let spec = at(pod, "spec");
    let annotation = |key: &str| at(pod, "metadata.annotations").get(key).and_then(Value::as_str);
    let of_pod = at(spec, "securityContext.seccompProfile");
    if let Some(annotation) = annotation(SECCOMP_POD) {
        same_profile(of_pod, annotation, "seccomp", &path.child("securityContext.seccompProfile"), errors);
    }
    for (path, container) in every_container(spec, path) {
        if let Some(annotation) = annotation(&format!("{SECCOMP_CONTAINER}{}", text(container, "name"))) {
            let profile = at(container, "securityContext.seccompProfile");
            same_profile(profile, annotation, "seccomp", &path.child("securityContext.seccompProfile"), errors);
        }
    }
    if !is_pod || text(spec, "os.name") == "windows" {
        return;
    }
    let of_pod = at(spec, "securityContext.appArmorProfile");
    for (path, container) in every_container(spec, path) {
        let own = at(container, "securityContext.appArmorProfile");
        let profile = if own.is_null() { of_pod } else { own };
        if let Some(annotation) = annotation(&format!("{APP_ARMOR}{}", text(container, "name"))) {
            same_profile(profile, annotation, "apparmor", &path.child("securityContext.appArmorProfile"), errors);
        }
    }
}

fn same_profile(profile: &Value, annotation: &str, called: &str, path: &FieldPath, errors: &mut Errors) {
    let same_type = match text(profile, "type") {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => annotation == "runtime/default" || called == "seccomp" && annotation == "docker/default",
        "Localhost" => annotation.starts_with("localhost/"),
        _ => return,
    };
    let local = annotation.strip_prefix("localhost/");
    if !same_type {
        let detail = format!("{called} type in annotation and field must match");
        errors.push(FieldError::forbidden(&path.child("type"), detail));
    } else if text(profile, "type") == "Localhost" && at(profile, "localhostProfile").as_str() != local {
        let detail = format!("{called} profile in annotation and field must match");
        errors.push(FieldError::forbidden(&path.child("localhostProfile"), detail));
    }
}
