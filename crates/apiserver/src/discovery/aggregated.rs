use serde_json::{Map, Value, json};

use super::group_version::{self, Group};
use crate::catalogue::catalogue;
use crate::registry::Registry;
use crate::resource::{Resource, Subresource};

/// Everything in one list: for `/api` (`core`) the core group, for `/apis` all others.
pub(crate) fn aggregated(registry: &Registry, core: bool) -> Value {
    let groups = group_version::groups(registry);
    let items: Vec<Value> = groups.iter().filter(|group| group.name.is_empty() == core).map(described).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn described(group: &Group) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| {
            let resources: Vec<Value> = version.resources.iter().map(|resource| main(resource)).collect();
            json!({"version": version.version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    let mut metadata = Map::new();
    if !group.name.is_empty() {
        metadata.insert("name".to_owned(), json!(group.name));
    }
    json!({"metadata": metadata, "versions": versions})
}

fn main(resource: &Resource) -> Value {
    let own = own_kind(resource, &resource.kind);
    let mut listed = Map::new();
    listed.insert("resource".to_owned(), json!(resource.plural));
    listed.insert("responseKind".to_owned(), own);
    listed.insert("scope".to_owned(), json!(if resource.namespaced { "Namespaced" } else { "Cluster" }));
    listed.insert("singularResource".to_owned(), json!(resource.singular));
    listed.insert("verbs".to_owned(), json!(resource.verbs));
    if !resource.short_names.is_empty() {
        listed.insert("shortNames".to_owned(), json!(resource.short_names));
    }
    if !resource.categories.is_empty() {
        listed.insert("categories".to_owned(), json!(resource.categories));
    }
    let subresources = resource.subresources.iter().map(|(name, subresource)| sub(resource, name, subresource));
    // As in the lists of group versions: sorted, or status and then scale.
    let subresources: Vec<Value> =
        if resource.strategy.typed() { subresources.collect() } else { subresources.rev().collect() };
    if !subresources.is_empty() {
        listed.insert("subresources".to_owned(), Value::Array(subresources));
    }
    Value::Object(listed)
}

fn sub(resource: &Resource, name: &str, subresource: &Subresource) -> Value {
    let kind = match &subresource.version {
        Some(version) => {
            json!({"group": subresource.group.as_deref().unwrap_or_default(), "version": version, "kind": subresource.kind})
        }
        None => own_kind(resource, &subresource.kind),
    };
    json!({"subresource": name, "responseKind": kind, "verbs": subresource.verbs})
}

/// The kind of a resource's own group version: built-in ones leave group and version empty, as the reference does.
fn own_kind(resource: &Resource, kind: &str) -> Value {
    let built_in = catalogue().group_versions.iter().any(|known| known.group == resource.group);
    if built_in {
        json!({"group": "", "version": "", "kind": kind})
    } else {
        json!({"group": resource.group, "version": resource.version, "kind": kind})
    }
}
