//! Whether somebody may do something.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::{AUTHORIZATION, selectors};
use crate::access::Identity;
use crate::core::Core;
use crate::metadata::fields;
use crate::pipeline::attributes::{Attributes, ResourceAttributes};
use crate::status::ApiError;

/// A review of oneself.
pub(super) fn check_own(review: &Value) -> Result<(), ApiError> {
    let spec = review.get("spec").unwrap_or(&Value::Null);
    let mut errors = check_attributes(spec);
    errors.extend(check_metadata(review, &[], "must be empty"));
    refuse(&errors)
}

/// A review of somebody.
pub(super) fn check(review: &Value) -> Result<(), ApiError> {
    let spec = review.get("spec").unwrap_or(&Value::Null);
    let mut errors = check_subject(spec);
    errors.extend(check_metadata(review, &[], "must be empty"));
    refuse(&errors)
}

/// A review in a namespace is about resources of that namespace.
pub(super) fn check_local(review: &Value) -> Result<(), ApiError> {
    let spec = review.get("spec").unwrap_or(&Value::Null);
    let mut errors = check_subject(spec);
    errors.extend(check_metadata(review, &["namespace"], "must be empty except for namespace"));
    if let Some(attributes) = spec.get("resourceAttributes").filter(|given| given.is_object()) {
        let asked = attributes.get("namespace").and_then(Value::as_str).unwrap_or_default();
        if asked != fields::text(review, "namespace") {
            let path = FieldPath::new("spec.resourceAttributes.namespace");
            errors.push(FieldError::invalid(&path, asked, "must match metadata.namespace"));
        }
    }
    if let Some(attributes) = spec.get("nonResourceAttributes").filter(|given| given.is_object()) {
        let text = |key: &str| attributes.get(key).and_then(Value::as_str).unwrap_or_default();
        let value = json!({"Path": text("path"), "Verb": text("verb")});
        let path = FieldPath::new("spec.nonResourceAttributes");
        errors.push(FieldError::invalid(&path, value, "disallowed on this kind of request"));
    }
    refuse(&errors)
}

/// Exactly one of the two kinds of attributes must be there.
fn check_attributes(spec: &Value) -> Vec<FieldError> {
    let given = |key| spec.get(key).is_some_and(Value::is_object);
    let mut errors = Vec::new();
    if given("resourceAttributes") == given("nonResourceAttributes") {
        let value = spec.get("nonResourceAttributes").cloned().unwrap_or_default();
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid(&FieldPath::new("spec"), value, detail));
    }
    errors.extend(spec.get("resourceAttributes").map(selectors::check).unwrap_or_default());
    errors
}

/// Somebody must be named.
fn check_subject(spec: &Value) -> Vec<FieldError> {
    let mut errors = check_attributes(spec);
    let subject = subject(spec);
    if subject.name.is_empty() && subject.groups.is_empty() {
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid(&FieldPath::new("spec.user"), "", detail));
    }
    errors
}

/// Reviews aren't kept, so that they have no names.
fn check_metadata(review: &Value, allowed: &[&str], detail: &str) -> Option<FieldError> {
    let metadata = review.get("metadata").and_then(Value::as_object)?;
    let other = metadata.keys().any(|key| key != "managedFields" && !allowed.contains(&key.as_str()));
    other.then(|| FieldError::invalid(&FieldPath::new("metadata"), Value::Object(metadata.clone()), detail))
}

fn refuse(errors: &[FieldError]) -> Result<(), ApiError> {
    if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid(AUTHORIZATION, "", "", errors)) }
}

/// Whom a review is about.
pub(super) fn subject(spec: &Value) -> Identity {
    let text = |key: &str| spec.get(key).and_then(Value::as_str).unwrap_or_default();
    let texts = |value: &Value| {
        let values = value.as_array().into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut subject = Identity::new(text("user")).with_uid(text("uid"));
    subject.groups = spec.get("groups").map(texts).unwrap_or_default();
    let extra = spec.get("extra").and_then(Value::as_object).into_iter().flatten();
    subject.extra = extra.map(|(key, values)| (key.clone(), texts(values))).collect::<BTreeMap<_, _>>();
    subject
}

pub(super) fn status(core: &Core, user: &Identity, spec: &Value) -> Value {
    let decision = core.authorizer.decide(&core.store, user, &wanted(spec));
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = json!(decision.reason);
    }
    if let Some(ignored) = spec.get("resourceAttributes").and_then(selectors::ignored) {
        status["evaluationError"] = json!(ignored);
    }
    status
}

fn wanted(spec: &Value) -> Attributes {
    let text =
        |attributes: &Value, key: &str| attributes.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(attributes) = spec.get("nonResourceAttributes").filter(|given| given.is_object()) {
        return Attributes::Path { verb: text(attributes, "verb"), path: text(attributes, "path") };
    }
    let attributes = spec.get("resourceAttributes").unwrap_or(&Value::Null);
    Attributes::Resource(ResourceAttributes {
        verb: text(attributes, "verb"),
        group: text(attributes, "group"),
        version: text(attributes, "version"),
        namespace: text(attributes, "namespace"),
        resource: text(attributes, "resource"),
        subresource: text(attributes, "subresource"),
        name: text(attributes, "name"),
    })
}
