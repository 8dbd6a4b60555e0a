//! Which writes concern a webhook.

use std::sync::Arc;

use serde_json::Value;

use super::attributes::Attributes;
use super::webhook::Webhook;
use crate::resource::Resource;
use crate::store::ObjectKey;
use crate::verbs::Call;

const ALL: &str = "*";

/// The resource by which a webhook's rules know a write, if they do: another version of the written one, perhaps.
pub(super) fn matched(call: &Call, webhook: &Webhook, attributes: &Attributes<'_>) -> Option<Arc<Resource>> {
    let written = &call.resource;
    let concerns = |resource: &Resource| {
        webhook.rules.iter().any(|rule| rule_matches(rule, resource, call.subresource.as_deref(), attributes))
    };
    let resource = if concerns(written) {
        Arc::clone(written)
    } else if webhook.equivalent {
        let same = |other: &Arc<Resource>| {
            other.storage_name().to_string() == written.storage_name().to_string() && other.version != written.version
        };
        call.core.registry.all().into_iter().filter(same).find(|other| concerns(other))?
    } else {
        return None;
    };
    (in_namespace(call, webhook, attributes) && is_chosen(webhook, attributes)).then_some(resource)
}

fn rule_matches(rule: &Value, resource: &Resource, subresource: Option<&str>, attributes: &Attributes<'_>) -> bool {
    let lists = |key: &str, wanted: &str| {
        let values = rule.get(key).and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str).any(|value| value == ALL || value == wanted)
    };
    let scope = rule.get("scope").and_then(Value::as_str).unwrap_or(ALL);
    // A namespace stands for itself: its own scope is the cluster.
    let in_scope = match scope {
        "Namespaced" => resource.namespaced,
        "Cluster" => !resource.namespaced,
        _ => true,
    };
    in_scope
        && lists("operations", attributes.operation.as_str())
        && lists("apiGroups", &resource.group)
        && lists("apiVersions", &resource.version)
        && rule_names(rule, resource, subresource)
}

/// `pods`, `pods/status`, `pods/*`, `*/status`, `*` (resources alone) and `*/*`.
fn rule_names(rule: &Value, resource: &Resource, subresource: Option<&str>) -> bool {
    let values = rule.get("resources").and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).any(|value| {
        let (wanted, sub) = value.split_once('/').map_or((value, None), |(wanted, sub)| (wanted, Some(sub)));
        let is_resource = wanted == ALL || wanted == resource.plural;
        let is_sub = match (sub, subresource) {
            (None, None) | (Some(ALL), _) => true,
            (Some(sub), Some(given)) => sub == given,
            _ => false,
        };
        is_resource && is_sub
    })
}

fn in_namespace(call: &Call, webhook: &Webhook, attributes: &Attributes<'_>) -> bool {
    let Ok(selector) = &webhook.namespaces else { return true };
    if selector.is_everything() {
        return true;
    }
    let is_namespace = call.resource.group.is_empty() && call.resource.plural == "namespaces";
    if is_namespace {
        return attributes.object.or(attributes.old).is_none_or(|object| selector.matches(object));
    }
    if attributes.namespace.is_empty() {
        return true;
    }
    let stored = call.core.store.get("namespaces", &ObjectKey::new("", attributes.namespace.as_str()));
    stored.is_some_and(|namespace| selector.matches(namespace.value()))
}

/// The object as it is or as it would be.
fn is_chosen(webhook: &Webhook, attributes: &Attributes<'_>) -> bool {
    let Ok(selector) = &webhook.objects else { return true };
    let objects = [attributes.object, attributes.old];
    selector.is_everything() || objects.into_iter().flatten().any(|object| selector.matches(object))
}
