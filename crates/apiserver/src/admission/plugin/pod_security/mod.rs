//! `PodSecurity`: the Pod Security Standards, as labels of a namespace ask for them.

mod baseline;
mod check;
mod policy;
mod restricted;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::check::{Violations, violations};
use self::policy::{Level, LevelVersion, Policy};
use super::{Operation, Write};
use crate::metadata::fields;
use crate::status::ApiError;
use crate::strategy::fields::{at, items, text};

/// Subresources of pods that change nothing of what the standards are about.
const IGNORED: [&str; 8] = ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

/// Pods of a namespace that are looked at when its level changes.
const MOST_PODS: usize = 3000;

pub(super) fn validate(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    let resource = &write.call.resource;
    let subresource = write.call.subresource.as_deref();
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "namespaces") if subresource.is_none() => of_namespace(write, object),
        ("", "pods") if !subresource.is_some_and(|name| IGNORED.contains(&name)) => of_pod(write, object),
        (group, plural) if subresource.is_none() => {
            if let Some(template) = template(group, plural, object) {
                of_template(write, template);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Where a kind has its pod template.
fn template<'a>(group: &str, plural: &str, object: &'a Value) -> Option<&'a Value> {
    let path = match (group, plural) {
        ("", "podtemplates") => "template",
        ("", "replicationcontrollers")
        | ("apps", "replicasets" | "deployments" | "statefulsets" | "daemonsets")
        | ("batch", "jobs") => "spec.template",
        ("batch", "cronjobs") => "spec.jobTemplate.spec.template",
        _ => return None,
    };
    Some(at(object, path)).filter(|template| !template.is_null())
}

fn policy(write: Write<'_>) -> Policy {
    let namespace = write.find("namespaces", &write.call.namespace);
    let labels = namespace.as_ref().map_or(&Value::Null, |namespace| at(namespace.value(), "metadata.labels"));
    Policy::of(labels).0
}

fn of_pod(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    let policy = policy(write);
    if policy.is_privileged() || write.old.is_some_and(|old| !changes_images(object, old)) {
        return Ok(());
    }
    let found = violations(policy.enforce, object);
    if !found.is_empty() {
        let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, found.details());
        return Err(write.forbidden(object, &why));
    }
    warn(write, policy.warn, object);
    Ok(())
}

/// Nobody is kept from creating a template: its pods are refused.
fn of_template(write: Write<'_>, template: &Value) {
    warn(write, policy(write).warn, template);
}

fn warn(write: Write<'_>, level: LevelVersion, pod: &Value) {
    let found = violations(level, pod);
    if !found.is_empty() {
        write.call.warn(format!("would violate PodSecurity \"{level}\": {}", found.details()));
    }
}

/// Whether a changed pod runs other images, or more containers.
fn changes_images(new: &Value, old: &Value) -> bool {
    let (new, old) = (at(new, "spec"), at(old, "spec"));
    let images = |spec: &Value, list: &str| -> Vec<String> {
        items(spec, list).iter().map(|container| text(container, "image").to_owned()).collect()
    };
    let added = items(new, "ephemeralContainers").iter().any(|container| {
        let before = items(old, "ephemeralContainers").iter().find(|one| text(one, "name") == text(container, "name"));
        before.is_none_or(|before| text(before, "image") != text(container, "image"))
    });
    added || ["containers", "initContainers"].iter().any(|list| images(new, list) != images(old, list))
}

/// Labels must be understood; whoever asks for more is told which pods there are that don't have it.
fn of_namespace(write: Write<'_>, object: &Value) -> Result<(), ApiError> {
    let (policy, errors) = Policy::of(at(object, "metadata.labels"));
    let before = write.old.map(|old| Policy::of(at(old, "metadata.labels")));
    let known = before.as_ref().is_some_and(|(_, before)| *before == errors);
    if !errors.is_empty() && !known {
        let resource = &write.call.resource;
        return Err(ApiError::invalid(&resource.group, &resource.kind, fields::text(object, "name"), &errors));
    }
    let Some((before, _)) = before.filter(|_| write.operation == Operation::Update) else { return Ok(()) };
    let (enforce, before) = (policy.enforce, before.enforce);
    let relaxes = enforce.version == before.version && enforce.level <= before.level;
    if enforce != before && enforce.level != Level::Privileged && !relaxes {
        tell_of_pods(write, fields::text(object, "name"), enforce);
    }
    Ok(())
}

fn tell_of_pods(write: Write<'_>, namespace: &str, level: LevelVersion) {
    let all = write.all("pods", Some(namespace));
    let mut seen = BTreeSet::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for pod in &all {
        let owners = items(pod.value(), "metadata.ownerReferences");
        let controller = owners.iter().find(|owner| at(owner, "controller") == &Value::Bool(true));
        if controller.is_none_or(|controller| seen.insert(text(controller, "uid"))) {
            first.push(pod);
        } else {
            rest.push(pod);
        }
    }
    let pods: Vec<_> = first.into_iter().chain(rest).take(MOST_PODS).collect();
    if pods.len() < all.len() {
        let (some, all) = (pods.len(), all.len());
        let text = "new PodSecurity enforce level only checked against the first";
        write.call.warn(format!("{text} {some} of {all} existing pods"));
    }
    let mut named: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for pod in pods {
        let found: Violations = violations(level, pod.value());
        if !found.is_empty() {
            let name = pod.key.name.as_str();
            let entry = named.entry(found.reasons()).or_insert((name, 0));
            *entry = (entry.0.min(name), entry.1 + 1);
        }
    }
    if named.is_empty() {
        return;
    }
    write.call.warn(format!(
        "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \"{level}\""
    ));
    let mut texts: Vec<String> =
        named.into_iter().map(|(reasons, (name, count))| told(name, count, &reasons)).collect();
    texts.sort();
    for text in texts {
        write.call.warn(text);
    }
}

fn told(name: &str, count: usize, reasons: &str) -> String {
    match count {
        1 => format!("{name}: {reasons}"),
        2 => format!("{name} (and 1 other pod): {reasons}"),
        _ => format!("{name} (and {} other pods): {reasons}", count - 1),
    }
}
