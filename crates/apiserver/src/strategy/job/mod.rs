//! `batch/v1` Job.

mod indexes;
mod policy;
mod spec;
mod status;

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

pub(super) use self::spec::{validate as validate_spec, warnings as spec_warnings};
use super::fields::{Fields, at, is_given, items, number, object_mut, object_or_new, objects_mut, set_default, text};
use super::pod_spec;
use super::rules::{Errors, immutable, is_valid_selector, label_selector, selects};
use super::workload::name_warning;
use super::{Strategy, StrategyContext};
use crate::metadata::names;

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

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn delete_warning(&self) -> Option<&'static str> {
        Some(
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove \
             them or set propagationPolicy=Orphan to suppress this warning",
        )
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        if at(object, "spec.manualSelector").as_bool() != Some(true) {
            // Labels that come from the template are those that the template ends up with.
            let own = at(object, "metadata.labels");
            let follow = is_given(object, "metadata.labels") && own == at(object, "spec.template.metadata.labels");
            generate_selector(object);
            if follow {
                take_labels(object);
            }
        }
        drop_disabled(object, "spec");
    }

    fn prepare_update(&self, new: &mut Value, _old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            drop_disabled(new, "spec");
        }
    }

    /// A job without labels gets those of its template when it is read from the store, and so isn't checked with them.
    fn reserve(&self, object: &mut Value, _old: Option<&Value>, _cx: &StrategyContext<'_>) -> Errors {
        if !is_given(object, "metadata.labels") {
            take_labels(object);
        }
        Errors::new()
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = name_warning(new, old);
        if old.is_none_or(|old| at(old, "metadata.generation") != at(new, "metadata.generation")) {
            warnings.extend(spec_warnings(at(new, "spec"), &FieldPath::new("spec")));
        }
        warnings
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        if at(object, "spec.manualSelector").as_bool() != Some(true) {
            generated_labels(object, &mut errors);
        }
        common(object, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        if subresource.is_some() {
            return status::validate(new, old);
        }
        let mut errors = Errors::new();
        common(new, &mut errors);
        completions(new, old, &mut errors);
        immutable(new, old, "spec.selector", &mut errors);
        template(new, old, &mut errors);
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

fn take_labels(object: &mut Value) {
    let labels = at(object, "spec.template.metadata.labels").clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| !labels.is_null()) {
        metadata.insert("labels".to_owned(), labels);
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
        [("controller-uid", uid), ("job-name", name), (CONTROLLER_UID, uid), ("batch.kubernetes.io/job-name", name)];
    for (key, value) in expected {
        if labels.get(key) != Some(&json!(value)) {
            errors.push(FieldError::invalid(&path.key(key), labels.clone(), format!("must be '{value}'")));
        }
    }
    let selector = at(object, "spec.selector");
    let expected: Fields = expected.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    if !selects(selector, &Value::Object(expected)) {
        let detail = "`selector` not auto-generated";
        errors.push(FieldError::invalid(&FieldPath::new("spec.selector"), selector.clone(), detail));
    }
}

/// Rules that hold for new and changed jobs.
fn common(object: &Value, errors: &mut Errors) {
    let spec = at(object, "spec");
    let path = FieldPath::new("spec");
    validate_spec(spec, &path, errors);
    let selector = at(spec, "selector");
    if selector.is_null() {
        errors.push(FieldError::required(&path.child("selector"), ""));
    }
    label_selector(selector, &path.child("selector"), errors);
    let labels = at(spec, "template.metadata.labels");
    if is_valid_selector(selector) && !selects(selector, labels) {
        let detail = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(&path.child("template.metadata.labels"), labels.clone(), detail));
    }
    let completions = number(spec, "completions").unwrap_or_default();
    if text(spec, "completionMode") == "Indexed" && completions > 0 {
        let name = text(object, "metadata.name");
        let host = format!("{name}-{}", completions - 1);
        if !names::dns_label(&host, false).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            errors.push(FieldError::invalid(&FieldPath::new("metadata.name"), name, detail));
        }
    }
}

/// Only indexed jobs change how often they run, with how many at a time.
fn completions(new: &Value, old: &Value, errors: &mut Errors) {
    let (after, before) = (at(new, "spec.completions"), at(old, "spec.completions"));
    if text(new, "spec.completionMode") != "Indexed" {
        immutable(new, old, "spec.completions", errors);
    } else if after != before && !after.is_null() && after != at(new, "spec.parallelism") {
        let detail = "can only be modified in tandem with spec.parallelism";
        errors.push(FieldError::invalid(&FieldPath::new("spec.completions"), after.clone(), detail));
    }
}

/// The template stays, but for where the pods of a suspended job go and what they need.
fn template(new: &Value, old: &Value, errors: &mut Errors) {
    let suspended = at(old, "spec.suspend").as_bool() == Some(true);
    let is_suspended =
        |condition: &Value| text(condition, "type") == "Suspended" && text(condition, "status") == "True";
    let rests = at(old, "status.startTime").is_null() || items(old, "status.conditions").iter().any(is_suspended);
    let is_mutable = suspended && rests && number(old, "status.active").unwrap_or_default() == 0;
    let after = at(new, "spec.template");
    let mut before = at(old, "spec.template").clone();
    if is_mutable {
        before = with_what_may_change(before, after);
    }
    if !is_mutable && *after != before {
        errors.push(FieldError::invalid(&FieldPath::new("spec.template"), after.clone(), "field is immutable"));
    } else if at(after, "spec") != at(&before, "spec") {
        let path = FieldPath::new("spec.template.spec");
        errors.push(FieldError::invalid(&path, at(after, "spec").clone(), "field is immutable"));
    }
}

/// The template before with those fields of the one after that may change.
fn with_what_may_change(mut before: Value, after: &Value) -> Value {
    super::fields::copy_field(&mut before, after, "metadata");
    let Some(spec) = before.get_mut("spec") else { return before };
    let new_spec = at(after, "spec");
    for key in ["nodeSelector", "tolerations", "schedulingGates"] {
        super::fields::copy_field(spec, new_spec, key);
    }
    let Some(fields) = spec.as_object_mut() else { return before };
    let mut affinity = fields.get("affinity").and_then(Value::as_object).cloned().unwrap_or_default();
    match at(new_spec, "affinity").get("nodeAffinity") {
        Some(nodes) => affinity.insert("nodeAffinity".to_owned(), nodes.clone()),
        None => affinity.remove("nodeAffinity"),
    };
    if affinity.is_empty() && at(new_spec, "affinity").is_null() {
        fields.remove("affinity");
    } else {
        fields.insert("affinity".to_owned(), Value::Object(affinity));
    }
    for list in ["containers", "initContainers"] {
        let others = items(new_spec, list);
        for (container, other) in objects_mut(fields, list).zip(others) {
            if container.get("name") == other.get("name") {
                match other.get("resources") {
                    Some(resources) => container.insert("resources".to_owned(), resources.clone()),
                    None => container.remove("resources"),
                };
            }
        }
    }
    before
}

/// Takes out of the `JobSpec` at a dotted path what belongs to features that are switched off by default.
pub(super) fn drop_disabled(object: &mut Value, path: &str) {
    let pointer = format!("/{}", path.replace('.', "/"));
    if let Some(spec) = object.pointer_mut(&pointer).and_then(Value::as_object_mut) {
        spec.remove("scheduling");
    }
    pod_spec::drop_disabled(object, &format!("{path}.template.spec"));
}
