//! What others have to say about a write before it happens: built-in plugins, mutating and validating webhooks
//! (`admissionregistration.k8s.io/v1`), and the hooks of the process around them.

mod ask_hooks;
mod attributes;
mod caller;
mod certificate;
mod endpoint;
mod expression;
mod hook;
mod invocation;
mod match_condition;
mod matching;
mod plugin;
mod review;
mod webhook;
mod webhook_service;

use std::borrow::Cow;

use futures::future::join_all;
use serde_json::{Value, json};

pub(crate) use self::attributes::Operation;
pub(crate) use self::caller::call as call_webhook;
pub(crate) use self::endpoint::Endpoint;
pub use self::hook::{AdmissionAnswer, AdmissionHook, AdmissionOperation, AdmissionRequest};
pub(crate) use self::match_condition::compile as compile_match_condition;
pub use self::webhook_service::WebhookService;
pub(crate) use self::webhook_service::{InProcessWebhooks, WebhookBackend, WebhookServices};

use self::attributes::Attributes;
use self::invocation::Invocation;
use self::webhook::{Phase, Webhook, webhooks};
use crate::patch::JsonPatch;
use crate::pipeline::decode::{self, FieldValidation};
use crate::pipeline::parse::Document;
use crate::status::ApiError;
use crate::store::ObjectKey;
use crate::verbs::{Call, DeleteOptions, WriteOptions, conversion, own_kind, set_defaults};

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
    // Those asked so far, and whether others changed the object after them.
    let mut asked: Vec<(&Webhook, bool)> = Vec::new();
    for webhook in &webhooks {
        let attributes = Attributes::new(call, operation, Some(object), old, dry_run, kind);
        let Some(invocation) = Invocation::of(call, webhook, &attributes).await? else { continue };
        let changed = invocation.changed(call, &attributes).await?;
        if let Some(changed) = changed {
            *object = changed;
            for (_, changed_after) in &mut asked {
                *changed_after = true;
            }
        }
        asked.push((webhook, false));
    }
    // Whoever wants to know what others changed after it is asked once more.
    for (webhook, _) in asked.into_iter().filter(|(webhook, changed_after)| *changed_after && webhook.reinvoked) {
        let attributes = Attributes::new(call, operation, Some(object), old, dry_run, kind);
        let Some(invocation) = Invocation::of(call, webhook, &attributes).await? else { continue };
        if let Some(changed) = invocation.changed(call, &attributes).await? {
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
    let [mutating, validating] = [Phase::Mutating, Phase::Validating].map(|phase| webhooks(&call.core.store, phase));
    let nobody = mutating.is_empty() && validating.is_empty() && call.core.admission_hooks().is_empty();
    if nobody || attributes::is_exempt(&call.resource) {
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
    for webhook in &mutating {
        if let Some(invocation) = Invocation::of(call, webhook, &attributes).await? {
            invocation.ask(call, &attributes).await?;
        }
    }
    ask_all(call, &validating, &attributes).await?;
    Box::pin(ask_hooks::validate(call, &attributes)).await
}

/// Asks webhooks that change nothing, all at once. Where several refuse, the first of them does.
async fn ask_all(call: &Call, webhooks: &[Webhook], attributes: &Attributes<'_>) -> Result<(), ApiError> {
    let mut invocations = Vec::new();
    for webhook in webhooks {
        invocations.extend(Invocation::of(call, webhook, attributes).await?);
    }
    let answers = join_all(invocations.iter().map(|invocation| invocation.ask(call, attributes))).await;
    answers.into_iter().try_for_each(|answer| answer.map(drop))
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
    if own_kind::is_of_own(&call.resource, &changed) {
        return own_kind::reread(changed).map_err(|error| unreadable(hook, error.message()));
    }
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
