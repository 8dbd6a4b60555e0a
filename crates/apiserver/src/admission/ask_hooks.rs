//! How hooks of the process are asked.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::attributes::{Attributes, Operation};
use super::hook::{AdmissionAnswer, AdmissionHook, AdmissionOperation, AdmissionRequest};
use super::readmitted;
use super::review::Refusal;
use crate::status::{ApiError, quote};
use crate::verbs::Call;

/// Lets mutating hooks change an object.
pub(super) async fn mutate(call: &Call, attributes: &Attributes<'_>) -> Result<Option<Value>, ApiError> {
    let mut changed: Option<Value> = None;
    for hook in call.core.admission_hooks().iter().filter(|hook| hook.mutates) {
        let object = changed.as_ref().or(attributes.object);
        let answer = ask(call, hook, attributes, object).await?;
        if let Some(object) = answer.object
            && Some(&object) != changed.as_ref().or(attributes.object)
        {
            changed = Some(readmitted(call, Some(&hook.name), object)?);
        }
    }
    Ok(changed)
}

/// Asks validating hooks.
pub(super) async fn validate(call: &Call, attributes: &Attributes<'_>) -> Result<(), ApiError> {
    for hook in call.core.admission_hooks().iter().filter(|hook| !hook.mutates) {
        if ask(call, hook, attributes, attributes.object).await?.object.is_some() {
            let name = quote(&hook.name);
            return Err(ApiError::internal(&format!("admission hook {name} validates and must not change the object")));
        }
    }
    Ok(())
}

async fn ask(
    call: &Call,
    hook: &AdmissionHook,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Result<AdmissionAnswer, ApiError> {
    let answer = timeout(hook.deadline, (hook.ask)(request(call, attributes, object))).await;
    let late = |_| {
        ApiError::internal(&format!("failed calling admission hook {}: context deadline exceeded", quote(&hook.name)))
    };
    let answer = answer.map_err(late)?;
    answer.warnings.iter().for_each(|text| call.warn(text.clone()));
    match &answer.refusal {
        Some((code, message)) => {
            Err(Refusal::new(json!({"code": code, "message": message, "reason": reason(*code)})).error(&hook.name))
        }
        None => Ok(answer),
    }
}

/// A refusal without a reason of its own.
fn reason(code: u16) -> &'static str {
    if code == 403 { "Forbidden" } else { "" }
}

fn request(call: &Call, attributes: &Attributes<'_>, object: Option<&Value>) -> AdmissionRequest {
    AdmissionRequest {
        operation: match attributes.operation {
            Operation::Create => AdmissionOperation::Create,
            Operation::Update => AdmissionOperation::Update,
            Operation::Delete => AdmissionOperation::Delete,
        },
        group: call.resource.group.clone(),
        version: call.resource.version.clone(),
        resource: call.resource.plural.clone(),
        subresource: call.subresource.clone().unwrap_or_default(),
        kind: call.resource.kind.clone(),
        namespace: attributes.namespace.clone(),
        name: attributes.name.clone(),
        user: call.user.clone(),
        object: object.cloned(),
        old_object: attributes.old.cloned(),
        dry_run: attributes.dry_run,
    }
}
