//! Rules for what containers and pods request and are limited to.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::super::fields::{Fields, at, is_given, items, text};
use super::super::quantity::Quantity;
use super::super::rules::{Errors, named};
use crate::metadata::names;

/// Names of resources that need no domain.
const STANDARD: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Resources of which there are only whole ones, beside extended resources.
const WHOLE: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Rules for the `ResourceRequirements` of a container in a pod of `spec`.
pub(super) fn of_container(resources: &Value, spec: &Value, path: &FieldPath, errors: &mut Errors) {
    requirements(resources, container_name, path, errors);
    claims(items(resources, "claims"), spec, &path.child("claims"), errors);
}

/// Rules for the resources of a whole pod, and of its containers together.
pub(super) fn of_pod(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let resources = at(spec, "resources");
    if resources.is_null() {
        return;
    }
    if text(spec, "os.name") == "windows" {
        errors.push(FieldError::forbidden(path, "may not be set for a windows pod"));
        return;
    }
    if is_given(resources, "claims") {
        let detail = "claims may not be set for Resources at pod-level";
        errors.push(FieldError::forbidden(&path.child("claims"), detail));
    }
    requirements(resources, pod_name, path, errors);
    claims(items(resources, "claims"), spec, &path.child("claims"), errors);
    consistent(spec, path, errors);
}

/// What a pod needs beside its containers.
pub(super) fn overhead(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let overhead = at(spec, "overhead");
    if !overhead.is_null() {
        requirements(&serde_json::json!({"limits": overhead}), container_name, path, errors);
    }
}

type NameRule = fn(&str, &FieldPath, &mut Errors);

fn requirements(resources: &Value, name_rule: NameRule, path: &FieldPath, errors: &mut Errors) {
    let (limits_path, requests_path) = (path.child("limits"), path.child("requests"));
    let limits = at(resources, "limits");
    let mut pages = false;
    let mut computes = false;
    let mut each = |name: &str, amount: &Value, path: &FieldPath, errors: &mut Errors| {
        pages |= name.starts_with("hugepages-");
        computes |= matches!(name, "cpu" | "memory");
        name_rule(name, path, errors);
        quantity(name, amount, path, errors);
    };
    for (name, limit) in limits.as_object().into_iter().flatten() {
        let path = limits_path.key(name);
        each(name, limit, &path, errors);
        whole_pages(name, limit, &path, errors);
    }
    for (name, request) in at(resources, "requests").as_object().into_iter().flatten() {
        let path = requests_path.key(name);
        each(name, request, &path, errors);
        let shared = is_native(name) && !name.starts_with("hugepages-");
        match limits.get(name).and_then(Value::as_str) {
            Some(limit) => {
                let (most, wanted) = (Quantity::parse(limit), request.as_str().and_then(Quantity::parse));
                let (most, wanted) = (most.map(Quantity::nanos), wanted.map(Quantity::nanos));
                if most != wanted && !shared {
                    let detail = format!("must be equal to {name} limit of {limit}");
                    errors.push(FieldError::invalid(&requests_path, request.clone(), detail));
                } else if wanted > most {
                    let detail = format!("must be less than or equal to {name} limit of {limit}");
                    errors.push(FieldError::invalid(&requests_path, request.clone(), detail));
                }
            }
            None if !shared => {
                let detail = "Limit must be set for non overcommitable resources";
                errors.push(FieldError::required(&limits_path, detail));
            }
            None => {}
        }
        whole_pages(name, request, &path, errors);
    }
    if pages && !computes {
        errors.push(FieldError::forbidden(path, "HugePages require cpu or memory"));
    }
}

/// An amount of a resource: not negative, and whole where only whole ones exist.
pub(in crate::strategy) fn quantity(name: &str, amount: &Value, path: &FieldPath, errors: &mut Errors) {
    let Some(parsed) = amount.as_str().and_then(Quantity::parse) else { return };
    if parsed.is_negative() {
        errors.push(FieldError::invalid(path, amount.clone(), "must be greater than or equal to 0"));
    }
    if (WHOLE.contains(&name) || is_extended(name)) && parsed.nanos() % 1_000_000_000 != 0 {
        errors.push(FieldError::invalid(path, amount.clone(), "must be an integer"));
    }
}

fn whole_pages(name: &str, amount: &Value, path: &FieldPath, errors: &mut Errors) {
    let Some(size) = name.strip_prefix("hugepages-") else { return };
    let size = Quantity::parse(size).map(Quantity::nanos).filter(|size| *size > 0);
    let amount_nanos = amount.as_str().and_then(Quantity::parse).map_or(0, Quantity::nanos);
    if size.is_none_or(|size| amount_nanos % size != 0) {
        let detail = format!("{} is not positive integer multiple of {name}", amount.as_str().unwrap_or_default());
        errors.push(FieldError::invalid(path, amount.clone(), detail));
    }
}

/// Whether a resource is Kubernetes's own.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    let named = || names::qualified_name(&format!("requests.{name}")).is_empty();
    !is_native(name) && !name.starts_with("requests.") && named()
}

/// Gives whether the name is in order.
pub(in crate::strategy) fn resource_name(name: &str, path: &FieldPath, errors: &mut Errors) -> bool {
    let before = errors.len();
    named(name, path, names::qualified_name(name), errors);
    let pages = name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
    if errors.len() == before && !name.contains('/') && !STANDARD.contains(&name) && !pages {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(path, name, detail));
    }
    errors.len() == before
}

