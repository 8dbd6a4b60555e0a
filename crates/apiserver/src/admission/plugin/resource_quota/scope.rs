//! Which objects a quota is about.

use serde_json::{Value, json};

use super::super::Write;
use super::{ends, is_of};
use crate::strategy::fields::{at, is_given, items, text};
use crate::strategy::quality_of_service;

/// Whether all scopes of a quota hold for an object.
pub(super) fn matches(quota: &Value, write: Write<'_>, object: &Value) -> bool {
    let plain = items(quota, "spec.scopes").iter().map(|scope| json!({"scopeName": scope, "operator": "Exists"}));
    let mut all = plain.chain(items(quota, "spec.scopeSelector.matchExpressions").iter().cloned());
    if is_of(write, "", "pods") {
        return all.all(|requirement| of_pod(&requirement, object));
    }
    if is_of(write, "", "persistentvolumeclaims") {
        return all.all(|requirement| of_claim(&requirement, object));
    }
    all.next().is_none()
}

fn of_pod(requirement: &Value, pod: &Value) -> bool {
    let spec = at(pod, "spec");
    match text(requirement, "scopeName") {
        "Terminating" => ends(pod),
        "NotTerminating" => !ends(pod),
        "BestEffort" => quality_of_service(spec) == "BestEffort",
        "NotBestEffort" => quality_of_service(spec) != "BestEffort",
        "PriorityClass" => {
            let class = text(spec, "priorityClassName");
            selects(requirement, Some(class).filter(|class| !class.is_empty()))
        }
        "CrossNamespacePodAffinity" => crosses_namespaces(at(spec, "affinity")),
        _ => false,
    }
}

fn of_claim(requirement: &Value, claim: &Value) -> bool {
    let paths = [
        "spec.volumeAttributesClassName",
        "status.currentVolumeAttributesClassName",
        "status.modifyVolumeStatus.targetVolumeAttributesClassName",
    ];
    let classes: Vec<&str> = paths.iter().map(|path| text(claim, path)).filter(|class| !class.is_empty()).collect();
    text(requirement, "scopeName") == "VolumeAttributesClass"
        && if classes.is_empty() {
            selects(requirement, None)
        } else {
            classes.iter().any(|class| selects(requirement, Some(class)))
        }
}

fn selects(requirement: &Value, value: Option<&str>) -> bool {
    let listed = value.is_some_and(|value| items(requirement, "values").contains(&json!(value)));
    match text(requirement, "operator") {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}

fn crosses_namespaces(affinity: &Value) -> bool {
    let crosses = |term: &Value| is_given(term, "namespaces") || !at(term, "namespaceSelector").is_null();
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let terms = at(affinity, kind);
        let mut weighted = items(terms, "preferredDuringSchedulingIgnoredDuringExecution").iter();
        items(terms, "requiredDuringSchedulingIgnoredDuringExecution").iter().any(crosses)
            || weighted.any(|weighted| crosses(at(weighted, "podAffinityTerm")))
    })
}
