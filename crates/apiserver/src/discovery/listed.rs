use serde_json::{Map, Value, json};

use super::group_version::{self, Group};
use crate::registry::Registry;
use crate::resource::{Resource, Subresource};

/// `/api`: the versions of the core group. `address` is where clients reach the server, host and port.
pub(crate) fn api_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// `/apis`: all groups but the core group.
pub(crate) fn groups(registry: &Registry) -> Value {
    let groups = group_version::groups(registry);
    let groups: Vec<Value> = groups.iter().filter(|group| !group.name.is_empty()).map(described).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`: one group, if it has resources.
pub(crate) fn group(registry: &Registry, name: &str) -> Option<Value> {
    let groups = group_version::groups(registry);
    let mut group = described(groups.iter().find(|group| group.name == name)?);
    let fields = group.as_object_mut()?;
    fields.insert("kind".to_owned(), json!("APIGroup"));
    fields.insert("apiVersion".to_owned(), json!("v1"));
    Some(group)
}

fn described(group: &Group) -> Value {
    let version = |version: &str| json!({"groupVersion": format!("{}/{version}", group.name), "version": version});
    let versions: Vec<Value> = group.versions.iter().map(|known| version(&known.version)).collect();
    json!({"name": group.name, "preferredVersion": versions.first(), "versions": versions})
}

/// `/api/v1` and `/apis/GROUP/VERSION`: the resources of one group version, if it has any.
pub(crate) fn resources(registry: &Registry, group: &str, version: &str) -> Option<Value> {
    let served: Vec<_> =
        registry.all().into_iter().filter(|resource| resource.group == group && resource.version == version).collect();
    let api_version = served.first()?.api_version();
    let mut listed = Vec::new();
    for resource in served {
        listed.push(main(&resource));
        let subresources = resource.subresources.iter().map(|(name, subresource)| sub(&resource, name, subresource));
        // Those of built-in resources are sorted; those of custom ones are status and scale, in this order.
        if resource.strategy.typed() { listed.extend(subresources) } else { listed.extend(subresources.rev()) }
    }
    let mut list = json!({"kind": "APIResourceList", "groupVersion": api_version, "resources": listed});
    // The core group's list is older than the rule that every object says its version.
    if !group.is_empty()
        && let Some(fields) = list.as_object_mut()
    {
        fields.insert("apiVersion".to_owned(), json!("v1"));
    }
    Some(list)
}

fn main(resource: &Resource) -> Value {
    let mut listed = Map::new();
    listed.insert("name".to_owned(), json!(resource.plural));
    listed.insert("singularName".to_owned(), json!(resource.singular));
    listed.insert("namespaced".to_owned(), json!(resource.namespaced));
    listed.insert("kind".to_owned(), json!(resource.kind));
    listed.insert("verbs".to_owned(), json!(resource.verbs));
    if !resource.short_names.is_empty() {
        listed.insert("shortNames".to_owned(), json!(resource.short_names));
    }
    if !resource.categories.is_empty() {
        listed.insert("categories".to_owned(), json!(resource.categories));
    }
    if !resource.storage_version_hash.is_empty() {
        listed.insert("storageVersionHash".to_owned(), json!(resource.storage_version_hash));
    }
    Value::Object(listed)
}

fn sub(resource: &Resource, name: &str, subresource: &Subresource) -> Value {
    let mut listed = Map::new();
    listed.insert("name".to_owned(), json!(format!("{}/{name}", resource.plural)));
    listed.insert("singularName".to_owned(), json!(""));
    listed.insert("namespaced".to_owned(), json!(resource.namespaced));
    listed.insert("kind".to_owned(), json!(subresource.kind));
    listed.insert("verbs".to_owned(), json!(subresource.verbs));
    if let Some(version) = &subresource.version {
        let group = subresource.group.as_deref().unwrap_or_default();
        if !group.is_empty() {
            listed.insert("group".to_owned(), json!(group));
        }
        listed.insert("version".to_owned(), json!(version));
    }
    Value::Object(listed)
}
