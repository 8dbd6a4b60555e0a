//! Rules for containers: those that run, that run before, and that were added to look into a pod.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{at, is_given, items, number, text};
use super::super::rules::{Errors, named, one_of, one_of_given, within};
use super::probe::{lifecycle_and_probes, port_name};
use super::{Volumes, environment, mount, resources, security_context};
use crate::metadata::names;

/// What containers of one pod share.
pub(super) struct Containers<'a> {
    /// The spec of the pod.
    pub(super) spec: &'a Value,
    /// The volumes that can be mounted.
    pub(super) volumes: Volumes<'a>,
}

impl Containers<'_> {
    fn grace(&self) -> Option<i64> {
        number(self.spec, "terminationGracePeriodSeconds")
    }

    /// Rules for `containers`.
    pub(super) fn regular(&self, path: &FieldPath, errors: &mut Errors) {
        let list = items(self.spec, "containers");
        if list.is_empty() {
            errors.push(FieldError::required(path, ""));
            return;
        }
        let mut taken = BTreeSet::new();
        for (index, container) in list.iter().enumerate() {
            let path = path.index(index);
            self.common(container, &path, errors);
            let name = text(container, "name");
            if !taken.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), name));
            }
            lifecycle_and_probes(container, self.grace(), &path, errors);
            restart_policy(container, &path, errors);
        }
        host_ports(list.iter().enumerate(), path, errors);
    }

    /// Rules for `initContainers`.
    pub(super) fn init(&self, path: &FieldPath, errors: &mut Errors) {
        let mut taken: BTreeSet<_> = items(self.spec, "containers").iter().map(|other| text(other, "name")).collect();
        for (index, container) in items(self.spec, "initContainers").iter().enumerate() {
            let item = path.index(index);
            self.common(container, &item, errors);
            restart_policy(container, &item, errors);
            let name = text(container, "name");
            if taken.contains(name) {
                errors.push(FieldError::duplicate(&item.child("name"), name));
            } else if !name.is_empty() {
                taken.insert(name);
            }
            host_ports(std::iter::once((0, container)), path, errors);
            if text(container, "restartPolicy") == "Always" {
                lifecycle_and_probes(container, self.grace(), &item, errors);
                continue;
            }
            for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if !at(container, key).is_null() {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    errors.push(FieldError::forbidden(&item.child(key), detail));
                }
            }
            for (index, policy) in items(container, "resizePolicy").iter().enumerate() {
                if text(policy, "restartPolicy") == "RestartContainer" {
                    let path = item.child("resizePolicy").index(index).child("restartPolicy");
                    let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                    errors.push(FieldError::invalid(&path, "RestartContainer", detail));
                }
            }
        }
    }

    /// Rules for `ephemeralContainers`.
    pub(super) fn ephemeral(&self, path: &FieldPath, errors: &mut Errors) {
        let others = items(self.spec, "containers").iter().chain(items(self.spec, "initContainers"));
        let others: BTreeSet<_> = others.map(|other| text(other, "name")).collect();
        let mut taken = others.clone();
        for (index, container) in items(self.spec, "ephemeralContainers").iter().enumerate() {
            let path = path.index(index);
            self.common(container, &path, errors);
            trimmed_image(container, &path, errors);
            let name = text(container, "name");
            if !taken.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), name));
            }
            let target = text(container, "targetContainerName");
            if !target.is_empty() && !others.contains(target) {
                errors.push(FieldError::not_found(&path.child("targetContainerName"), target));
            }
            not_for_ephemeral(container, &path, errors);
        }
    }

    fn common(&self, container: &Value, path: &FieldPath, errors: &mut Errors) {
        let name = text(container, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else {
            named(name, &path.child("name"), names::dns_label(name, false), errors);
        }
        if text(container, "image").is_empty() {
            errors.push(FieldError::required(&path.child("image"), ""));
        }
        let policies = ["File", "FallbackToLogsOnError"];
        one_of(at(container, "terminationMessagePolicy"), &path.child("terminationMessagePolicy"), &policies, errors);
        ports(items(container, "ports"), &path.child("ports"), errors);
        environment::variables(items(container, "env"), &path.child("env"), errors);
        environment::sources(items(container, "envFrom"), &path.child("envFrom"), errors);
        mount::mounts(container, &path.child("volumeMounts"), &self.volumes, errors);
        mount::devices(container, &path.child("volumeDevices"), &self.volumes, errors);
        pull_policy(container, "imagePullPolicy", path, errors);
        resources::of_container(at(container, "resources"), self.spec, &path.child("resources"), errors);
        self.resize_policy(items(container, "resizePolicy"), &path.child("resizePolicy"), errors);
        security_context::of_container(container, self.spec, &path.child("securityContext"), errors);
    }

    fn resize_policy(&self, policies: &[Value], path: &FieldPath, errors: &mut Errors) {
        let mut seen = BTreeSet::new();
        for (index, policy) in policies.iter().enumerate() {
            let (resource, restart) = (text(policy, "resourceName"), text(policy, "restartPolicy"));
            if !seen.insert(resource) {
                errors.push(FieldError::duplicate(&path.index(index), resource));
            }
            for (value, supported) in [(resource, ["cpu", "memory"]), (restart, ["NotRequired", "RestartContainer"])] {
                if value.is_empty() {
                    errors.push(FieldError::required(path, ""));
                } else {
                    one_of(&Value::from(value), path, &supported, errors);
                }
            }
            if text(self.spec, "restartPolicy") == "Never" && restart != "NotRequired" {
                let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
                errors.push(FieldError::invalid(path, restart, detail));
            }
        }
    }
}

