//! What namespaces mean for the objects in them and for their own deletion.

use std::sync::Arc;

use serde_json::Value;

use super::{Call, DeleteOptions};
use crate::metadata::fields;
use crate::resource::Resource;
use crate::status::{ApiError, Cause, GroupResource};
use crate::store::{Object, ObjectKey};

const NAMESPACES: GroupResource<'_> = GroupResource { group: "", resource: "namespaces" };

/// Where the definitions of custom resources are stored.
const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Namespaces that can't be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Whether objects of this resource are namespaces.
pub(crate) fn is_namespace(resource: &Resource) -> bool {
    resource.group.is_empty() && resource.plural == "namespaces"
}

/// Refuses new objects in a namespace that does not exist or is going away, and of a definition that is going away.
/// Returns the namespace and the definition, which have to stay as they are until the object is stored.
pub(super) fn check_create(call: &Call, name: &str) -> Result<Vec<Arc<Object>>, ApiError> {
    let mut parents = Vec::new();
    if !call.resource.strategy.typed() {
        let definition = call.core.store.get(DEFINITIONS, &ObjectKey::new("", call.collection()));
        // Removed a moment ago; who asks again is told the same.
        let definition = definition.ok_or_else(ApiError::unknown_resource)?;
        if call.resource.terminating || fields::is_deleting(definition.value()) {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(ApiError::forbidden(call.resource.group_resource(), name, why));
        }
        parents.push(definition);
    }
    if !call.resource.namespaced {
        return Ok(parents);
    }
    let namespace = call.namespace.as_str();
    let Some(stored) = call.core.store.get("namespaces", &ObjectKey::new("", namespace)) else {
        return Err(ApiError::not_found(NAMESPACES, namespace));
    };
    if !fields::is_deleting(stored.value()) {
        parents.push(stored);
        return Ok(parents);
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    Err(ApiError::forbidden(call.resource.group_resource(), name, &why).with_cause(Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    }))
}

/// Refuses the deletion of namespaces that must stay.
pub(super) fn check_delete(resource: &Resource, name: &str) -> Result<(), ApiError> {
    if is_namespace(resource) && IMMORTAL.contains(&name) {
        return Err(ApiError::forbidden(NAMESPACES, name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Refuses the deletion of a namespace that isn't the one, or isn't in the state, that the request is about.
pub(super) fn check_preconditions(stored: &Object, options: &DeleteOptions) -> Result<(), ApiError> {
    let uid = fields::text(stored.value(), "uid");
    let revision = stored.revision.to_string();
    let found = [("UID", &options.uid, uid), ("ResourceVersion", &options.resource_version, revision.as_str())];
    for (what, wanted, is) in found {
        if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != is) {
            let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {is}");
            return Err(ApiError::conflict(NAMESPACES, &stored.key.name, &why));
        }
    }
    Ok(())
}

/// Whether something beside `metadata.finalizers` keeps an object that is being deleted: a namespace's content.
pub(super) fn is_kept(resource: &Resource, object: &Value) -> bool {
    is_namespace(resource)
        && object.pointer("/spec/finalizers").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
}

/// Marks a namespace whose deletion begins.
pub(super) fn mark_terminating(resource: &Resource, object: &mut Value) {
    if !is_namespace(resource) {
        return;
    }
    if let Some(members) = object.as_object_mut() {
        let status = members.entry("status").or_insert_with(|| Value::Object(serde_json::Map::new()));
        if let Some(status) = status.as_object_mut() {
            status.insert("phase".to_owned(), Value::from("Terminating"));
        }
    }
}
