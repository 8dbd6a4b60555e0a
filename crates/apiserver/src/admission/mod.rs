//! What others have to say about a write before it happens: built-in plugins, mutating and validating webhooks
//! (`admissionregistration.k8s.io/v1`), and the hooks of the process around them.

mod ask_hooks;
mod attributes;
mod caller;
mod certificate;
mod endpoint;
mod hook;
mod matching;
mod plugin;
mod review;
mod webhook;

use std::borrow::Cow;

use serde_json::{Value, json};

pub(crate) use self::attributes::Operation;
pub use self::caller::WebhookService;
pub(crate) use self::caller::{CallError, WebhookServices, call as call_webhook};
pub(crate) use self::endpoint::Endpoint;
pub use self::hook::{AdmissionAnswer, AdmissionHook, AdmissionOperation, AdmissionRequest};

use self::attributes::Attributes;
use self::review::verdict;
use self::webhook::{FailurePolicy, Phase, Webhook, webhooks};
use crate::patch::JsonPatch;
use crate::pipeline::decode::{self, FieldValidation};
use crate::pipeline::parse::Document;
use crate::status::ApiError;
use crate::store::ObjectKey;
use crate::verbs::{Call, DeleteOptions, WriteOptions, conversion, set_defaults};

/// Lets plugins and the mutating webhooks change an object that is about to be written.
pub(crate) async fn mutate(
    call: &Call,
    operation: Operation,
    object: &mut Value,
    old: Option<&Value>,
    options: &WriteOptions,
) -> Result<(), ApiError> {
    plugin::mutate(plugin::Write { call, operation, old }, object)?;
    let webhooks = webhooks(&call.core.store, Phase::Mutating);
    if (webhooks.is_empty() && call.core.admission_hooks().is_empty()) || attributes::is_exempt(&call.resource) {
        return Ok(());
    }
    let kind = options_kind(operation);
    let dry_run = options.dry_run;
    let attributes = Attributes::new(call, operation, Some(object), old, dry_run, kind);
    if let Some(changed) = Box::pin(ask_hooks::mutate(call, &attributes)).await? {
        *object = changed;
    }
    let mut changed_after = vec![false; webhooks.len()];
    for (index, webhook) in webhooks.iter().enumerate() {
        let attributes = Attributes::new(call, operation, Some(object), old, dry_run, kind);
        if let Some(changed) = ask(call, webhook, &attributes).await? {
            *object = changed;
            changed_after.iter_mut().take(index).for_each(|changed| *changed = true);
        }
    }
    // Whoever wants to know what others changed after it is asked once more.
    for (webhook, _) in webhooks.iter().zip(changed_after).filter(|(webhook, changed)| *changed && webhook.reinvoked) {
        let attributes = Attributes::new(call, operation, Some(object), old, dry_run, kind);
        if let Some(changed) = ask(call, webhook, &attributes).await? {
            *object = changed;
        }
    }
    Ok(())
}

/// Asks plugins and the validating webhooks about an object as it would be stored.
pub(crate) async fn validate(
    call: &Call,
    operation: Operation,
    object: &Value,
    old: Option<&Value>,
    options: &WriteOptions,
) -> Result<(), ApiError> {
    let write = plugin::Write { call, operation, old };
    plugin::validate(write, object)?;
    ask_validating(call, operation, object, old, options).await?;
    plugin::take_quota(write, object, options.dry_run)
}

async fn ask_validating(
    call: &Call,
    operation: Operation,
    object: &Value,
    old: Option<&Value>,
    options: &WriteOptions,
) -> Result<(), ApiError> {
    let webhooks = webhooks(&call.core.store, Phase::Validating);
    if (webhooks.is_empty() && call.core.admission_hooks().is_empty()) || attributes::is_exempt(&call.resource) {
        return Ok(());
    }
    let kind = options_kind(operation);
    let attributes = Attributes::new(call, operation, Some(object), old, options.dry_run, kind);
    ask_all(call, &webhooks, &attributes).await?;
    Box::pin(ask_hooks::validate(call, &attributes)).await
}

/// Asks all webhooks about a deletion.
pub(crate) async fn admit_delete(call: &Call, key: &ObjectKey, options: &DeleteOptions) -> Result<(), ApiError> {
    let mut asked = webhooks(&call.core.store, Phase::Mutating);
    asked.extend(webhooks(&call.core.store, Phase::Validating));
    if (asked.is_empty() && call.core.admission_hooks().is_empty()) || attributes::is_exempt(&call.resource) {
        return Ok(());
    }
    let Some(stored) = call.core.store.get(&call.collection(), key) else { return Ok(()) };
    let live = conversion::seen(call, &stored).await?;
    let (old, dry_run) = (Some(live.value()), options.dry_run);
    let mut attributes = Attributes::new(call, Operation::Delete, None, old, dry_run, "DeleteOptions");
    attributes.name.clone_from(&key.name);
    attributes.delete_options = Some(options);
    attributes.namespace.clone_from(&key.namespace);
    Box::pin(ask_hooks::mutate(call, &attributes)).await?;
    ask_all(call, &asked, &attributes).await?;
    Box::pin(ask_hooks::validate(call, &attributes)).await
}

