use serde_json::Value;

use super::rule::PolicyRule;
use crate::access::Identity;
use crate::access::identity::service_account_name;
use crate::metadata::fields;
use crate::store::{ObjectKey, Range, Store};

const GROUP: &str = "rbac.authorization.k8s.io";

/// A role that somebody has, and through what.
#[derive(Debug)]
pub(crate) struct Grant {
    /// `ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`.
    pub(crate) source: String,
    /// What the role allows; the error is a role that isn't there.
    pub(crate) rules: Result<Vec<PolicyRule>, MissingRole>,
}

/// A binding's role that doesn't exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{resource}.{GROUP} \"{name}\" not found")]
pub(crate) struct MissingRole {
    /// The kind in lower case.
    resource: String,
    pub(crate) name: String,
}

/// What `user` was given in the whole cluster, and in `namespace` unless that is empty; in order of the bindings' names.
pub(crate) fn grants(store: &Store, user: &Identity, namespace: &str) -> Vec<Grant> {
    let mut grants = bound(store, "clusterrolebindings", user, "");
    if !namespace.is_empty() {
        grants.extend(bound(store, "rolebindings", user, namespace));
    }
    grants
}

fn bound(store: &Store, plural: &str, user: &Identity, namespace: &str) -> Vec<Grant> {
    let range = Range { namespace: (!namespace.is_empty()).then_some(namespace), ..Range::default() };
    let Ok(page) = store.list(&format!("{plural}.{GROUP}"), &range, |_| true) else { return Vec::new() };
    let grant = |binding: &Value| {
        let subjects = binding.get("subjects").and_then(Value::as_array)?;
        let subject = subjects.iter().find_map(|subject| applies(subject, user, namespace))?;
        let role = binding.get("roleRef")?;
        let (kind, name) = (text(role, "kind"), text(role, "name"));
        let bound_as = fields::text(binding, "name");
        let source = if namespace.is_empty() {
            format!("ClusterRoleBinding \"{bound_as}\" of {kind} \"{name}\" to {subject}")
        } else {
            format!("RoleBinding \"{bound_as}/{namespace}\" of {kind} \"{name}\" to {subject}")
        };
        Some(Grant { source, rules: role_rules(store, role, namespace) })
    };
    page.objects.iter().filter_map(|object| grant(object.value())).collect()
}

/// What the role that a binding in `namespace` refers to allows.
pub(crate) fn role_rules(store: &Store, role: &Value, namespace: &str) -> Result<Vec<PolicyRule>, MissingRole> {
    let (kind, name) = (text(role, "kind"), text(role, "name"));
    let (plural, namespace) = if kind == "Role" { ("roles", namespace) } else { ("clusterroles", "") };
    let stored = store.get(&format!("{plural}.{GROUP}"), &ObjectKey::new(namespace, name));
    let missing = || MissingRole { resource: kind.to_lowercase(), name: name.to_owned() };
    stored.map(|role| PolicyRule::all_of(role.value())).ok_or_else(missing)
}

/// How the subject is named in a reason, if it is the user.
fn applies(subject: &Value, user: &Identity, namespace: &str) -> Option<String> {
    let (kind, name) = (text(subject, "kind"), text(subject, "name"));
    match kind {
        "User" => (user.name == name).then(|| format!("User \"{name}\"")),
        "Group" => user.groups.iter().any(|group| group == name).then(|| format!("Group \"{name}\"")),
        "ServiceAccount" => {
            let own = text(subject, "namespace");
            let namespace = if own.is_empty() { namespace } else { own };
            let is = !namespace.is_empty() && user.name == service_account_name(namespace, name);
            is.then(|| format!("ServiceAccount \"{name}/{namespace}\""))
        }
        _ => None,
    }
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
