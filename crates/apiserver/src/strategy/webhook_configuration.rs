//! `admissionregistration.k8s.io/v1`: configurations of mutating and validating webhooks.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, is_given, items, object_mut, objects_mut, set_default, text};
use super::rules::{Errors, label_selector, named, one_of};
use super::{Strategy, defaulting, differs_outside_metadata};
use crate::admission::compile_match_condition;
use crate::custom::validate_client;
use crate::metadata::names;

const ALL: &str = "*";
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// Versions of reviews that kube-apiserver can send.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const MAX_CONDITIONS: i64 = 64;

/// What is special about configurations of webhooks.
#[derive(Debug)]
pub(super) enum WebhookConfiguration {
    Mutating,
    Validating,
}

impl WebhookConfiguration {
    fn name(&self) -> &'static str {
        match self {
            Self::Mutating => "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
            Self::Validating => "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
        }
    }

    fn webhook_defaults(&self, webhook: &mut Fields) {
        set_default(webhook, "failurePolicy", "Fail");
        set_default(webhook, "matchPolicy", "Equivalent");
        set_default(webhook, "namespaceSelector", json!({}));
        set_default(webhook, "objectSelector", json!({}));
        set_default(webhook, "timeoutSeconds", 10);
        if matches!(self, Self::Mutating) {
            set_default(webhook, "reinvocationPolicy", "Never");
        }
        objects_mut(webhook, "rules").for_each(|rule| set_default(rule, "scope", ALL));
        if let Some(service) = object_mut(webhook, "clientConfig").and_then(|config| object_mut(config, "service")) {
            set_default(service, "port", 443);
        }
    }

    fn webhook_errors(&self, webhook: &Value, path: &FieldPath, checks_conditions: bool, errors: &mut Errors) {
        let name = text(webhook, "name");
        for detail in qualified(name) {
            errors.push(FieldError::invalid(&path.child("name"), name, detail));
        }
        for (index, rule) in items(webhook, "rules").iter().enumerate() {
            rule_errors(rule, &path.child("rules").index(index), errors);
        }
        one_of(at(webhook, "failurePolicy"), &path.child("failurePolicy"), &["Fail", "Ignore"], errors);
        one_of(at(webhook, "matchPolicy"), &path.child("matchPolicy"), &["Equivalent", "Exact"], errors);
        if is_given(webhook, "sideEffects") {
            let effects = ["None", "NoneOnDryRun"];
            one_of(at(webhook, "sideEffects"), &path.child("sideEffects"), &effects, errors);
        } else {
            let detail = "must specify one of None, NoneOnDryRun";
            errors.push(FieldError::required(&path.child("sideEffects"), detail));
        }
        let timeout = at(webhook, "timeoutSeconds");
        if timeout.as_i64().is_some_and(|seconds| !(1..=30).contains(&seconds)) {
            let detail = "the timeout value must be between 1 and 30 seconds";
            errors.push(FieldError::invalid(&path.child("timeoutSeconds"), timeout.clone(), detail));
        }
        for key in ["namespaceSelector", "objectSelector"] {
            label_selector(at(webhook, key), &path.child(key), errors);
        }
        if matches!(self, Self::Mutating) {
            let policies = ["IfNeeded", "Never"];
            one_of(at(webhook, "reinvocationPolicy"), &path.child("reinvocationPolicy"), &policies, errors);
        }
        validate_client(at(webhook, "clientConfig"), &path.child("clientConfig"), errors);
        if checks_conditions {
            match_conditions(items(webhook, "matchConditions"), &path.child("matchConditions"), errors);
        }
    }

    fn errors(&self, object: &Value, checks_conditions: bool) -> Errors {
        let mut errors = Errors::new();
        let webhooks = items(object, "webhooks");
        for (index, webhook) in webhooks.iter().enumerate() {
            let path = FieldPath::new("webhooks").index(index);
            self.webhook_errors(webhook, &path, checks_conditions, &mut errors);
            let versions = path.child("admissionReviewVersions");
            review_version_errors(items(webhook, "admissionReviewVersions"), &versions, &mut errors);
            let name = text(webhook, "name");
            if !name.is_empty() && webhooks.iter().take(index).any(|other| text(other, "name") == name) {
                errors.push(FieldError::duplicate(&path.child("name"), name));
            }
        }
        errors
    }
}

