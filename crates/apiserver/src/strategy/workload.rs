//! What Deployments, StatefulSets, DaemonSets and ReplicaSets have in common: a selector and a pod template.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::Value;

use super::fields::{at, is_given, text};
use super::pod_spec;
use super::rules::{Errors, is_valid_selector, label_selector, one_of, selects, selects_everything};
use crate::metadata::names;

/// How the rules name the kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload {
    /// The kind in "empty selector is invalid for …".
    pub(super) selector_of: &'static str,
    /// The kind in "activeDeadlineSeconds in … is not Supported".
    pub(super) template_of: &'static str,
    /// What is said of a selector that can't be used, in place of the template's errors.
    pub(super) invalid_selector: Option<&'static str>,
    /// Whether a selector that isn't there is an error of its own.
    pub(super) needs_selector: bool,
}

impl Workload {
    /// Rules for the selector.
    pub(super) fn selector(self, spec: &Value, errors: &mut Errors) {
        let path = FieldPath::new("spec.selector");
        let selector = at(spec, "selector");
        if selector.is_null() {
            if self.needs_selector {
                errors.push(FieldError::required(&path, ""));
            }
            return;
        }
        label_selector(selector, &path, errors);
        if selects_everything(selector) {
            let detail = format!("empty selector is invalid for {}", self.selector_of);
            errors.push(FieldError::invalid(&path, selector.clone(), detail));
        }
    }

    /// Rules for the template and how the selector selects it.
    pub(super) fn template(self, spec: &Value, errors: &mut Errors) {
        let path = FieldPath::new("spec.template");
        let template = at(spec, "template");
        let selector = at(spec, "selector");
        let labels = at(template, "metadata.labels");
        if let Some(detail) = self.invalid_selector
            && !is_valid_selector(selector)
        {
            errors.push(FieldError::invalid(&FieldPath::new("spec.selector"), selector.clone(), detail));
            return;
        }
        if is_valid_selector(selector) && !selects(selector, labels) {
            let detail = "`selector` does not match template `labels`";
            errors.push(FieldError::invalid(&path.child("metadata.labels"), labels.clone(), detail));
        }
        pod_spec::template(template, &path, errors);
        self.lifetime(spec, errors);
    }

    /// Pods of workloads are started again and again.
    pub(super) fn lifetime(self, spec: &Value, errors: &mut Errors) {
        let path = FieldPath::new("spec.template");
        let template = at(spec, "template");
        one_of(at(template, "spec.restartPolicy"), &path.child("spec.restartPolicy"), &["Always"], errors);
        if is_given(template, "spec.activeDeadlineSeconds") {
            let detail = format!("activeDeadlineSeconds in {} is not Supported", self.template_of);
            errors.push(FieldError::forbidden(&path.child("spec.activeDeadlineSeconds"), detail));
        }
    }
}

/// An error on a strategy of updates, which the reference shows in its internal form and order.
pub(super) fn unknown_strategy(path: &FieldPath, strategy: &Value, supported: &[&str]) -> FieldError {
    let rolling = at(strategy, "rollingUpdate");
    let numbers = if rolling.is_null() {
        "null".to_owned()
    } else {
        format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", at(rolling, "maxUnavailable"), at(rolling, "maxSurge"))
    };
    let mut error = FieldError::not_supported(path, Value::Null, supported);
    error.value = None;
    error.detail = format!("{{\"Type\":{},\"RollingUpdate\":{numbers}}}: {}", at(strategy, "type"), error.detail);
    error
}

/// What to say of the name of a new object, which becomes part of its pods' names.
pub(super) fn name_warning(new: &Value, old: Option<&Value>) -> Vec<String> {
    let texts = names::dns_label(text(new, "metadata.name"), false);
    if old.is_some() || texts.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is \
         recommended: [{}]",
        texts.join(" ")
    )]
}

/// What to say of the pod template of an object, when it is new or its generation has changed.
pub(super) fn template_warnings(new: &Value, old: Option<&Value>) -> Vec<String> {
    let changed = old.is_none_or(|old| at(old, "metadata.generation") != at(new, "metadata.generation"));
    if changed { pod_spec::warnings(at(new, "spec.template"), &FieldPath::new("spec.template")) } else { Vec::new() }
}

/// Takes out of the pod template what belongs to features that are switched off by default.
pub(super) fn drop_disabled(object: &mut Value) {
    pod_spec::drop_disabled(object, "spec.template.spec");
}

/// The count of hash collisions only grows.
pub(super) fn not_decremented(new: &Value, old: &Value, errors: &mut Errors) {
    let count = |object: &Value| at(object, "status.collisionCount").as_i64();
    let (after, before) = (count(new), count(old));
    if before.is_some_and(|before| after.is_none_or(|after| after < before)) {
        let path = FieldPath::new("status.collisionCount");
        errors.push(FieldError::invalid(&path, after.unwrap_or_default(), "cannot be decremented"));
    }
}
