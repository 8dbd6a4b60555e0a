//! `v1` ReplicationController.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::Strategy;
use super::fields::{Fields, at, is_given, object_mut, object_or_new, set_default};
use super::pod_spec;
use super::replica_set::validate_status;
use super::rules::{Errors, labels, non_negative_fields, one_of};

/// `ReplicationController`: selector and labels are those of the template.
pub(super) fn defaults(controller: &mut Fields) {
    let Some(spec) = object_or_new(controller, "spec") else { return };
    set_default(spec, "replicas", 1);
    // The schema tells a default that Go leaves out.
    if spec.get("minReadySeconds").and_then(Value::as_i64) == Some(0) {
        spec.remove("minReadySeconds");
    }
    let Some(template_labels) = spec.get("template").map(|template| at(template, "metadata.labels").clone()) else {
        return;
    };
    if template_labels.is_null() {
        return;
    }
    let empty = |labels: Option<&Value>| labels.and_then(Value::as_object).is_none_or(serde_json::Map::is_empty);
    if empty(spec.get("selector")) {
        spec.insert("selector".to_owned(), template_labels.clone());
    }
    if let Some(metadata) = object_mut(controller, "metadata")
        && empty(metadata.get("labels"))
    {
        metadata.insert("labels".to_owned(), template_labels);
    }
}

/// What is special about replication controllers.
#[derive(Debug)]
pub(super) struct ReplicationController;

impl Strategy for ReplicationController {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.ReplicationController")
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn orphans_by_default(&self) -> bool {
        true
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let spec = at(object, "spec");
        let path = FieldPath::new("spec");
        non_negative_fields(spec, &path, &["minReadySeconds"], &mut errors);
        labels(at(spec, "selector"), &path.child("selector"), &mut errors);
        if !is_given(spec, "selector") {
            errors.push(FieldError::required(&path.child("selector"), ""));
        }
        non_negative_fields(spec, &path, &["replicas"], &mut errors);
        let template = at(spec, "template");
        let template_path = path.child("template");
        if template.is_null() {
            errors.push(FieldError::required(&template_path, ""));
            return errors;
        }
        let template_labels = at(template, "metadata.labels");
        let mut selected = at(spec, "selector").as_object().into_iter().flatten();
        if !selected.all(|(key, value)| template_labels.get(key) == Some(value)) {
            let detail = "`selector` does not match template `labels`";
            let path = template_path.child("metadata.labels");
            errors.push(FieldError::invalid(&path, template_labels.clone(), detail));
        }
        pod_spec::template(template, &template_path, &mut errors);
        one_of(
            at(template, "spec.restartPolicy"),
            &template_path.child("spec.restartPolicy"),
            &["Always"],
            &mut errors,
        );
        if is_given(template, "spec.activeDeadlineSeconds") {
            let detail = "activeDeadlineSeconds in ReplicationController is not Supported";
            errors.push(FieldError::forbidden(&template_path.child("spec.activeDeadlineSeconds"), detail));
        }
        errors
    }

    fn validate_update(&self, new: &Value, _old: &Value, subresource: Option<&str>) -> Errors {
        if subresource == Some("status") { validate_status(new) } else { self.validate(new) }
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["status.replicas"]
    }

    fn selectable(&self, object: &Value) -> std::collections::BTreeMap<String, String> {
        let replicas = at(object, "status.replicas").as_i64().unwrap_or_default();
        [("status.replicas".to_owned(), replicas.to_string())].into()
    }
}