/// Fields that containers have and ephemeral containers don't.
fn not_for_ephemeral(container: &Value, path: &FieldPath, errors: &mut Errors) {
    let detail = "cannot be set for an Ephemeral Container";
    let fields = [
        "ports",
        "resources",
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
    ];
    for field in fields {
        let value = at(container, field);
        let object_is_given = value.is_object() && field != "resources";
        if object_is_given || is_given(container, field) {
            errors.push(FieldError::forbidden(&path.child(field), detail));
        }
    }
    for (index, mount) in items(container, "volumeMounts").iter().enumerate() {
        for field in ["subPath", "subPathExpr"] {
            if is_given(mount, field) {
                errors.push(FieldError::forbidden(&path.child("volumeMounts").index(index).child(field), detail));
            }
        }
    }
}

/// Only pods, not templates, refuse images with white space around.
pub(super) fn trimmed_image(container: &Value, path: &FieldPath, errors: &mut Errors) {
    let image = text(container, "image");
    if image.trim() != image {
        let detail = "must not have leading or trailing whitespace";
        errors.push(FieldError::invalid(&path.child("image"), image, detail));
    }
}

/// When an image is pulled.
pub(super) fn pull_policy(object: &Value, key: &str, path: &FieldPath, errors: &mut Errors) {
    if text(object, key).is_empty() {
        errors.push(FieldError::required(&path.child(key), ""));
    } else {
        one_of(at(object, key), &path.child(key), &["Always", "IfNotPresent", "Never"], errors);
    }
}

fn restart_policy(container: &Value, path: &FieldPath, errors: &mut Errors) {
    let policy = at(container, "restartPolicy");
    let rules = items(container, "restartPolicyRules");
    if policy.is_null() && !rules.is_empty() {
        let detail = "must specify restartPolicy when restart rules are used";
        errors.push(FieldError::required(&path.child("restartPolicy"), detail));
    }
    one_of_given(policy, &path.child("restartPolicy"), &["Always", "Never", "OnFailure"], errors);
    let path = path.child("restartPolicyRules");
    if rules.len() > 20 {
        errors.push(FieldError::too_many(&path, i64::try_from(rules.len()).unwrap_or(i64::MAX), 20));
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        one_of(at(rule, "action"), &path.child("action"), &["Restart", "RestartAllContainers"], errors);
        let path = path.child("exitCodes");
        let codes = at(rule, "exitCodes");
        if codes.is_null() {
            errors.push(FieldError::required(&path, "must be specified"));
            continue;
        }
        one_of(at(codes, "operator"), &path.child("operator"), &["In", "NotIn"], errors);
        let count = items(codes, "values").len();
        if count > 255 {
            errors.push(FieldError::too_many(&path.child("values"), i64::try_from(count).unwrap_or(i64::MAX), 255));
        }
    }
}

fn ports(list: &[Value], path: &FieldPath, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, port) in list.iter().enumerate() {
        let path = path.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let texts = port_name(name);
            if texts.is_empty() && !taken.insert(name) {
                errors.push(FieldError::duplicate(&path.child("name"), name));
            }
            named(name, &path.child("name"), texts, errors);
        }
        if number(port, "containerPort").unwrap_or_default() == 0 {
            errors.push(FieldError::required(&path.child("containerPort"), ""));
        } else {
            within(at(port, "containerPort"), 1..=65535, &path.child("containerPort"), errors);
        }
        if number(port, "hostPort").is_some_and(|port| port != 0) {
            within(at(port, "hostPort"), 1..=65535, &path.child("hostPort"), errors);
        }
        one_of(at(port, "protocol"), &path.child("protocol"), &["SCTP", "TCP", "UDP"], errors);
    }
}

/// No two containers may take the same port of the node.
fn host_ports<'a>(containers: impl Iterator<Item = (usize, &'a Value)>, path: &FieldPath, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers {
        for (port_index, port) in items(container, "ports").iter().enumerate() {
            let number = number(port, "hostPort").unwrap_or_default();
            let used = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if number != 0 && !taken.insert(used.clone()) {
                let path = path.index(index).child("ports").index(port_index).child("hostPort");
                errors.push(FieldError::duplicate(&path, used));
            }
        }
    }
}
