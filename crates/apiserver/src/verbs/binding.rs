//! `pods/binding`: which node a pod runs on.

use std::sync::Arc;

use controller_runtime_schema::{FieldError, FieldPath};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::modify::storage_path;
use super::own_kind::{self, OwnKind};
use super::{Call, Reply, WriteOptions};
use crate::admission::{self, Operation};
use crate::metadata::{fields, names};
use crate::resource::Resource;
use crate::status::{ApiError, GroupResource};
use crate::store::{Object, ObjectKey, WriteError};
use crate::strategy::{Change, set_condition};

const PODS: GroupResource<'static> = GroupResource { group: "", resource: "pods" };

/// Binds the pod that the path names, or else the body, to a node.
pub(super) async fn bind(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "CreateOptions")?;
    let (resource, mut binding) = own_kind::decoded(call, &options, OwnKind::BINDING)?;
    own_kind::track(call, &options, &resource, &mut binding);
    admission::mutate(call, Operation::Create, &mut binding, None, &options).await?;
    let name = fields::text(&binding, "name").to_owned();
    if call.name.as_ref().is_some_and(|asked| *asked != name) {
        return Err(ApiError::bad_request("name in URL does not match name in Binding object"));
    }
    let errors = validate(binding.get("target").unwrap_or(&Value::Null));
    if !errors.is_empty() {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let text = if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(", ")) };
        return Err(ApiError::unclassified(text));
    }
    admission::validate(call, Operation::Create, &binding, None, &options).await?;
    assign(call, &binding, &name, options.dry_run)?;
    Ok(Reply::Made(StatusCode::CREATED, succeeded()))
}

/// What says that it is done.
pub(super) fn succeeded() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}

fn validate(target: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = FieldPath::new("target");
    let text = |key: &str| target.get(key).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("kind"), text("name"));
    let is_node = matches!(kind, "" | "Node");
    if !is_node {
        errors.push(FieldError::not_supported(&path.child("kind"), kind, &["Node", "<empty>"]));
    }
    let path = path.child("name");
    if name.is_empty() {
        errors.push(FieldError::required(&path, ""));
    } else if is_node {
        let texts = names::dns_subdomain(name, false);
        errors.extend(texts.into_iter().map(|text| FieldError::invalid(&path, name, text)));
    }
    errors
}

/// Writes the node into the pod, until nobody else writes in between.
fn assign(call: &Call, binding: &Value, name: &str, dry_run: bool) -> Result<(), ApiError> {
    let pods = call.core.registry.get("", "v1", "pods").ok_or_else(ApiError::unknown_resource)?;
    let key = ObjectKey::new(call.namespace.as_str(), name);
    loop {
        let stored = call.core.store.get("pods", &key).ok_or_else(|| ApiError::not_found(PODS, name))?;
        check(&pods, binding, &stored)?;
        if dry_run {
            return Ok(());
        }
        let bound = bound(stored.value(), binding, &call.now());
        match call.core.store.update(&stored, bound) {
            Ok(written) => {
                let change = Change { old: Some(stored.value()), new: Some(written.value()) };
                pods.strategy.committed(change, &call.core);
                return Ok(());
            }
            Err(WriteError::Changed) => {}
            Err(error) => return Err(super::create::unwritable(&pods, name, &error)),
        }
    }
}

fn check(pods: &Resource, binding: &Value, stored: &Arc<Object>) -> Result<(), ApiError> {
    let name = &stored.key.name;
    for (field, called) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let (asked, found) = (fields::text(binding, field), fields::text(stored.value(), field));
        if !asked.is_empty() && asked != found {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: \
                 Precondition failed: {called} in precondition: {asked}, {called} in object meta: {found}",
                storage_path(pods, stored)
            );
            return Err(ApiError::conflict(PODS, name, &why));
        }
    }
    let spec = |key: &str| stored.value().get("spec").and_then(|spec| spec.get(key));
    let node = spec("nodeName").and_then(Value::as_str).unwrap_or_default();
    let gates = spec("schedulingGates").and_then(Value::as_array);
    let why = if fields::is_deleting(stored.value()) {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if !node.is_empty() {
        format!("pod {name} is already assigned to node {}", crate::status::quote(node))
    } else if gates.is_some_and(|gates| !gates.is_empty()) {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return Ok(());
    };
    Err(ApiError::conflict(GroupResource { group: "", resource: "pods/binding" }, name, &why))
}

/// The pod on its node, with what the binding says of it.
fn bound(pod: &Value, binding: &Value, now: &str) -> Value {
    let mut pod = pod.clone();
    let node = binding.pointer("/target/name").cloned().unwrap_or_default();
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("nodeName".to_owned(), node);
    }
    for field in ["annotations", "labels"] {
        let added = fields::get(binding, field).and_then(Value::as_object).cloned().unwrap_or_default();
        if !added.is_empty() {
            let mut all: Map<String, Value> =
                fields::get(&pod, field).and_then(Value::as_object).cloned().unwrap_or_default();
            all.extend(added);
            fields::set(&mut pod, field, all);
        }
    }
    if let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("nominatedNodeName");
        set_condition(status, "PodScheduled", &json!({"status": "True"}), now);
    }
    pod
}
