//! `pods/eviction`: deletes a pod where its disruption budget allows it.

use controller_runtime_schema::{FieldError, FieldPath};
use http::StatusCode;
use serde_json::{Value, json};

use super::binding::succeeded;
use super::delete::delete_object;
use super::disruption;
use super::own_kind::{self, OwnKind};
use super::{Call, DeleteOptions, Reply, WriteOptions};
use crate::admission::{self, Operation};
use crate::metadata::fields;
use crate::pipeline::decode;
use crate::status::{ApiError, GroupResource};
use crate::store::WriteError;
use crate::strategy::set_condition;

/// Evicts the pod that the path names.
pub(super) async fn evict(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "CreateOptions")?;
    let (resource, mut eviction) = own_kind::decoded(call, &options, kind(call)?)?;
    own_kind::track(call, &options, &resource, &mut eviction);
    admission::mutate(call, Operation::Create, &mut eviction, None, &options).await?;
    let name = call.name.clone().unwrap_or_default();
    if fields::text(&eviction, "name") != name {
        return Err(ApiError::bad_request("name in URL does not match name in Eviction object"));
    }
    let asked = eviction.get("deleteOptions").unwrap_or(&Value::Null);
    let mut delete = DeleteOptions::of_value(asked)?;
    if delete.unreadable_only {
        let path = FieldPath::new("deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential");
        let detail = "can not be set for pod eviction, try after removing the option";
        let error = FieldError::invalid(&path, true, detail);
        return Err(ApiError::invalid("policy", "Eviction", &name, &[error]));
    }
    delete.dry_run |= options.dry_run;
    admission::validate(call, Operation::Create, &eviction, None, &options).await?;
    let key = call.key();
    let pod = call.core.store.get("pods", &key);
    let pod = pod.ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &name))?;
    if !is_unprotected(pod.value()) {
        disruption::disrupt(call, pod.value(), delete.dry_run)?;
    }
    remove(call, delete)?;
    Ok(Reply::Made(StatusCode::CREATED, succeeded()))
}

/// The kind in the version that the body says it has; one that is no longer served is still understood here.
fn kind(call: &Call) -> Result<OwnKind, ApiError> {
    let body = decode::document(call)?.value;
    let version = body.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    Ok(if version == "policy/v1beta1" {
        OwnKind { version: "v1beta1", ..OwnKind::EVICTION }
    } else {
        OwnKind::EVICTION
    })
}

/// Budgets don't count pods that wait, have ended or are going anyway.
fn is_unprotected(pod: &Value) -> bool {
    let phase = pod.pointer("/status/phase").and_then(Value::as_str);
    fields::is_deleting(pod) || matches!(phase, Some("Succeeded" | "Failed" | "Pending"))
}

/// Writes down why the pod goes, and deletes it.
fn remove(call: &Call, mut options: DeleteOptions) -> Result<(), ApiError> {
    let key = call.key();
    while !options.dry_run {
        let stored = call.core.store.get("pods", &key);
        let stored = stored.ok_or_else(|| ApiError::not_found(call.resource.group_resource(), &key.name))?;
        check_preconditions(&options, stored.value())?;
        let mut pod = stored.value().clone();
        if let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut) {
            let said =
                json!({"status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"});
            set_condition(status, "DisruptionTarget", &said, &call.now());
        }
        match call.core.store.update(&stored, pod) {
            Ok(written) => {
                if options.resource_version.is_some() {
                    options.resource_version = Some(fields::text(written.value(), "resourceVersion").to_owned());
                }
                break;
            }
            Err(WriteError::Changed) => {}
            Err(error) => return Err(super::create::unwritable(&call.resource, &key.name, &error)),
        }
    }
    delete_object(&call.core, &call.resource, &key, &options).map(|_| ())
}

fn check_preconditions(options: &DeleteOptions, pod: &Value) -> Result<(), ApiError> {
    // The reference names the kind where it names resources elsewhere.
    let about = GroupResource { group: "", resource: "Pod" };
    let name = fields::text(pod, "name");
    let asked = [
        (&options.uid, "uid", "UID", "deleted and then recreated"),
        (&options.resource_version, "resourceVersion", "ResourceVersion", "modified"),
    ];
    for (asked, field, called, happened) in asked {
        let found = fields::text(pod, field);
        if let Some(asked) = asked.as_deref().filter(|asked| !asked.is_empty() && *asked != found) {
            let why = format!(
                "the {called} in the precondition ({asked}) does not match the {called} in record ({found}). The object \
                 might have been {happened}"
            );
            return Err(ApiError::conflict(about, name, &why));
        }
    }
    Ok(())
}
