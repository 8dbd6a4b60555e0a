//! Rules for pods and pod templates: what operators get wrong, not yet all that kube-apiserver checks.

use std::collections::{BTreeMap, BTreeSet};

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::container_rules::{self, Containers};
use super::fields::{at, is_given, items, text};
use super::rules::{Errors, labels, named, one_of};
use crate::metadata::names;

/// The volumes of a pod by name.
pub(super) type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// Rules for a `PodTemplateSpec`.
pub(super) fn template(template: &Value, path: &FieldPath, errors: &mut Errors) {
    labels(at(template, "metadata.labels"), &path.child("labels"), errors);
    annotations(at(template, "metadata.annotations"), &path.child("annotations"), errors);
    pod_spec(at(template, "spec"), &path.child("spec"), errors);
    if is_given(template, "spec.ephemeralContainers") {
        let detail = "ephemeral containers not allowed in pod template";
        errors.push(FieldError::forbidden(&path.child("spec.ephemeralContainers"), detail));
    }
}

/// The keys of annotations.
fn annotations(annotations: &Value, path: &FieldPath, errors: &mut Errors) {
    for key in annotations.as_object().into_iter().flatten().map(|(key, _)| key) {
        named(key, path, names::qualified_name(&key.to_lowercase()), errors);
    }
}

/// Rules for a `PodSpec`.
pub(super) fn pod_spec(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let volumes = volumes(items(spec, "volumes"), &path.child("volumes"), errors);
    let mut containers = Containers { volumes, names: BTreeSet::new() };
    container_rules::containers(items(spec, "containers"), &path.child("containers"), &mut containers, errors);
    container_rules::init_containers(
        items(spec, "initContainers"),
        &path.child("initContainers"),
        &mut containers,
        errors,
    );
    one_of(at(spec, "restartPolicy"), &path.child("restartPolicy"), &["Always", "OnFailure", "Never"], errors);
    let dns = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(at(spec, "dnsPolicy"), &path.child("dnsPolicy"), &dns, errors);
    labels(at(spec, "nodeSelector"), &path.child("nodeSelector"), errors);
    for (index, secret) in items(spec, "imagePullSecrets").iter().enumerate() {
        if text(secret, "name").is_empty() {
            errors.push(FieldError::required(&path.child("imagePullSecrets").index(index).child("name"), ""));
        }
    }
    let subdomains = ["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"];
    for key in subdomains {
        let name = text(spec, key);
        if !name.is_empty() {
            named(name, &path.child(key), names::dns_subdomain(name, false), errors);
        }
    }
    let deadline = at(spec, "activeDeadlineSeconds");
    if deadline.as_i64().is_some_and(|deadline| !(1..=i64::from(i32::MAX)).contains(&deadline)) {
        let detail = "must be between 1 and 2147483647, inclusive";
        errors.push(FieldError::invalid(&path.child("activeDeadlineSeconds"), deadline.clone(), detail));
    }
    for key in ["hostname", "subdomain"] {
        let name = text(spec, key);
        if !name.is_empty() {
            named(name, &path.child(key), names::dns_label(name, false), errors);
        }
    }
    tolerations(items(spec, "tolerations"), &path.child("tolerations"), errors);
    if is_given(spec, "preemptionPolicy") {
        let policies = ["PreemptLowerPriority", "Never"];
        one_of(at(spec, "preemptionPolicy"), &path.child("preemptionPolicy"), &policies, errors);
    }
}

/// Rules for volumes; gives those that are right.
fn volumes<'a>(volumes: &'a [Value], path: &FieldPath, errors: &mut Errors) -> Volumes<'a> {
    let mut known = Volumes::new();
    for (index, volume) in volumes.iter().enumerate() {
        let path = path.index(index);
        let mut wrong = Errors::new();
        volume_source(volume, &path, &mut wrong);
        let name = text(volume, "name");
        let name_path = path.child("name");
        if name.is_empty() {
            wrong.push(FieldError::required(&name_path, ""));
        } else {
            named(name, &name_path, names::dns_label(name, false), &mut wrong);
        }
        if known.contains_key(name) {
            wrong.push(FieldError::duplicate(&name_path, name));
        }
        if wrong.is_empty() {
            known.insert(name, volume);
        }
        errors.extend(wrong);
    }
    known
}

fn volume_source(volume: &Value, path: &FieldPath, errors: &mut Errors) {
    let mut sources = volume.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
    if sources.next().is_none() {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
    for (key, _) in sources {
        errors.push(FieldError::forbidden(&path.child(key), "may not specify more than 1 volume type"));
    }
    let required = [
        ("secret", "secretName"),
        ("configMap", "name"),
        ("persistentVolumeClaim", "claimName"),
        ("hostPath", "path"),
        ("csi", "driver"),
        ("nfs", "server"),
    ];
    for (source, field) in required {
        if let Some(source_value) = volume.get(source)
            && text(source_value, field).is_empty()
        {
            errors.push(FieldError::required(&path.child(source).child(field), ""));
        }
    }
}

fn tolerations(tolerations: &[Value], path: &FieldPath, errors: &mut Errors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = path.index(index);
        let key = text(toleration, "key");
        let operator = text(toleration, "operator");
        if !key.is_empty() {
            named(key, &path.child("key"), names::qualified_name(key), errors);
        } else if operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(FieldError::invalid(&path.child("operator"), operator, detail));
        }
        if is_given(toleration, "tolerationSeconds") && text(toleration, "effect") != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid(&path.child("effect"), text(toleration, "effect"), detail));
        }
        match operator {
            "Exists" if is_given(toleration, "value") => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid(&path.child("operator"), text(toleration, "value"), detail));
            }
            "" | "Equal" | "Exists" => {}
            _ => errors.push(FieldError::not_supported(&path.child("operator"), operator, &["Equal", "Exists"])),
        }
    }
}
