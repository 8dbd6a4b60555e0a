//! Whether somebody may do something.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::AUTHORIZATION;
use crate::access::Identity;
use crate::core::Core;
use crate::pipeline::attributes::{Attributes, ResourceAttributes};
use crate::status::ApiError;

/// Exactly one of the two kinds of attributes must be there.
pub(super) fn check(spec: &Value) -> Result<(), ApiError> {
    let given = |key| spec.get(key).is_some_and(Value::is_object);
    if given("resourceAttributes") != given("nonResourceAttributes") {
        return Ok(());
    }
    let value = spec.get("nonResourceAttributes").cloned().unwrap_or_default();
    let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    Err(invalid(&FieldError::invalid(&FieldPath::new("spec"), value, detail)))
}

/// Somebody must be named.
pub(super) fn check_subject(spec: &Value) -> Result<(), ApiError> {
    let subject = subject(spec);
    if !subject.name.is_empty() || !subject.groups.is_empty() {
        return Ok(());
    }
    let detail = "at least one of user or group must be specified";
    Err(invalid(&FieldError::invalid(&FieldPath::new("spec.user"), "", detail)))
}

/// A review in a namespace is about resources of that namespace.
pub(super) fn check_local(spec: &Value, namespace: &str) -> Result<(), ApiError> {
    check_subject(spec)?;
    if let Some(attributes) = spec.get("nonResourceAttributes").filter(|given| given.is_object()) {
        let text = |key: &str| attributes.get(key).and_then(Value::as_str).unwrap_or_default();
        let value = json!({"Path": text("path"), "Verb": text("verb")});
        let path = FieldPath::new("spec.nonResourceAttributes");
        return Err(invalid(&FieldError::invalid(&path, value, "disallowed on this kind of request")));
    }
    check(spec)?;
    let asked = spec.pointer("/resourceAttributes/namespace").and_then(Value::as_str).unwrap_or_default();
    if asked == namespace {
        return Ok(());
    }
    let path = FieldPath::new("spec.resourceAttributes.namespace");
    Err(invalid(&FieldError::invalid(&path, asked, "must match metadata.namespace")))
}

fn invalid(error: &FieldError) -> ApiError {
    ApiError::invalid(AUTHORIZATION, "", "", std::slice::from_ref(error))
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
