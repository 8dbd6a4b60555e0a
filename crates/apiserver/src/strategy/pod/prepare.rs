//! What a new pod gets from what it says of itself.

use controller_runtime_schema::FieldPath;
use serde_json::{Value, json};

use super::super::fields::{Fields, at, items, object_mut, object_or_new, objects_mut, text};
use super::super::pod_spec::{APP_ARMOR, every_container, together};
use super::super::quantity::Quantity;

/// Brings a new pod into the form in which it is stored; `now` is the time.
pub(super) fn create(pod: &mut Value, now: &str) {
    let labels = at(pod, "metadata.labels").clone();
    let annotations = at(pod, "metadata.annotations").clone();
    let Some(fields) = pod.as_object_mut() else { return };
    let mut status = json!({"phase": "Pending"});
    if let Some(spec) = object_mut(fields, "spec") {
        merge_label_keys(spec, &labels);
        app_armor(spec, &annotations);
        pod_resources(spec);
        if spec.get("schedulingGates").and_then(Value::as_array).is_some_and(|gates| !gates.is_empty()) {
            status["conditions"] = json!([{
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastProbeTime": null,
                "lastTransitionTime": now,
            }]);
        }
    }
    status["qosClass"] = json!(quality_of_service(fields.get("spec").unwrap_or(&Value::Null)));
    fields.insert("status".to_owned(), status);
}

/// The values that the pod's own labels have for the keys that a term names become part of its selector.
fn merge_label_keys(spec: &mut Fields, labels: &Value) {
    for constraint in objects_mut(spec, "topologySpreadConstraints") {
        select_own(constraint, "matchLabelKeys", "In", labels);
    }
    let Some(affinity) = object_mut(spec, "affinity") else { return };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(terms) = object_mut(affinity, kind) else { continue };
        let both = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")];
        for term in objects_mut(terms, "requiredDuringSchedulingIgnoredDuringExecution") {
            for (keys, operator) in both {
                select_own(term, keys, operator, labels);
            }
        }
        for weighted in objects_mut(terms, "preferredDuringSchedulingIgnoredDuringExecution") {
            if let Some(term) = object_mut(weighted, "podAffinityTerm") {
                for (keys, operator) in both {
                    select_own(term, keys, operator, labels);
                }
            }
        }
    }
}

fn select_own(term: &mut Fields, keys: &str, operator: &str, labels: &Value) {
    let keys = term.get(keys).and_then(Value::as_array).cloned().unwrap_or_default();
    let own = |key: &Value| labels.get(key.as_str()?).map(|value| (key.clone(), value.clone()));
    let added: Vec<Value> = keys
        .iter()
        .filter_map(own)
        .map(|(key, value)| json!({"key": key, "operator": operator, "values": [value]}))
        .collect();
    let Some(selector) = object_mut(term, "labelSelector").filter(|_| !added.is_empty()) else { return };
    let before = selector.get("matchExpressions").and_then(Value::as_array).cloned().unwrap_or_default();
    selector.insert("matchExpressions".to_owned(), before.into_iter().chain(added).collect());
}

/// Annotations from before there were fields for AppArmor become fields.
fn app_armor(spec: &mut Fields, annotations: &Value) {
    if spec.get("os").is_some_and(|os| text(os, "name") == "windows") {
        return;
    }
    let of_pod = spec.get("securityContext").map_or(&Value::Null, |context| at(context, "appArmorProfile")).clone();
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        for container in objects_mut(spec, list) {
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
            let annotation = annotations.get(format!("{APP_ARMOR}{name}")).and_then(Value::as_str);
            let Some(profile) = annotation.and_then(profile).filter(|profile| *profile != of_pod) else { continue };
            if let Some(context) = object_or_new(container, "securityContext")
                && context.get("appArmorProfile").is_none_or(Value::is_null)
            {
                context.insert("appArmorProfile".to_owned(), profile);
            }
        }
    }
}

/// What to say of annotations of AppArmor that don't stand for what the pod says anyway.
pub(super) fn warnings(pod: &Value) -> Vec<String> {
    let spec = at(pod, "spec");
    let path = FieldPath::new("metadata.annotations");
    let mut warnings = Vec::new();
    for (_, container) in every_container(spec, &path) {
        let key = format!("{APP_ARMOR}{}", text(container, "name"));
        let annotation = at(pod, "metadata.annotations").get(&key).and_then(Value::as_str);
        let own = at(container, "securityContext.appArmorProfile");
        let became = annotation.and_then(profile).as_ref() == Some(own);
        if annotation.is_some() && became && text(spec, "os.name") != "windows" {
            warnings
                .push(format!("{}: deprecated since v1.30; use the \"appArmorProfile\" field instead", path.key(key)));
        }
    }
    warnings
}

