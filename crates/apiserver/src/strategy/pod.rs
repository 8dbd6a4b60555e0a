//! `v1` Pod.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, items, number, object_mut, object_or_new, objects_mut, set_default, text};
use super::pod_spec;
use super::quantity::Quantity;
use super::rules::Errors;
use super::{Strategy, StrategyContext};

/// Seconds a pod stays on a node that stopped answering, unless it says otherwise.
const TOLERATION_SECONDS: i64 = 300;

/// `Pod`; these hold for pods and not for pod templates.
pub(super) fn defaults(pod: &mut Fields) {
    let Some(spec) = object_mut(pod, "spec") else { return };
    if spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64).is_some_and(|seconds| seconds < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
    }
    let host_network = spec.get("hostNetwork") == Some(&json!(true));
    for list in ["containers", "initContainers"] {
        for container in objects_mut(spec, list) {
            default_requests(container);
            if host_network {
                for port in objects_mut(container, "ports") {
                    if let Some(number) = port.get("containerPort").cloned() {
                        set_default(port, "hostPort", number);
                    }
                }
            }
        }
    }
    set_default(spec, "enableServiceLinks", true);
}

/// What is limited and not requested is requested up to its limit.
fn default_requests(container: &mut Fields) {
    let Some(resources) = object_mut(container, "resources") else { return };
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
    if let Some(requests) = object_or_new(resources, "requests") {
        for (name, limit) in limits {
            set_default(requests, &name, limit);
        }
    }
}

/// `PodStatus`: the one address and the list of addresses say the same.
pub(super) fn status_defaults(status: &mut Fields) {
    let address = status.get("podIP").and_then(Value::as_str).map(str::to_owned);
    let first = status.get("podIPs").and_then(|list| list.pointer("/0/ip")).and_then(Value::as_str).map(str::to_owned);
    match (address, first) {
        (Some(address), first) if first.as_deref() != Some(&address) => {
            status.insert("podIPs".to_owned(), json!([{"ip": address}]));
        }
        (None, Some(first)) => {
            status.insert("podIP".to_owned(), json!(first));
        }
        _ => {}
    }
}

/// What is special about pods.
#[derive(Debug)]
pub(super) struct Pod;

impl Strategy for Pod {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Pod")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        let class = quality_of_service(at(object, "spec"));
        let Some(pod) = object.as_object_mut() else { return };
        if let Some(spec) = object_mut(pod, "spec") {
            admit(spec);
        }
        pod.insert("status".to_owned(), json!({"phase": "Pending", "qosClass": class}));
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        if subresource != Some("status") {
            return;
        }
        let Some(new) = new.as_object_mut() else { return };
        if let Some(status) = object_or_new(new, "status") {
            let class = at(old, "status.qosClass");
            if !class.is_null() {
                set_default(status, "qosClass", class.clone());
            }
        }
        // Kubelets must not be able to cut a pod off from its owners.
        if let Some(metadata) = object_mut(new, "metadata") {
            match at(old, "metadata").get("ownerReferences") {
                Some(owners) => metadata.insert("ownerReferences".to_owned(), owners.clone()),
                None => metadata.remove("ownerReferences"),
            };
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        pod_spec::pod(object, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return Errors::new();
        }
        let mut errors = self.validate(new);
        let path = FieldPath::new("spec");
        for list in ["containers", "initContainers"] {
            if items(at(new, "spec"), list).len() != items(at(old, "spec"), list).len() {
                let detail = "pod updates may not add or remove containers";
                errors.push(FieldError::forbidden(&path.child(list), detail));
                return errors;
            }
        }
        if with_what_may_change(at(new, "spec"), at(old, "spec")) != *at(old, "spec") {
            let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                          `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
                          additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to \
                          1 if it was previously negative)";
            errors.push(FieldError::forbidden(&path, detail));
        }
        errors
    }

    fn grace_period(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        let finished = matches!(text(object, "status.phase"), "Failed" | "Succeeded");
        if text(object, "spec.nodeName").is_empty() || finished {
            return Some(0);
        }
        let period = asked.or_else(|| number(object, "spec.terminationGracePeriodSeconds")).unwrap_or_default();
        Some(if period < 0 { 1 } else { period })
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        let mut fields: BTreeMap<String, String> = self
            .selectable_labels()
            .iter()
            .map(|label| ((*label).to_owned(), text(object, label).to_owned()))
            .collect();
        let host_network = at(object, "spec.hostNetwork") == &json!(true);
        fields.insert("spec.hostNetwork".to_owned(), host_network.to_string());
        let addresses: Vec<&str> = items(object, "status.podIPs").iter().map(|address| text(address, "ip")).collect();
        fields.insert("status.podIPs".to_owned(), addresses.join(","));
        fields
    }
}

/// What the reference's admission adds: priority and tolerations.
fn admit(spec: &mut Fields) {
    if !spec.contains_key("priorityClassName") {
        set_default(spec, "priority", 0);
        set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
    }
    let given = spec.get("tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut tolerations = given.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = given.iter().any(|toleration| {
            matches!(text(toleration, "key"), "") | (text(toleration, "key") == key)
                && matches!(text(toleration, "effect"), "" | "NoExecute")
        });
        if !tolerated {
            tolerations.push(json!({
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": TOLERATION_SECONDS,
            }));
        }
    }
    spec.insert("tolerations".to_owned(), Value::Array(tolerations));
}

/// The old spec with those fields of the new one that may change.
fn with_what_may_change(new: &Value, old: &Value) -> Value {
    let mut allowed = new.clone();
    let Some(fields) = allowed.as_object_mut() else { return allowed };
    for list in ["containers", "initContainers"] {
        let images: Vec<Value> = items(old, list).iter().map(|container| at(container, "image").clone()).collect();
        for (container, image) in objects_mut(fields, list).zip(images) {
            container.insert("image".to_owned(), image);
        }
    }
    for key in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        match old.get(key) {
            Some(value) => fields.insert(key.to_owned(), value.clone()),
            None => fields.remove(key),
        };
    }
    if number(old, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0)
        && number(new, "terminationGracePeriodSeconds") == Some(1)
    {
        fields.insert("terminationGracePeriodSeconds".to_owned(), at(old, "terminationGracePeriodSeconds").clone());
    }
    allowed
}

/// How hard a pod is to evict (`status.qosClass`): from what its containers request and are limited to.
fn quality_of_service(spec: &Value) -> &'static str {
    let given = |container: &Value, part: &str, name: &str| -> Option<Quantity> {
        let amount = at(at(container, "resources"), part).get(name)?.as_str()?;
        Quantity::parse(amount).filter(|amount| !amount.is_zero())
    };
    let mut any = false;
    let mut guaranteed = true;
    for container in items(spec, "containers").iter().chain(items(spec, "initContainers")) {
        for name in ["cpu", "memory"] {
            let (request, limit) = (given(container, "requests", name), given(container, "limits", name));
            any |= request.is_some() || limit.is_some();
            let equal = request.is_none_or(|request| limit.is_some_and(|limit| limit.nanos() == request.nanos()));
            guaranteed &= limit.is_some() && equal;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}
