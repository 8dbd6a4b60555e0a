//! `rbac.authorization.k8s.io/v1`: roles and their bindings.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, at, indexed, is_given, set_default, text};
use super::rules::{Errors, immutable, label_selector, named};
use super::{Strategy, StrategyContext};
use crate::metadata::names;
use crate::selector::LabelSelector;

const GROUP: &str = "rbac.authorization.k8s.io";

/// `RoleRef`.
pub(super) fn role_ref_defaults(reference: &mut Fields) {
    if reference.get("apiGroup").and_then(Value::as_str).unwrap_or_default().is_empty() {
        reference.insert("apiGroup".to_owned(), json!(GROUP));
    }
}

/// `Subject`.
pub(super) fn subject_defaults(subject: &mut Fields) {
    if matches!(subject.get("kind").and_then(Value::as_str), Some("User" | "Group")) {
        set_default(subject, "apiGroup", GROUP);
    }
}

/// What is special about roles.
#[derive(Debug)]
pub(super) enum Role {
    /// In one namespace.
    Namespaced,
    /// In the whole cluster.
    Cluster,
}

/// Storing makes no difference between no rules and an empty list of them.
fn drop_empty_rules(role: &mut Value) {
    if let Some(rules) = role.get_mut("rules").filter(|rules| rules.as_array().is_some_and(Vec::is_empty)) {
        *rules = Value::Null;
    }
}

impl Strategy for Role {
    fn definition(&self) -> Option<&'static str> {
        Some(match self {
            Self::Namespaced => "io.k8s.api.rbac.v1.Role",
            Self::Cluster => "io.k8s.api.rbac.v1.ClusterRole",
        })
    }

    fn create_on_update(&self) -> bool {
        true
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        drop_empty_rules(object);
    }

    fn prepare_update(&self, new: &mut Value, _old: &Value, _subresource: Option<&str>) {
        drop_empty_rules(new);
    }

    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        names::path_segment(name, prefix)
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        aggregation(object, &mut errors);
        for (path, rule) in indexed(object, "rules") {
            if !is_given(rule, "verbs") {
                errors.push(FieldError::required(&path.child("verbs"), ""));
            }
            if is_given(rule, "nonResourceURLs") {
                urls(self, rule, &path.child("nonResourceURLs"), &mut errors);
                continue;
            }
            if !is_given(rule, "apiGroups") {
                let detail = "resource rules must supply at least one api group";
                errors.push(FieldError::required(&path.child("apiGroups"), detail));
            }
            if !is_given(rule, "resources") {
                let detail = "resource rules must supply at least one resource";
                errors.push(FieldError::required(&path.child("resources"), detail));
            }
        }
        errors
    }
}

/// Which other roles a role of the cluster gathers.
fn aggregation(role: &Value, errors: &mut Errors) {
    let Some(gathered) = role.get("aggregationRule").filter(|value| value.is_object()) else { return };
    let path = FieldPath::new("aggregationRule.clusterRoleSelectors");
    if !is_given(gathered, "clusterRoleSelectors") {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(&path, detail));
    }
    for (index, selector) in
        gathered.get("clusterRoleSelectors").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let path = path.index(index);
        label_selector(selector, &path, errors);
        if LabelSelector::of_object(selector).is_err() {
            errors.push(FieldError::invalid(&path, Value::Null, "invalid label selector."));
        }
    }
}

fn urls(scope: &Role, rule: &Value, path: &FieldPath, errors: &mut Errors) {
    let listed = at(rule, "nonResourceURLs");
    if matches!(scope, Role::Namespaced) {
        let detail = "namespaced rules cannot apply to non-resource URLs";
        errors.push(FieldError::invalid(path, listed.clone(), detail));
    }
    if ["apiGroups", "resources", "resourceNames"].iter().any(|key| is_given(rule, key)) {
        let detail = "rules cannot apply to both regular resources and non-resource URLs";
        errors.push(FieldError::invalid(path, listed.clone(), detail));
    }
}

/// What is special about bindings.
#[derive(Debug)]
pub(super) enum RoleBinding {
    /// In one namespace.
    Namespaced,
    /// In the whole cluster.
    Cluster,
}

impl Strategy for RoleBinding {
    fn definition(&self) -> Option<&'static str> {
        Some(match self {
            Self::Namespaced => "io.k8s.api.rbac.v1.RoleBinding",
            Self::Cluster => "io.k8s.api.rbac.v1.ClusterRoleBinding",
        })
    }

    fn create_on_update(&self) -> bool {
        true
    }

    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        names::path_segment(name, prefix)
    }

    fn validate(&self, object: &Value) -> Errors {
        let mut errors = Errors::new();
        let path = FieldPath::new("roleRef");
        let group = text(object, "roleRef.apiGroup");
        if group != GROUP {
            errors.push(FieldError::not_supported(&path.child("apiGroup"), group, &[GROUP]));
        }
        let kinds: &[&str] = match self {
            Self::Namespaced => &["Role", "ClusterRole"],
            Self::Cluster => &["ClusterRole"],
        };
        let kind = text(object, "roleRef.kind");
        if !kinds.contains(&kind) {
            errors.push(FieldError::not_supported(&path.child("kind"), kind, kinds));
        }
        let name = text(object, "roleRef.name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else {
            named(name, &path.child("name"), names::path_segment(name, false), &mut errors);
        }
        for (path, subject) in indexed(object, "subjects") {
            self.subject(subject, &path, &mut errors);
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value, _subresource: Option<&str>) -> Errors {
        let mut errors = self.validate(new);
        immutable(new, old, "roleRef", &mut errors);
        errors
    }
}

impl RoleBinding {
    fn subject(&self, subject: &Value, path: &FieldPath, errors: &mut Errors) {
        let name = text(subject, "name");
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        let group = text(subject, "apiGroup");
        match text(subject, "kind") {
            "ServiceAccount" => {
                if !name.is_empty() {
                    named(name, &path.child("name"), names::dns_subdomain(name, false), errors);
                }
                if !group.is_empty() {
                    errors.push(FieldError::not_supported(&path.child("apiGroup"), group, &[""]));
                }
                if matches!(self, Self::Cluster) && !is_given(subject, "namespace") {
                    errors.push(FieldError::required(&path.child("namespace"), ""));
                }
            }
            "User" | "Group" => {
                if group != GROUP {
                    errors.push(FieldError::not_supported(&path.child("apiGroup"), group, &[GROUP]));
                }
            }
            kind => {
                let kinds = ["ServiceAccount", "User", "Group"];
                errors.push(FieldError::not_supported(&path.child("kind"), kind, &kinds));
            }
        }
    }
}
