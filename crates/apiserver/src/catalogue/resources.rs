use std::sync::{Arc, LazyLock};

use super::built_in::{BuiltInGroupVersion, BuiltInResource};
use super::catalogue;
use crate::resource::{Resource, ScalePaths, SchemaSource, Subresource};
use crate::strategy::strategy_for;

/// All built-in resources, sorted by group, version and plural name. They are made once per process, when first asked for.
pub(crate) fn resources() -> &'static [Arc<Resource>] {
    static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
        let mut resources: Vec<Arc<Resource>> =
            catalogue().resources().map(|(version, resource)| Arc::new(served(version, resource))).collect();
        resources.sort_by(|left, right| key(left).cmp(&key(right)));
        resources
    });
    &RESOURCES
}

fn key(resource: &Resource) -> (&str, &str, &str) {
    (&resource.group, &resource.version, &resource.plural)
}

fn served(version: &'static BuiltInGroupVersion, resource: &'static BuiltInResource) -> Resource {
    let subresources = resource.subresources.iter().map(|subresource| {
        let served = Subresource {
            group: subresource.kind_group.clone(),
            version: subresource.kind_version.clone(),
            kind: subresource.kind.clone(),
            verbs: subresource.verbs.clone(),
        };
        (subresource.name.clone(), served)
    });
    let subresources: std::collections::BTreeMap<_, _> = subresources.collect();
    Resource {
        group: version.group.clone(),
        version: version.version.clone(),
        kind: resource.kind.clone(),
        list_kind: resource.list_kind.clone().unwrap_or_else(|| format!("{}List", resource.kind)),
        plural: resource.plural.clone(),
        singular: resource.singular.clone(),
        namespaced: resource.namespaced,
        verbs: resource.verbs.clone(),
        short_names: resource.short_names.clone(),
        categories: resource.categories.clone(),
        scale: subresources.contains_key("scale").then(scale_paths),
        subresources,
        schema: SchemaSource::Named(catalogue().definitions.clone(), resource.schema.clone().unwrap_or_default()),
        strategy: strategy_for(&version.group, &resource.kind, resource.schema.as_deref().unwrap_or_default()),
        columns: Vec::new(),
        selectable_fields: Vec::new(),
        // Events have two groups, which are two views of the same objects.
        storage: (version.group == "events.k8s.io").then(|| ("events".to_owned(), String::new())),
        storage_version_hash: resource.storage_version_hash.clone().unwrap_or_default(),
        deprecation_warning: deprecation(&version.group, &resource.kind).map(str::to_owned),
        terminating: false,
    }
}

/// What every answer about a deprecated kind warns of.
fn deprecation(group: &str, kind: &str) -> Option<&'static str> {
    match (group, kind) {
        ("", "ComponentStatus") => Some("v1 ComponentStatus is deprecated in v1.19+"),
        ("", "Endpoints") => Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
        _ => None,
    }
}

/// Every built-in kind that can be scaled keeps its replicas and selector at the same place.
fn scale_paths() -> ScalePaths {
    let path = |keys: [&str; 2]| keys.map(str::to_owned).to_vec();
    ScalePaths {
        spec_replicas: path(["spec", "replicas"]),
        status_replicas: path(["status", "replicas"]),
        label_selector: Some(path(["spec", "selector"])),
    }
}