async fn ask_all(call: &Call, webhooks: &[Webhook], attributes: &Attributes<'_>) -> Result<(), ApiError> {
    for webhook in webhooks {
        ask(call, webhook, attributes).await?;
    }
    Ok(())
}

/// Asks one webhook, if the write concerns it; what it made of the object, if it changed that.
async fn ask(call: &Call, webhook: &Webhook, attributes: &Attributes<'_>) -> Result<Option<Value>, ApiError> {
    let Some(matched) = matching::matched(call, webhook, attributes) else { return Ok(None) };
    if attributes.dry_run && !webhook.supports_dry_run {
        let text = format!("admission webhook {} does not support dry run", crate::status::quote(&webhook.name));
        return Err(ApiError::bad_request(text));
    }
    let uid = call.core.ambient.uuid();
    let object = conversion::of_other(call, &matched, attributes.object).await?;
    let old = conversion::of_other(call, &matched, attributes.old).await?;
    let review = review::request(&uid, attributes, &matched, object.as_deref(), old.as_deref());
    // On the heap, as few writes are asked about: a connection's state would else be part of every write's future.
    let answer = Box::pin(caller::call(&call.core.webhook_services, &webhook.endpoint, &review)).await;
    let verdict = answer.and_then(|answer| verdict(&answer, &uid, webhook.phase));
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(error) => return failed(webhook, &error).map(|()| None),
    };
    // No header can say what has control characters.
    let warnings = verdict.warnings.iter().filter(|text| !text.chars().any(char::is_control));
    warnings.for_each(|text| call.warn(text.clone()));
    if let Some(refusal) = verdict.refusal {
        return Err(refusal.error(&webhook.name));
    }
    match (verdict.patch, object) {
        (Some(patch), Some(object)) => Box::pin(patched(call, &patch, &object)).await,
        _ => Ok(None),
    }
}

/// What a webhook that gave no valid answer means: nothing, or the end of the request.
fn failed(webhook: &Webhook, error: &CallError) -> Result<(), ApiError> {
    if webhook.failure_policy == FailurePolicy::Ignore {
        tracing::warn!(%error, webhook = webhook.name, "a webhook failed and is ignored");
        return Ok(());
    }
    Err(ApiError::internal(&format!("failed calling webhook {}: {error}", crate::status::quote(&webhook.name))))
}

/// Applies what a webhook wants changed to the object as it saw it.
async fn patched(call: &Call, patch: &Value, object: &Value) -> Result<Option<Value>, ApiError> {
    let inapplicable = |why: String| ApiError::internal(&why);
    let operations = JsonPatch::from_json(patch.clone()).map_err(|error| inapplicable(error.message().to_owned()))?;
    let patched = operations.patched(object).map_err(|_| inapplicable(why_inapplicable(patch, object)))?;
    if patched == *object {
        return Ok(None);
    }
    let patched = conversion::of_other(call, &call.resource, Some(&patched)).await?.map(Cow::into_owned);
    patched.map(|patched| readmitted(call, None, patched)).transpose()
}

/// What somebody made of the object, as if it had come from the client.
fn readmitted(call: &Call, hook: Option<&str>, changed: Value) -> Result<Value, ApiError> {
    let document = Document::of(changed);
    let mut new = decode::typed_object(call, document, FieldValidation::Ignore)
        .map_err(|error| unreadable(hook, error.message()))?;
    set_defaults(call, &mut new);
    Ok(new)
}

/// Why an object can't be used; webhooks have words for it that leave out whose it is.
fn unreadable(hook: Option<&str>, why: &str) -> ApiError {
    let cause = why.split_once(" cannot be handled as a ").and_then(|(_, rest)| rest.split_once(": "));
    match (hook, cause) {
        (Some(hook), _) => ApiError::internal(&format!("webhook {hook}: {why}")),
        (None, Some((_, cause))) => ApiError::internal(cause),
        (None, None) => ApiError::internal(why),
    }
}

/// The reference's words for the first operation that doesn't fit.
fn why_inapplicable(patch: &Value, object: &Value) -> String {
    let operations = patch.as_array().into_iter().flatten();
    let mut done = Vec::new();
    for operation in operations {
        done.push(operation.clone());
        let fits = JsonPatch::from_json(json!(done)).and_then(|patch| patch.patched(object)).is_ok();
        if !fits {
            let text = |key: &str| operation.get(key).and_then(Value::as_str).unwrap_or_default();
            let (op, place) = (text("op"), text("path"));
            return match op {
                "add" => format!("add operation does not apply: doc is missing path: \"{place}\": missing value"),
                "remove" => {
                    let key = place.rsplit('/').next().unwrap_or_default();
                    format!(
                        "error in remove for path: '{place}': Unable to remove nonexistent key: {key}: missing value"
                    )
                }
                "replace" | "move" | "copy" => {
                    format!("{op} operation does not apply: doc is missing path: {place}: missing value")
                }
                "test" => format!("testing value {place} failed: test failed"),
                _ => format!("Unexpected kind: {op}"),
            };
        }
    }
    "the patch does not apply".to_owned()
}

/// A patch comes as the create or update that it means.
fn options_kind(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
    }
}
