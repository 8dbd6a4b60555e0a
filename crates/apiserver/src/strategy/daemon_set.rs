//! `apps/v1` DaemonSet.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, object_or_new, set_default};
use super::rules::{Errors, at_most_all, count_of, count_or_percent, immutable, non_negative_fields};
use super::workload::Workload;
use super::{Strategy, StrategyContext, workload};

const WORKLOAD: Workload =
    Workload { selector_of: "daemonset", template_of: "DaemonSet", invalid_selector: None, needs_selector: false };

/// The number of template changes, which only an annotation shows.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// `DaemonSet`: the annotation stands for a field that every DaemonSet has.
pub(super) fn annotation_defaults(daemon_set: &mut Fields) {
    if let Some(metadata) = object_or_new(daemon_set, "metadata")
        && let Some(annotations) = object_or_new(metadata, "annotations")
    {
        set_default(annotations, TEMPLATE_GENERATION, "0");
    }
}

/// `DaemonSetSpec`.
pub(super) fn defaults(spec: &mut Fields) {
    if let Some(strategy) = object_or_new(spec, "updateStrategy") {
        set_default(strategy, "type", "RollingUpdate");
        if strategy.get("type") == Some(&json!("RollingUpdate"))
            && let Some(rolling) = object_or_new(strategy, "rollingUpdate")
        {
            set_default(rolling, "maxUnavailable", 1);
            set_default(rolling, "maxSurge", 0);
        }
    }
    set_default(spec, "revisionHistoryLimit", 10);
}

/// What is special about DaemonSets.
#[derive(Debug)]
pub(super) struct DaemonSet;

impl Strategy for DaemonSet {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.apps.v1.DaemonSet")
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        workload::drop_disabled(object);
        set_template_generation(object, template_generation(object).max(1));
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            workload::drop_disabled(new);
            let changed = at(new, "spec.template") != at(old, "spec.template");
            set_template_generation(new, template_generation(old) + i64::from(changed));
        }
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        workload::template_warnings(new, old)
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        WORKLOAD.selector(spec, &mut errors);
        WORKLOAD.template(spec, &mut errors);
        non_negative_fields(spec, &path, &["minReadySeconds"], &mut errors);
        update_strategy(at(spec, "updateStrategy"), &path.child("updateStrategy"), &mut errors);
        non_negative_fields(spec, &path, &["revisionHistoryLimit"], &mut errors);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Errors {
        let mut errors = Errors::new();
        if subresource == Some("status") {
            let counts = [
                "currentNumberScheduled",
                "numberMisscheduled",
                "desiredNumberScheduled",
                "numberReady",
                "observedGeneration",
                "updatedNumberScheduled",
                "numberAvailable",
                "numberUnavailable",
                "collisionCount",
            ];
            non_negative_fields(at(new, "status"), &FieldPath::new("status"), &counts, &mut errors);
            workload::not_decremented(new, old, &mut errors);
            return errors;
        }
        immutable(new, old, "spec.selector", &mut errors);
        errors.extend(self.validate(new));
        errors
    }
}

fn template_generation(object: &Value) -> i64 {
    let annotation = at(object, "metadata.annotations").get(TEMPLATE_GENERATION);
    annotation.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn set_template_generation(object: &mut Value, generation: i64) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(annotations) = object_or_new(metadata, "annotations")
    {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), json!(generation.to_string()));
    }
}

fn update_strategy(strategy: &Value, path: &FieldPath, errors: &mut Errors) {
    match at(strategy, "type").as_str().unwrap_or_default() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = at(strategy, "rollingUpdate");
            let path = path.child("rollingUpdate");
            let keys = ["maxUnavailable", "maxSurge"];
            for key in keys {
                count_or_percent(at(rolling, key), &path.child(key), errors);
            }
            for key in keys {
                at_most_all(at(rolling, key), &path.child(key), errors);
            }
            let surge = at(rolling, "maxSurge");
            match (count_of(at(rolling, "maxUnavailable")) != 0, count_of(surge) != 0) {
                (true, true) => errors.push(FieldError::invalid(
                    &path.child("maxSurge"),
                    surge.clone(),
                    "may not be set when maxUnavailable is non-zero",
                )),
                (false, false) => {
                    errors.push(FieldError::required(&path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"));
                }
                _ => {}
            }
        }
        _ => errors.push(workload::unknown_strategy(path, strategy, &["RollingUpdate", "OnDelete"])),
    }
}