/// The name of a resource that containers have.
pub(in crate::strategy) fn container_name(name: &str, path: &FieldPath, errors: &mut Errors) {
    resource_name(name, path, errors);
    if !name.contains('/') {
        if !matches!(name, "cpu" | "memory" | "ephemeral-storage") && !name.starts_with("hugepages-") {
            errors.push(FieldError::invalid(path, name, "must be a standard resource for containers"));
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.push(FieldError::invalid(path, name, "doesn't follow extended resource name standard"));
    }
}

fn pod_name(name: &str, path: &FieldPath, errors: &mut Errors) {
    let supported = ["cpu", "hugepages-", "memory"];
    if resource_name(name, path, errors) && !matches!(name, "cpu" | "memory") && !name.starts_with("hugepages-") {
        errors.push(FieldError::not_supported(path, name, &supported));
    }
}

/// Containers claim what the pod claims.
fn claims(claims: &[Value], spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let known: BTreeSet<&str> = items(spec, "resourceClaims").iter().map(|claim| text(claim, "name")).collect();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let path = path.index(index);
        let (name, request) = (text(claim, "name"), text(claim, "request"));
        if name.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        if taken.contains(name) {
            errors.push(FieldError::duplicate(&path, name));
        } else {
            let mut key = name.to_owned();
            if !request.is_empty() {
                named(request, &path.child("request"), names::dns_label(request, false), errors);
                key = format!("{name}/{request}");
            }
            let part_of = |taken: &String| taken.split_once('/').is_some_and(|(taken, _)| taken == name);
            if taken.contains(&key) {
                errors.push(FieldError::duplicate(&path, key.as_str()));
            } else if request.is_empty() {
                for _ in taken.iter().filter(|taken| part_of(taken)) {
                    errors.push(FieldError::duplicate(&path, name));
                }
            }
            taken.insert(key);
        }
        if !known.contains(name) {
            let all: Vec<_> = known.iter().copied().filter(|name| !name.is_empty()).collect();
            let all = if all.is_empty() { " which is empty".to_owned() } else { format!(": {}", all.join(", ")) };
            let mut error = FieldError::not_found(&path, name);
            error.detail = format!("must be one of the names in pod.spec.resourceClaims{all}");
            errors.push(error);
        }
    }
}

/// The resources of the pod hold those of its containers.
fn consistent(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    for (name, most) in at(spec, "resources.requests").as_object().into_iter().flatten() {
        exceeded(spec, "requests", name, most, path, errors);
    }
    for (name, most) in at(spec, "resources.limits").as_object().into_iter().flatten() {
        if name.starts_with("hugepages-") {
            exceeded(spec, "limits", name, most, path, errors);
        }
    }
    let limits = at(spec, "resources.limits").as_object();
    for (index, container) in items(spec, "containers").iter().enumerate() {
        for (name, limit) in at(container, "resources.limits").as_object().into_iter().flatten() {
            let most = limits.and_then(|limits| limits.get(name)).and_then(Value::as_str);
            if let (Some(most), Some(limit)) = (most, limit.as_str())
                && Quantity::parse(limit).map(Quantity::nanos) > Quantity::parse(most).map(Quantity::nanos)
            {
                let path = path.child("containers").index(index).key(name).child("limits");
                errors.push(FieldError::invalid(
                    &path,
                    limit,
                    format!("must be less than or equal to pod limits of {most}"),
                ));
            }
        }
    }
}

fn exceeded(spec: &Value, kind: &str, name: &str, most: &Value, path: &FieldPath, errors: &mut Errors) {
    let Some(together) = together(spec, kind, name) else { return };
    let Some(allowed) = most.as_str().and_then(Quantity::parse) else { return };
    if together.nanos() > allowed.nanos() {
        let told = together.canonical();
        let detail = format!("must be greater than or equal to aggregate container {kind} of {told}");
        errors.push(FieldError::invalid(&path.child(kind).key(name), most.clone(), detail));
    }
}

/// What the containers of a pod need of a resource at the same time: those that run beside each other together, or
/// the most that one before them needs.
pub(crate) fn together(spec: &Value, kind: &str, name: &str) -> Option<Quantity> {
    let given = |container: &Value| {
        let amounts = at(container, "resources").get(kind).and_then(Value::as_object);
        amounts.and_then(|amounts: &Fields| amounts.get(name)?.as_str()).and_then(Quantity::parse)
    };
    let add = |sum: Option<Quantity>, more: Quantity| Some(sum.map_or(more, |sum| sum.plus(more)));
    let mut running = items(spec, "containers").iter().filter_map(given).fold(None, add);
    let mut sidecars = None;
    let mut before = None;
    for container in items(spec, "initContainers") {
        let amount = given(container);
        let stays = text(container, "restartPolicy") == "Always";
        if let Some(amount) = amount.filter(|_| stays) {
            running = add(running, amount);
            sidecars = add(sidecars, amount);
        }
        let needed = if stays { sidecars } else { sidecars.into_iter().chain(amount).fold(None, add) };
        before = most_of(before, needed);
    }
    most_of(running, before)
}

fn most_of(one: Option<Quantity>, other: Option<Quantity>) -> Option<Quantity> {
    one.into_iter().chain(other).max_by_key(|quantity| quantity.nanos())
}