/// The profile that an annotation of AppArmor stands for.
fn profile(annotation: &str) -> Option<Value> {
    match annotation {
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        "unconfined" => Some(json!({"type": "Unconfined"})),
        _ => {
            let local = annotation.strip_prefix("localhost/").filter(|local| !local.is_empty())?;
            (local.trim() == local).then(|| json!({"type": "Localhost", "localhostProfile": local}))
        }
    }
}

/// The resources of a whole pod that says some: what its containers together have, where it doesn't say otherwise.
fn pod_resources(spec: &mut Fields) {
    let given = |spec: &Fields, kind: &str| {
        let amounts = spec.get("resources").and_then(|resources| resources.get(kind)).and_then(Value::as_object);
        amounts.cloned().unwrap_or_default()
    };
    let (mut requests, mut limits) = (given(spec, "requests"), given(spec, "limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let whole = Value::Object(spec.clone());
    let names = names(&whole);
    for name in &names {
        let free = name.starts_with("hugepages-") && !requests.contains_key(name) && !limits.contains_key(name);
        if let Some(limit) = together(&whole, "limits", name).filter(|_| free) {
            limits.insert(name.clone(), json!(limit.canonical()));
        }
    }
    for name in names.iter().filter(|name| matches!(name.as_str(), "cpu" | "memory")) {
        if let Some(request) = together(&whole, "requests", name).filter(|_| !requests.contains_key(name)) {
            requests.insert(name.clone(), json!(request.canonical()));
        }
    }
    for (name, limit) in &limits {
        if matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-") {
            requests.entry(name.clone()).or_insert_with(|| limit.clone());
        }
    }
    for (name, request) in &requests {
        let every = items(&whole, "containers").iter().all(|container| limit_of(container, name).is_some());
        let most = together(&whole, "limits", name).filter(|_| every && !limits.contains_key(name));
        if let Some(most) = most {
            let request = request.as_str().and_then(Quantity::parse);
            let most = request.into_iter().chain([most]).max_by_key(|quantity| quantity.nanos()).unwrap_or(most);
            limits.insert(name.clone(), json!(most.canonical()));
        }
    }
    if let Some(resources) = object_mut(spec, "resources") {
        for (kind, amounts) in [("requests", requests), ("limits", limits)] {
            if !amounts.is_empty() {
                resources.insert(kind.to_owned(), Value::Object(amounts));
            }
        }
    }
}

fn limit_of<'a>(container: &'a Value, name: &str) -> Option<&'a Value> {
    at(container, "resources.limits").get(name)
}

/// The names of all resources that containers request or are limited to.
fn names(spec: &Value) -> std::collections::BTreeSet<String> {
    let containers = items(spec, "containers").iter().chain(items(spec, "initContainers"));
    let amounts =
        containers.flat_map(|container| [at(container, "resources.requests"), at(container, "resources.limits")]);
    amounts.filter_map(Value::as_object).flat_map(|amounts| amounts.keys().cloned()).collect()
}

/// How hard a pod is to evict (`status.qosClass`): from what it or its containers request and are limited to.
pub(crate) fn quality_of_service(spec: &Value) -> &'static str {
    let of_pod = at(spec, "resources");
    let says = |kind: &str| at(of_pod, kind).as_object().is_some_and(|amounts| !amounts.is_empty());
    if says("requests") || says("limits") {
        return class_of([of_pod].into_iter());
    }
    let containers = items(spec, "containers").iter().chain(items(spec, "initContainers"));
    class_of(containers.map(|container| at(container, "resources")))
}

fn class_of<'a>(all: impl Iterator<Item = &'a Value>) -> &'static str {
    let given = |resources: &Value, part: &str, name: &str| -> Option<Quantity> {
        let amount = at(resources, part).get(name)?.as_str()?;
        Quantity::parse(amount).filter(|amount| !amount.is_zero())
    };
    let mut any = false;
    let mut guaranteed = true;
    for resources in all {
        for name in ["cpu", "memory"] {
            let (request, limit) = (given(resources, "requests", name), given(resources, "limits", name));
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
