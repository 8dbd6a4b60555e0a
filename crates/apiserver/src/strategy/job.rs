//! `batch/v1` Job.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, is_given, number, object_mut, object_or_new, set_default, text};
use super::pod_spec;
use super::rules::{Errors, immutable, label_selector, non_negative_fields, selects};
use super::{Strategy, StrategyContext};

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

/// `Job`.
pub(super) fn defaults(job: &mut Fields) {
    let Some(spec) = object_or_new(job, "spec") else { return };
    spec_defaults(spec);
    let labels = spec.get("template").map(|template| at(template, "metadata.labels").clone());
    let labels = labels.filter(|labels| labels.as_object().is_some_and(|labels| !labels.is_empty()));
    if let Some(labels) = labels
        && let Some(metadata) = object_mut(job, "metadata")
        && metadata.get("labels").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty)
    {
        metadata.insert("labels".to_owned(), labels);
    }
}

fn spec_defaults(spec: &mut Fields) {
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        set_default(spec, "completions", 1);
    }
    set_default(spec, "parallelism", 1);
    let limit = if spec.contains_key("backoffLimitPerIndex") { i32::MAX } else { 6 };
    set_default(spec, "backoffLimit", limit);
    set_default(spec, "completionMode", "NonIndexed");
    set_default(spec, "suspend", false);
    let policy = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    set_default(spec, "podReplacementPolicy", policy);
    set_default(spec, "manualSelector", false);
}

/// What is special about jobs.
#[derive(Debug)]
pub(super) struct Job;

impl Strategy for Job {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.batch.v1.Job")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn orphans_by_default(&self) -> bool {
        true
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        if at(object, "spec.manualSelector").as_bool() != Some(true) {
            // Labels that come from the template are those that the template ends up with.
            let own = at(object, "metadata.labels");
            let follow = own.is_null() || own == at(object, "spec.template.metadata.labels");
            generate_selector(object);
            let labels = at(object, "spec.template.metadata.labels").clone();
            if follow && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("labels".to_owned(), labels);
            }
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        if at(spec, "manualSelector").as_bool() != Some(true) {
            generated_labels(object, &mut errors);
        }
        validate_spec(spec, &path, &mut errors);
        let selector = at(spec, "selector");
        if selector.is_null() {
            errors.push(FieldError::required(&path.child("selector"), ""));
        }
        label_selector(selector, &path.child("selector"), &mut errors);
        let labels = at(spec, "template.metadata.labels");
        if !selects(selector, labels) {
            let detail = "`selector` does not match template `labels`";
            errors.push(FieldError::invalid(&path.child("template.metadata.labels"), labels.clone(), detail));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return Errors::new();
        }
        let mut errors = self.validate(new);
        if text(new, "spec.completionMode") != "Indexed" {
            immutable(new, old, "spec.completions", &mut errors);
        }
        immutable(new, old, "spec.selector", &mut errors);
        if at(old, "spec.suspend").as_bool() != Some(true) {
            immutable(new, old, "spec.template", &mut errors);
        }
        for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
            immutable(new, old, &format!("spec.{field}"), &mut errors);
        }
        errors
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["status.successful"]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        let succeeded = number(object, "status.succeeded").unwrap_or_default();
        [("status.successful".to_owned(), succeeded.to_string())].into()
    }
}

/// A job selects its pods by its own uid.
fn generate_selector(object: &mut Value) {
    let uid = text(object, "metadata.uid").to_owned();
    let name = text(object, "metadata.name").to_owned();
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(selector) = object_or_new(spec, "selector")
        && let Some(labels) = object_or_new(selector, "matchLabels")
    {
        set_default(labels, CONTROLLER_UID, uid.as_str());
    }
    if let Some(template) = object_or_new(spec, "template")
        && let Some(metadata) = object_or_new(template, "metadata")
        && let Some(labels) = object_or_new(metadata, "labels")
    {
        for key in ["job-name", "batch.kubernetes.io/job-name"] {
            set_default(labels, key, name.as_str());
        }
        for key in ["controller-uid", CONTROLLER_UID] {
            set_default(labels, key, uid.as_str());
        }
    }
}

/// Labels of a generated selector that the user set otherwise.
fn generated_labels(object: &Value, errors: &mut Errors) {
    let labels = at(object, "spec.template.metadata.labels");
    let path = FieldPath::new("spec.template.metadata.labels");
    let (uid, name) = (text(object, "metadata.uid"), text(object, "metadata.name"));
    let expected =
        [("controller-uid", uid), (CONTROLLER_UID, uid), ("job-name", name), ("batch.kubernetes.io/job-name", name)];
    for (key, value) in expected {
        if labels.get(key) != Some(&json!(value)) {
            errors.push(FieldError::invalid(&path, labels.clone(), format!("must be '{value}'")));
        }
    }
}

/// Rules for a `JobSpec` but for its selector.
pub(super) fn validate_spec(spec: &Value, path: &FieldPath, errors: &mut Errors) {
    let counts = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    non_negative_fields(spec, path, &counts, errors);
    match text(spec, "completionMode") {
        "Indexed" => {
            if at(spec, "completions").is_null() {
                errors.push(FieldError::required(&path.child("completions"), "when completion mode is Indexed"));
            }
        }
        "" | "NonIndexed" => {
            for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if is_given(spec, key) {
                    let detail = "requires indexed completion mode";
                    errors.push(FieldError::invalid(&path.child(key), at(spec, key).clone(), detail));
                }
            }
        }
        mode => {
            errors.push(FieldError::not_supported(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]));
        }
    }
    pod_spec::template(at(spec, "template"), &path.child("template"), errors);
    let path = path.child("template.spec.restartPolicy");
    match text(spec, "template.spec.restartPolicy") {
        "" | "Always" => errors.push(FieldError::required(&path, "valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" | "Never" => {}
        policy => errors.push(FieldError::not_supported(&path, policy, &["OnFailure", "Never"])),
    }
}