impl Strategy for WebhookConfiguration {
    fn definition(&self) -> Option<&'static str> {
        Some(self.name())
    }

    fn default(&self, object: &mut Value) {
        defaulting::set_defaults(object, self.name());
        if let Some(fields) = object.as_object_mut() {
            objects_mut(fields, "webhooks").for_each(|webhook| self.webhook_defaults(webhook));
        }
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn generation_changes(&self, new: &Value, old: &Value, has_status: bool) -> bool {
        differs_outside_metadata(new, old, has_status)
    }

    fn unconditional_update(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Errors {
        self.errors(object, true)
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let (new_webhooks, old_webhooks) = (items(new, "webhooks"), items(old, "webhooks"));
        let same = |(new, old)| at(new, "matchConditions") == at(old, "matchConditions");
        let unchanged = new_webhooks.len() == old_webhooks.len() && new_webhooks.iter().zip(old_webhooks).all(same);
        self.errors(new, !unchanged)
    }
}

/// Conditions of a webhook: expressions in CEL with names of their own.
fn match_conditions(conditions: &[Value], path: &FieldPath, errors: &mut Errors) {
    if let Ok(count) = i64::try_from(conditions.len())
        && count > MAX_CONDITIONS
    {
        errors.push(FieldError::too_many(path, count, MAX_CONDITIONS));
    }
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let expression = text(condition, "expression").trim();
        if expression.is_empty() {
            errors.push(FieldError::required(&path.child("expression"), ""));
        } else if let Err(why) = compile_match_condition(expression) {
            errors.push(FieldError::invalid(&path.child("expression"), expression, why));
        }
        let name = text(condition, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
            continue;
        }
        named(name, &path.child("name"), names::qualified_name(name), errors);
        if conditions.iter().take(index).any(|other| text(other, "name") == name) {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
    }
}

/// What a webhook's name must be.
fn qualified(name: &str) -> Vec<String> {
    let texts = names::dns_subdomain(name, false);
    if texts.is_empty() && name.split('.').count() < 3 {
        return vec!["should be a domain with at least three segments separated by dots".to_owned()];
    }
    texts
}

fn rule_errors(rule: &Value, path: &FieldPath, errors: &mut Errors) {
    let texts = |key: &str| items(rule, key).iter().filter_map(Value::as_str).collect::<Vec<_>>();
    let operations = texts("operations");
    let path_of = |key: &str| path.child(key);
    if operations.is_empty() {
        errors.push(FieldError::required(&path_of("operations"), ""));
    } else if operations.len() > 1 && operations.contains(&ALL) {
        let detail = "if '*' is present, must not specify other operations";
        errors.push(FieldError::invalid(&path_of("operations"), json!(operations), detail));
    }
    for (index, operation) in operations.iter().enumerate() {
        one_of(&json!(operation), &path_of("operations").index(index), &OPERATIONS, errors);
    }
    for (key, called, may_be_empty) in [("apiGroups", "API groups", true), ("apiVersions", "API versions", false)] {
        let values = texts(key);
        if values.is_empty() {
            errors.push(FieldError::required(&path_of(key), ""));
        } else if values.len() > 1 && values.contains(&ALL) {
            let detail = format!("if '*' is present, must not specify other {called}");
            errors.push(FieldError::invalid(&path_of(key), json!(values), detail));
        }
        for (index, _) in values.iter().enumerate().filter(|(_, value)| value.is_empty() && !may_be_empty) {
            errors.push(FieldError::required(&path_of(key).index(index), ""));
        }
    }
    resource_errors(&texts("resources"), &path_of("resources"), errors);
    one_of(at(rule, "scope"), &path_of("scope"), &["*", "Cluster", "Namespaced"], errors);
}

fn resource_errors(resources: &[&str], path: &FieldPath, errors: &mut Errors) {
    if resources.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    for (index, resource) in resources.iter().enumerate() {
        if resource.is_empty() {
            errors.push(FieldError::required(&path.index(index), ""));
        }
        let Some((name, subresource)) = resource.split_once('/') else { continue };
        let earlier = resources.get(..index).unwrap_or_default();
        for all in [format!("{name}/*"), format!("*/{subresource}")] {
            if earlier.contains(&all.as_str()) {
                let detail = format!("if '{all}' is present, must not specify {resource}");
                errors.push(FieldError::invalid(&path.index(index), *resource, detail));
            }
        }
    }
    let plain = resources.iter().filter(|resource| !resource.contains('/')).count();
    if resources.len() > 1 && resources.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path, json!(resources), detail));
    } else if plain > 1 && resources.contains(&ALL) {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, json!(resources), detail));
    }
}

fn review_version_errors(versions: &[Value], path: &FieldPath, errors: &mut Errors) {
    let texts: Vec<_> = versions.iter().filter_map(Value::as_str).collect();
    if texts.is_empty() {
        let detail = "must specify one of v1, v1beta1";
        errors.push(FieldError::required(path, detail));
        return;
    }
    for (index, version) in texts.iter().enumerate() {
        if texts.iter().take(index).any(|other| other == version) {
            errors.push(FieldError::invalid(&path.index(index), *version, "duplicate version"));
            continue;
        }
        for detail in names::dns_1035_label(version, false) {
            errors.push(FieldError::invalid(&path.index(index), *version, detail));
        }
    }
    if !texts.iter().any(|version| REVIEW_VERSIONS.contains(version)) {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, json!(texts), detail));
    }
}
