//! `pods/resize`: CPU and memory of containers that run.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::super::fields::{Fields, at, copy_field, items, text};
use super::super::pod_spec::{self, MIRROR};
use super::super::rules::Errors;
use super::prepare::quality_of_service;

const LISTS: [&str; 2] = ["containers", "initContainers"];

/// Takes all but the resources from the stored pod, where it has the same containers.
pub(super) fn prepare(new: &mut Value, old: &Value) {
    let count = |pod: &Value, list: &str| items(at(pod, "spec"), list).len();
    if LISTS.iter().any(|list| count(new, list) != count(old, list)) {
        return;
    }
    let mut kept = old.clone();
    if let Some(spec) = kept.get_mut("spec") {
        for list in LISTS {
            let containers = resized(items(at(new, "spec"), list), items(at(old, "spec"), list));
            if let Some(fields) = spec.as_object_mut().filter(|_| !containers.is_empty()) {
                fields.insert(list.to_owned(), Value::Array(containers));
            }
        }
        copy_field(spec, at(new, "spec"), "resources");
    }
    if let Some(metadata) = kept.get_mut("metadata") {
        copy_field(metadata, at(new, "metadata"), "managedFields");
    }
    *new = kept;
}

fn resized(new: &[Value], old: &[Value]) -> Vec<Value> {
    if new.iter().zip(old).any(|(new, old)| text(new, "name") != text(old, "name")) {
        return new.to_vec();
    }
    let resize = |(new, old): (&Value, &Value)| {
        let mut container = old.clone();
        copy_field(&mut container, new, "resources");
        copy_field(&mut container, new, "resizePolicy");
        container
    };
    new.iter().zip(old).map(resize).collect()
}

/// Rules for the changed resources.
pub(super) fn validate(new: &Value, old: &Value) -> Errors {
    // A path without a name, as Go writes it.
    let nameless = FieldPath::new("[]");
    if at(old, "metadata.annotations").get(MIRROR).is_some() {
        return vec![FieldError::forbidden(&nameless, "static pods cannot be resized")];
    }
    if text(old, "spec.os.name") == "windows" {
        return vec![FieldError::forbidden(&nameless, "windows pods cannot be resized")];
    }
    let mut errors = Errors::new();
    pod_spec::pod(new, &mut errors);
    let path = FieldPath::new("spec");
    if text(old, "status.qosClass") != quality_of_service(at(new, "spec")) {
        let detail = "Pod QOS Class may not change as a result of resizing";
        errors.push(FieldError::invalid(&path, text(new, "status.qosClass"), detail));
    }
    if !supports_resize(old) {
        errors.push(FieldError::forbidden(&path, "Pod running on node without support for resize"));
    }
    let (new, old) = (at(new, "spec"), at(old, "spec"));
    if !same_containers(new, old, &path, &mut errors) {
        return errors;
    }
    for list in ["initContainers", "containers"] {
        for (index, (new, old)) in items(new, list).iter().zip(items(old, list)).enumerate() {
            nothing_removed(new, old, &path.child(list).index(index).child("resources"), &mut errors);
        }
    }
    for (new, old) in items(new, "containers").iter().zip(items(old, "containers")) {
        if with_resources_of(new, old) != *old {
            errors.push(FieldError::forbidden(&path, "only cpu and memory resources are mutable"));
        }
    }
    let init = path.child("initContainers");
    for (index, (new, old)) in items(new, "initContainers").iter().zip(items(old, "initContainers")).enumerate() {
        init_container(new, old, &init.index(index), &mut errors);
    }
    errors
}

/// Whether the node that runs the pod says what its containers have.
fn supports_resize(pod: &Value) -> bool {
    let running = |status: &&Value| !at(status, "state.running").is_null();
    let running = items(pod, "status.containerStatuses").iter().find(running);
    running.is_none_or(|status| !at(status, "resources").is_null())
}

fn same_containers(new: &Value, old: &Value, path: &FieldPath, errors: &mut Errors) -> bool {
    let before = errors.len();
    for list in LISTS {
        let path = path.child(list);
        let (new, old) = (items(new, list), items(old, list));
        if new.len() != old.len() {
            errors.push(FieldError::forbidden(&path, format!("{list} may not be added or removed on resize")));
            continue;
        }
        for (index, (new, old)) in new.iter().zip(old).enumerate() {
            if text(new, "name") != text(old, "name") {
                let detail = format!("{list} may not be renamed or reordered on resize");
                errors.push(FieldError::forbidden(&path.index(index).child("name"), detail));
            }
        }
    }
    errors.len() == before
}

fn nothing_removed(new: &Value, old: &Value, path: &FieldPath, errors: &mut Errors) {
    for kind in ["requests", "limits"] {
        let (new, old) = (at(at(new, "resources"), kind), at(at(old, "resources"), kind));
        let mut before = old.as_object().into_iter().flat_map(Fields::keys);
        if before.any(|name| new.get(name).is_none()) {
            errors.push(FieldError::forbidden(&path.child(kind), format!("resource {kind} cannot be removed")));
        }
    }
}

/// The container with the CPU and memory that it had before.
fn with_resources_of(container: &Value, old: &Value) -> Value {
    let mut container = container.clone();
    let Some(resources) = container.get_mut("resources").and_then(Value::as_object_mut) else { return container };
    for kind in ["requests", "limits"] {
        let before = at(at(old, "resources"), kind);
        let mut amounts = resources.get(kind).and_then(Value::as_object).cloned().unwrap_or_default();
        for name in ["cpu", "memory"] {
            match before.get(name) {
                Some(amount) => amounts.insert(name.to_owned(), amount.clone()),
                None => amounts.remove(name),
            };
        }
        if amounts.is_empty() && before.is_null() {
            resources.remove(kind);
        } else {
            resources.insert(kind.to_owned(), json!(amounts));
        }
    }
    container
}

fn init_container(new: &Value, old: &Value, path: &FieldPath, errors: &mut Errors) {
    if with_resources_of(new, old) != *old {
        let detail = "only cpu and memory resources for init or sidecar containers are mutable";
        errors.push(FieldError::forbidden(path, detail));
    }
    let restarts = |policy: &Value| text(policy, "restartPolicy") == "RestartContainer";
    if new != old && text(new, "restartPolicy") != "Always" && items(new, "resizePolicy").iter().any(restarts) {
        let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
        errors.push(FieldError::forbidden(path, detail));
    }
}
