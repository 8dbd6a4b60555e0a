//! What somebody may do in a namespace.

use serde_json::{Value, json};

use crate::access::rbac::{PolicyRule, grants};
use crate::access::{Authorizer, Identity};
use crate::core::Core;

pub(super) fn status(core: &Core, user: &Identity, namespace: &str) -> Value {
    let mut rules = Vec::new();
    let mut errors = Vec::new();
    if core.authorizer == Authorizer::AlwaysAllow {
        let all = || vec!["*".to_owned()];
        rules.push(PolicyRule { verbs: all(), api_groups: all(), resources: all(), ..PolicyRule::default() });
        rules.push(PolicyRule { verbs: all(), non_resource_urls: all(), ..PolicyRule::default() });
    } else {
        for grant in grants(&core.store, user, namespace) {
            match grant.rules {
                Ok(granted) => rules.extend(granted),
                Err(missing) => errors.push(missing.to_string()),
            }
        }
    }
    let (resources, paths): (Vec<_>, Vec<_>) = rules.iter().partition(|rule| rule.non_resource_urls.is_empty());
    let mut status = json!({
        "resourceRules": resources.into_iter().map(resource_rule).collect::<Vec<_>>(),
        "nonResourceRules": paths.into_iter().map(path_rule).collect::<Vec<_>>(),
        "incomplete": !errors.is_empty(),
    });
    if !errors.is_empty() {
        status["evaluationError"] = json!(errors.join(", "));
    }
    status
}

fn resource_rule(rule: &PolicyRule) -> Value {
    let mut object = json!({"verbs": rule.verbs});
    for (key, values) in
        [("apiGroups", &rule.api_groups), ("resources", &rule.resources), ("resourceNames", &rule.resource_names)]
    {
        if !values.is_empty() {
            object[key] = json!(values);
        }
    }
    object
}

fn path_rule(rule: &PolicyRule) -> Value {
    json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls})
}
