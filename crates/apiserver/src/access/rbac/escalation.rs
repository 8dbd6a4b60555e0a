//! Nobody may hand out more than they hold: what kube-apiserver checks when roles and bindings are written.

use serde_json::Value;

use super::binding::{grants, role_rules};
use super::rule::{ALL, PolicyRule, missing};
use crate::access::Authorizer;
use crate::metadata::fields;
use crate::pipeline::attributes::{Attributes, ResourceAttributes};
use crate::status::{ApiError, quote};
use crate::verbs::Call;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Checks a role or a binding that is about to be written; `old` is what is stored. Other kinds pass.
pub(crate) fn check_escalation(call: &Call, new: &Value, old: Option<&Value>) -> Result<(), ApiError> {
    let resource = &call.resource;
    if resource.group != GROUP || call.core.authorizer != Authorizer::Rbac || call.user.is_master() {
        return Ok(());
    }
    if old.is_some_and(|old| only_lets_go(new, old)) {
        return Ok(());
    }
    match resource.plural.as_str() {
        "roles" | "clusterroles" => check_role(call, new, old),
        "rolebindings" | "clusterrolebindings" => check_binding(call, new),
        _ => Ok(()),
    }
}

fn check_role(call: &Call, new: &Value, old: Option<&Value>) -> Result<(), ApiError> {
    if may(call, "escalate", &call.resource.plural, fields::text(new, "name")) {
        return Ok(());
    }
    let aggregates = |role: &Value| role.get("aggregationRule").is_some_and(Value::is_object);
    if (aggregates(new) || old.is_some_and(aggregates)) && !lacks(call, &everything()).is_empty() {
        let why = "must have cluster-admin privileges to use the aggregationRule";
        return Err(ApiError::forbidden(call.resource.group_resource(), fields::text(new, "name"), why));
    }
    check_rules(call, new, &PolicyRule::all_of(new))
}

fn check_binding(call: &Call, new: &Value) -> Result<(), ApiError> {
    let role = new.get("roleRef").unwrap_or(&Value::Null);
    let text = |key: &str| role.get(key).and_then(Value::as_str).unwrap_or_default();
    let plural = if text("kind") == "Role" { "roles" } else { "clusterroles" };
    if may(call, "bind", plural, text("name")) {
        return Ok(());
    }
    let rules = role_rules(&call.core.store, role, &call.namespace)
        // The reference names the binding's resource here, not the role's.
        .map_err(|missing| ApiError::not_found(call.resource.group_resource(), &missing.name))?;
    check_rules(call, new, &rules)
}

fn check_rules(call: &Call, new: &Value, rules: &[PolicyRule]) -> Result<(), ApiError> {
    let lacking = lacks(call, rules);
    if lacking.is_empty() {
        return Ok(());
    }
    let groups: Vec<_> = call.user.groups.iter().map(|group| quote(group)).collect();
    let rules: Vec<_> = lacking.iter().map(ToString::to_string).collect();
    let why = format!(
        "user {} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
        quote(&call.user.name),
        groups.join(" "),
        rules.join("\n")
    );
    Err(ApiError::forbidden(call.resource.group_resource(), fields::text(new, "name"), &why))
}

fn lacks(call: &Call, rules: &[PolicyRule]) -> Vec<PolicyRule> {
    let grants = grants(&call.core.store, &call.user, &call.namespace);
    let held: Vec<_> = grants.into_iter().filter_map(|grant| grant.rules.ok()).flatten().collect();
    missing(&held, rules)
}

/// Whether the user has a verb that stands above the check.
fn may(call: &Call, verb: &str, plural: &str, name: &str) -> bool {
    let wanted = ResourceAttributes {
        verb: verb.to_owned(),
        group: GROUP.to_owned(),
        version: ALL.to_owned(),
        namespace: call.namespace.clone(),
        resource: plural.to_owned(),
        name: name.to_owned(),
        ..ResourceAttributes::default()
    };
    call.core.authorizer.decide(&call.core.store, &call.user, &Attributes::Resource(wanted)).allowed
}

fn everything() -> [PolicyRule; 2] {
    let all = || vec![ALL.to_owned()];
    [
        PolicyRule { verbs: all(), api_groups: all(), resources: all(), ..PolicyRule::default() },
        PolicyRule { verbs: all(), non_resource_urls: all(), ..PolicyRule::default() },
    ]
}

/// Garbage collection, which holds no roles, must be able to let an object go.
fn only_lets_go(new: &Value, old: &Value) -> bool {
    let kept = |object: &Value| {
        let mut object = object.clone();
        for field in ["ownerReferences", "finalizers", "managedFields"] {
            fields::remove(&mut object, field);
        }
        object
    };
    kept(new) == kept(old)
}
