//! `meta/v1` Condition, as the statuses of some kinds hold it.

use std::collections::BTreeSet;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, is_given, number, text};
use super::rules::{Errors, named, one_of};
use crate::metadata::names;

/// The longest reason and message.
const MAX_REASON: usize = 1024;
const MAX_MESSAGE: usize = 32 * 1024;

/// Rules for conditions.
pub(super) fn conditions(conditions: &[Value], path: &FieldPath, errors: &mut Errors) {
    let mut types = BTreeSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        if !types.insert(text(condition, "type")) {
            errors.push(FieldError::duplicate(&path, text(condition, "type")));
        }
        rules(condition, &path, errors);
    }
}

fn rules(condition: &Value, path: &FieldPath, errors: &mut Errors) {
    let at_key = |key: &str| path.child(key);
    match text(condition, "type") {
        "" => errors.push(FieldError::required(&at_key("type"), "is required")),
        name => named(name, &at_key("type"), names::qualified_name(name), errors),
    }
    match text(condition, "status") {
        "" => errors.push(FieldError::required(&at_key("status"), "")),
        _ => one_of(at(condition, "status"), &at_key("status"), &["False", "True", "Unknown"], errors),
    }
    if let Some(generation) = number(condition, "observedGeneration").filter(|generation| *generation < 0) {
        let detail = "must be greater than or equal to zero";
        errors.push(FieldError::invalid(&at_key("observedGeneration"), generation, detail));
    }
    if !is_given(condition, "lastTransitionTime") {
        errors.push(FieldError::required(&at_key("lastTransitionTime"), ""));
    }
    let reason = text(condition, "reason");
    if reason.is_empty() {
        errors.push(FieldError::required(&at_key("reason"), ""));
    } else {
        named(reason, &at_key("reason"), names::condition_reason(reason), errors);
    }
    for (key, most) in [("reason", MAX_REASON), ("message", MAX_MESSAGE)] {
        if text(condition, key).len() > most {
            errors.push(FieldError::too_long(&at_key(key), i64::try_from(most).unwrap_or(i64::MAX)));
        }
    }
}
