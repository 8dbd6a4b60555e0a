use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::attributes::Attributes;
use super::caller::{self, CallError};
use super::expression::Subject;
use super::review::{self, verdict};
use super::webhook::{FailurePolicy, Webhook};
use super::{match_condition, matching, patched};
use crate::resource::Resource;
use crate::status::{ApiError, quote};
use crate::verbs::{Call, conversion};

/// A webhook that a write concerns, with the objects as it wants to see them.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    webhook: &'a Webhook,
    matched: Arc<Resource>,
    object: Option<Cow<'a, Value>>,
    old: Option<Cow<'a, Value>>,
}

impl<'a> Invocation<'a> {
    /// `None` when the write doesn't concern the webhook. Errors: 403, its conditions have no answer; 500, the objects
    /// can't be converted.
    pub(super) async fn of(
        call: &Call,
        webhook: &'a Webhook,
        attributes: &Attributes<'a>,
    ) -> Result<Option<Self>, ApiError> {
        let Some(matched) = matching::matched(call, webhook, attributes) else { return Ok(None) };
        let object = conversion::of_other(call, &matched, attributes.object).await?;
        let old = conversion::of_other(call, &matched, attributes.old).await?;
        let invocation = Self { webhook, matched, object, old };
        Ok(invocation.is_wanted(attributes)?.then_some(invocation))
    }

    /// Whether the webhook's conditions hold.
    fn is_wanted(&self, attributes: &Attributes<'_>) -> Result<bool, ApiError> {
        if self.webhook.conditions.is_empty() {
            return Ok(true);
        }
        let mut request = review::request("", attributes, &self.matched, None, None);
        request["resource"] = request["requestResource"].clone();
        let (object, old) = (self.object.as_deref(), self.old.as_deref());
        let subject = Subject { attributes, request: &request, object, old };
        match (match_condition::hold(&self.webhook.conditions, &subject), self.webhook.failure_policy) {
            (Ok(hold), _) => Ok(hold),
            (Err(_), FailurePolicy::Ignore) => Ok(false),
            (Err(why), FailurePolicy::Fail) => {
                let resource = attributes.call.resource.group_resource();
                Err(ApiError::forbidden(resource, &attributes.name, &why))
            }
        }
    }

    /// Asks; what it made of the object, if it changed that.
    pub(super) async fn changed(self, call: &Call, attributes: &Attributes<'_>) -> Result<Option<Value>, ApiError> {
        match (self.ask(call, attributes).await?, self.object) {
            (Some(patch), Some(object)) => Box::pin(patched(call, &patch, &object)).await,
            _ => Ok(None),
        }
    }

    /// Asks; the answer is what it wants changed.
    pub(super) async fn ask(&self, call: &Call, attributes: &Attributes<'_>) -> Result<Option<Value>, ApiError> {
        let webhook = self.webhook;
        if attributes.dry_run && !webhook.supports_dry_run {
            let text = format!("admission webhook {} does not support dry run", quote(&webhook.name));
            return Err(ApiError::bad_request(text));
        }
        let uid = call.core.ambient.uuid();
        let (object, old) = (self.object.as_deref(), self.old.as_deref());
        let review = review::review(&review::request(&uid, attributes, &self.matched, object, old));
        // On the heap, as few writes are asked about: a connection's state would else be part of every write's future.
        let answer = Box::pin(caller::call(&call.core.webhook_services, &webhook.endpoint, &review)).await;
        let verdict = match answer.and_then(|answer| verdict(&answer, &uid, webhook.phase)) {
            Ok(verdict) => verdict,
            Err(error) => return failed(webhook, &error).map(|()| None),
        };
        // No header can say what has control characters.
        let warnings = verdict.warnings.iter().filter(|text| !text.chars().any(char::is_control));
        warnings.for_each(|text| call.warn(text.clone()));
        match verdict.refusal {
            Some(refusal) => Err(refusal.error(&webhook.name)),
            None => Ok(verdict.patch),
        }
    }
}

/// What a webhook that gave no valid answer means: nothing, or the end of the request.
fn failed(webhook: &Webhook, error: &CallError) -> Result<(), ApiError> {
    if webhook.failure_policy == FailurePolicy::Ignore {
        tracing::warn!(%error, webhook = webhook.name, "a webhook failed and is ignored");
        return Ok(());
    }
    Err(ApiError::internal(&format!("failed calling webhook {}: {error}", quote(&webhook.name))))
}
