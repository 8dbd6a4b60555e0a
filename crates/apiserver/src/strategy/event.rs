//! Events: `v1` Event and `events.k8s.io/v1` Event are two views of one stored object.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::Strategy;
use super::fields::{Fields, at, is_given, number, text};
use super::rules::{Errors, immutable, named};
use crate::metadata::names;

/// What a field is called in the core group, and in `events.k8s.io`.
const NAMES: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// What is special about events, in one of their two groups.
#[derive(Debug)]
pub(super) enum Event {
    /// `v1`.
    Core,
    /// `events.k8s.io/v1`, which has stricter rules.
    Events,
}

impl Strategy for Event {
    fn definition(&self) -> Option<&'static str> {
        Some(match self {
            Self::Core => "io.k8s.api.core.v1.Event",
            Self::Events => "io.k8s.api.events.v1.Event",
        })
    }

    fn create_on_update(&self) -> bool {
        true
    }

    fn has_dependents(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = self.common(object);
        if matches!(self, Self::Events) {
            strict(object, &mut errors);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let mut errors = self.common(new);
        if matches!(self, Self::Events) {
            if at(new, "series") != at(old, "series") {
                series(new, &mut errors);
            }
            for field in FIXED {
                let mut wrong = Errors::new();
                immutable(new, old, field, &mut wrong);
                errors
                    .extend(wrong.into_iter().map(|error| FieldError { field: core_name(field).to_owned(), ..error }));
            }
            for field in ["reportingController", "reportingInstance"] {
                immutable(new, old, field, &mut errors);
            }
        }
        errors
    }

    fn selectable_labels(&self) -> &[&'static str] {
        match self {
            Self::Core => &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "source",
                "type",
            ],
            Self::Events => &[
                "reason",
                "regarding.kind",
                "regarding.namespace",
                "regarding.name",
                "regarding.uid",
                "regarding.apiVersion",
                "regarding.resourceVersion",
                "regarding.fieldPath",
                "reportingController",
                "type",
            ],
        }
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        // The object may have been written through the other group.
        let mut viewed = object.clone();
        self.convert(&mut viewed, self.api_version(), "Event");
        let object = &viewed;
        let mut fields = super::selectable_texts(self.selectable_labels(), object);
        if let Some(source) = fields.get_mut("source") {
            let component = text(object, "source.component");
            let reporting = text(object, "reportingComponent");
            (if component.is_empty() { reporting } else { component }).clone_into(source);
        }
        fields
    }

    fn storage_version(&self) -> Option<&'static str> {
        Some("v1")
    }

    fn convert(&self, object: &mut Value, api_version: &str, kind: &str) {
        let Some(fields) = object.as_object_mut() else { return };
        for (core, events) in NAMES {
            let (from, to) = if api_version == "v1" { (*events, *core) } else { (*core, *events) };
            rename(fields, from, to);
        }
        // Only the core group writes who reported when nobody did.
        if api_version == "v1" {
            for key in ["reportingComponent", "reportingInstance"] {
                fields.entry(key).or_insert_with(|| json!(""));
            }
        } else {
            for key in ["reportingController", "reportingInstance"] {
                if fields.get(key) == Some(&json!("")) {
                    fields.remove(key);
                }
            }
        }
        fields.insert("apiVersion".to_owned(), json!(api_version));
        fields.insert("kind".to_owned(), json!(kind));
    }
}

fn rename(fields: &mut Fields, from: &str, to: &str) {
    if let Some(value) = fields.remove(from) {
        fields.insert(to.to_owned(), value);
    }
}

fn core_name(field: &str) -> &str {
    NAMES.iter().find(|(_, events)| *events == field).map_or(field, |(core, _)| core)
}

/// What can't be changed through the newer group, by its names there.
const FIXED: [&str; 11] = [
    "regarding",
    "reason",
    "note",
    "deprecatedSource",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "deprecatedCount",
    "type",
    "eventTime",
    "action",
    "related",
];

impl Event {
    fn api_version(&self) -> &'static str {
        match self {
            Self::Core => "v1",
            Self::Events => "events.k8s.io/v1",
        }
    }

    /// Rules of both groups. Errors name the fields as the core group does, but for the reporting controller.
    fn common(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let namespace = text(object, "metadata.namespace");
        let (involved, message, reporting) = match self {
            Self::Core => ("involvedObject.namespace", "message", "reportingComponent"),
            Self::Events => ("regarding.namespace", "note", "reportingController"),
        };
        let involved = text(object, involved);
        let mismatch = || {
            let path = FieldPath::new("involvedObject.namespace");
            FieldError::invalid(&path, involved, "does not match event.namespace")
        };
        if !is_given(object, "eventTime") {
            let matches = if involved.is_empty() { matches!(namespace, "" | "default") } else { namespace == involved };
            if !matches {
                errors.push(mismatch());
            }
            return errors;
        }
        if involved.is_empty() && !matches!(namespace, "default" | "kube-system") {
            errors.push(mismatch());
        }
        let controller = text(object, reporting);
        let path = FieldPath::new(reporting);
        if controller.is_empty() {
            errors.push(FieldError::required(&path, ""));
        }
        named(controller, &path, names::qualified_name(controller), &mut errors);
        for (field, limit) in [("reportingInstance", 128), ("action", 128), ("reason", 128)] {
            if text(object, field).is_empty() {
                errors.push(FieldError::required(&FieldPath::new(field), ""));
            }
            at_most(text(object, field), field, limit, &mut errors);
        }
        at_most(text(object, message), "message", 1024, &mut errors);
        errors
    }
}

fn at_most(text: &str, field: &str, limit: usize, errors: &mut Errors) {
    if text.len() > limit {
        let detail = format!("can have at most {limit} characters");
        errors.push(FieldError::invalid(&FieldPath::new(field), "", detail));
    }
}

/// What the newer group asks of a new event beyond the common rules.
fn strict(object: &Value, errors: &mut Errors) {
    if !is_given(object, "eventTime") {
        errors.push(FieldError::required(&FieldPath::new("eventTime"), ""));
    }
    if !matches!(text(object, "type"), "Normal" | "Warning") {
        let detail = format!("has invalid value: {}", text(object, "type"));
        errors.push(FieldError::invalid(&FieldPath::new("type"), "", detail));
    }
    series(object, errors);
    for (field, shown) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("deprecatedSource", "source"),
    ] {
        if is_given(object, field) {
            errors.push(FieldError::invalid(&FieldPath::new(shown), "", "needs to be unset"));
        }
    }
}

fn series(object: &Value, errors: &mut Errors) {
    if at(object, "series").is_null() {
        return;
    }
    if number(object, "series.count").unwrap_or_default() < 2 {
        errors.push(FieldError::invalid(&FieldPath::new("series.count"), "", "should be at least 2"));
    }
    if !is_given(object, "series.lastObservedTime") {
        errors.push(FieldError::required(&FieldPath::new("series.lastObservedTime"), ""));
    }
}
