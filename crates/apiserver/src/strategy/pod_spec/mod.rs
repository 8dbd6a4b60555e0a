//! Rules for pod specs and pod templates, wherever they stand.

mod affinity;
mod annotation;
mod container;
mod disabled;
mod disk_volume;
mod environment;
mod file_volume;
mod mount;
mod network;
mod network_volume;
mod overlap;
mod persistent_source;
mod probe;
mod projected_volume;
mod resource_claim;
mod resources;
mod scheduling;
mod security_context;
mod volume;
mod warning;
mod windows;

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

pub(super) use self::affinity::node_selector;
pub(super) use self::annotation::{APP_ARMOR, MIRROR, annotations, pod_annotations, profiles_match};
pub(super) use self::disabled::drop_disabled;
pub(super) use self::persistent_source::{is_persistent_source, persistent_source};
pub(super) use self::probe::{port, port_name};
pub(crate) use self::resources::together;
pub(super) use self::resources::{container_name, quantity, resource_name};
pub(super) use self::scheduling::tolerations;
pub(super) use self::warning::{claim_warnings, warnings};
use super::fields::{at, is_given, items, number, text};
use super::rules::{Errors, labels, named, non_negative_fields, one_of, one_of_given, within};
use crate::metadata::names;

/// The volumes of a pod by name.
type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// Rules for a `PodTemplateSpec`.
pub(super) fn template(template: &Value, path: &FieldPath, errors: &mut Errors) {
    let spec_path = path.child("spec");
    let spec = at(template, "spec");
    labels(at(template, "metadata.labels"), &path.child("labels"), errors);
    annotations(at(template, "metadata.annotations"), &path.child("annotations"), errors);
    pod_annotations(template, &path.child("annotations"), errors);
    pod_spec(spec, None, &spec_path, errors);
    profiles_match(template, &spec_path, false, errors);
    if is_given(spec, "ephemeralContainers") {
        let detail = "ephemeral containers not allowed in pod template";
        errors.push(FieldError::forbidden(&spec_path.child("ephemeralContainers"), detail));
    }
}

/// Rules for a pod's annotations and spec that hold when it is created and when it is changed.
pub(super) fn pod(pod: &Value, errors: &mut Errors) {
    let path = FieldPath::new("spec");
    let spec = at(pod, "spec");
    pod_annotations(pod, &FieldPath::new("metadata.annotations"), errors);
    pod_spec(spec, Some(at(pod, "metadata")), &path, errors);
    if !is_given(spec, "serviceAccountName") {
        for (index, volume) in items(spec, "volumes").iter().enumerate() {
            let path = path.child("volumes").index(index).child("projected.sources");
            for (index, source) in items(volume, "projected.sources").iter().enumerate() {
                if !at(source, "serviceAccountToken").is_null() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    errors.push(FieldError::forbidden(&path.index(index).child("serviceAccountToken"), detail));
                }
            }
        }
    }
    non_negative_fields(spec, &path, &["terminationGracePeriodSeconds"], errors);
    for key in ["containers", "initContainers"] {
        for (index, container) in items(spec, key).iter().enumerate() {
            container::trimmed_image(container, &path.child(key).index(index), errors);
        }
    }
}

/// All containers of a pod, with their places, in the order in which the reference visits them.
pub(in crate::strategy) fn every_container<'a>(
    spec: &'a Value,
    path: &FieldPath,
) -> impl Iterator<Item = (FieldPath, &'a Value)> + use<'a> {
    let path = path.clone();
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(move |key| {
        let path = path.child(key);
        items(spec, key).iter().enumerate().map(move |(index, container)| (path.index(index), container))
    })
}

/// Rules for a `PodSpec`; `metadata` is the pod's, and absent in a template.
fn pod_spec(spec: &Value, metadata: Option<&Value>, path: &FieldPath, errors: &mut Errors) {
    if number(spec, "terminationGracePeriodSeconds").is_none() {
        errors.push(FieldError::required(&path.child("terminationGracePeriodSeconds"), ""));
    }
    let pod = metadata.map(|metadata| text(metadata, "name")).unwrap_or_default();
    let volumes = volume::volumes(items(spec, "volumes"), pod, &path.child("volumes"), errors);
    resource_claim::claims(spec, metadata, &path.child("resourceClaims"), errors);
    let containers = container::Containers { spec, volumes };
    containers.regular(&path.child("containers"), errors);
    containers.init(&path.child("initContainers"), errors);
    containers.ephemeral(&path.child("ephemeralContainers"), errors);
    resources::of_pod(spec, &path.child("resources"), errors);
    network::host_ports(spec, metadata.is_some(), path, errors);
    one_of(at(spec, "restartPolicy"), &path.child("restartPolicy"), &["Always", "OnFailure", "Never"], errors);
    network::dns_policy(spec, &path.child("dnsPolicy"), errors);
    labels(at(spec, "nodeSelector"), &path.child("nodeSelector"), errors);
    security_context::of_pod(spec, &path.child("securityContext"), errors);
    let shares = at(spec, "shareProcessNamespace");
    if shares == &Value::Bool(true) && at(spec, "hostPID") == &Value::Bool(true) {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid(&path.child("shareProcessNamespace"), shares.clone(), detail));
    }
    affinity::affinity(at(spec, "affinity"), &path.child("affinity"), errors);
    network::dns_config(spec, &path.child("dnsConfig"), errors);
    scheduling::readiness_gates(items(spec, "readinessGates"), &path.child("readinessGates"), errors);
    scheduling::scheduling_gates(items(spec, "schedulingGates"), &path.child("schedulingGates"), errors);
    let constraints = items(spec, "topologySpreadConstraints");
    scheduling::spread(constraints, &path.child("topologySpreadConstraints"), errors);
    windows::host_processes(spec, path, errors);
    security_context::host_namespaces(spec, path, errors);
    network::host_name_override(spec, path, errors);
    names_and_limits(spec, path, errors);
    windows::operating_system(spec, path, errors);
    for (path, container) in every_container(spec, path) {
        environment::file_volumes(container, items(spec, "volumes"), &path, errors);
    }
}

fn names_and_limits(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let subdomain = |key: &str, errors: &mut Errors| {
        let name = text(spec, key);
        if !name.is_empty() {
            named(name, &path.child(key), names::dns_subdomain(name, false), errors);
        }
    };
    subdomain("serviceAccountName", errors);
    subdomain("nodeName", errors);
    within(at(spec, "activeDeadlineSeconds"), 1..=i64::from(i32::MAX), &path.child("activeDeadlineSeconds"), errors);
    network::host_names(spec, path, errors);
    tolerations(items(spec, "tolerations"), &path.child("tolerations"), errors);
    network::host_aliases(items(spec, "hostAliases"), &path.child("hostAliases"), errors);
    subdomain("priorityClassName", errors);
    if let Some(class) = at(spec, "runtimeClassName").as_str() {
        named(class, &path.child("runtimeClassName"), names::dns_subdomain(class, false), errors);
    }
    let policies = ["PreemptLowerPriority", "Never"];
    one_of_given(at(spec, "preemptionPolicy"), &path.child("preemptionPolicy"), &policies, errors);
    resources::overhead(spec, &path.child("overhead"), errors);
}
