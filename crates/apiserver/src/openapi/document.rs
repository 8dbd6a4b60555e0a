use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::components::{closure, custom, custom_list, custom_name, meta, references};
use super::{hash, paths};
use crate::catalogue::{BuiltInResource, catalogue};
use crate::registry::Registry;
use crate::resource::{Resource, SchemaSource};

/// Types of `meta/v1` that name the group version of the document they stand in.
const PER_GROUP_VERSION: &[&str] = &["DeleteOptions", "WatchEvent"];

/// The document of a group version.
#[derive(Debug)]
pub(crate) struct Document {
    /// The JSON text.
    pub(crate) text: Bytes,
    /// The hash that the index gives for it.
    pub(crate) hash: String,
}

/// `/openapi/v3/api/v1` and `/openapi/v3/apis/GROUP/VERSION`: the document of a group version, if it has resources.
pub(super) fn document(registry: &Registry, group: &str, version: &str) -> Option<Document> {
    let mut builder = Builder::default();
    for resource in registry.all() {
        if resource.group == group && resource.version == version {
            builder.add(&resource);
        }
    }
    if builder.paths.is_empty() {
        return None;
    }
    builder.roots.extend(["DeleteOptions", "Patch", "Status", "WatchEvent"].map(meta));
    let title = if builder.custom.is_empty() { "Kubernetes" } else { "Kubernetes CRD Swagger" };
    let info = info(title);
    Some(Document {
        text: builder.text(group, version, &info).into(),
        hash: hash::of_group_version(registry, group, version),
    })
}

/// What a document says of itself; its version is the release without its patches.
pub(super) fn info(title: &str) -> Value {
    let version = catalogue().version.trim_start_matches('v');
    let release = version.rsplit_once('.').map_or(version, |(release, _)| release);
    json!({"title": title, "version": release})
}

#[derive(Default)]
struct Builder {
    paths: Map<String, Value>,
    /// Built-in schemas that something refers to.
    roots: BTreeSet<String>,
    /// Schemas of custom resources.
    custom: BTreeMap<String, Value>,
}

impl Builder {
    fn add(&mut self, resource: &Resource) {
        match &resource.schema {
            SchemaSource::Named(_, schema) => {
                let known = catalogue().resources().find(|(version, known)| {
                    version.group == resource.group
                        && version.version == resource.version
                        && known.plural == resource.plural
                });
                if let Some((_, known)) = known {
                    self.add_built_in(resource, schema, known);
                }
            }
            SchemaSource::Inline(_) => self.add_custom(resource),
        }
    }

    fn add_built_in(&mut self, resource: &Resource, schema: &str, known: &BuiltInResource) {
        let list = known.list_kind.as_ref().map_or_else(|| schema.to_owned(), |_| format!("{schema}List"));
        let subresource = |name: &str| {
            known.subresources.iter().find(|found| found.name == name).and_then(|found| found.schema.clone())
        };
        self.roots.extend(known.subresources.iter().filter_map(|found| found.schema.clone()));
        paths::add(&mut self.paths, resource, schema, &list, false, &subresource);
        self.roots.extend([schema.to_owned(), list]);
    }

    fn add_custom(&mut self, resource: &Resource) {
        let schema = custom_name(&resource.group, &resource.version, &resource.kind);
        let list = custom_name(&resource.group, &resource.version, &resource.list_kind);
        let scale = "io.k8s.api.autoscaling.v1.Scale";
        let subresource = |name: &str| Some(if name == "scale" { scale.to_owned() } else { schema.clone() });
        if resource.subresources.contains_key("scale") {
            self.roots.insert(scale.to_owned());
        }
        paths::add(&mut self.paths, resource, &schema, &list, true, &subresource);
        for (name, schema) in [(list, custom_list(resource, &schema)), (schema.clone(), custom(resource))] {
            self.roots.extend(references(&schema.to_string()));
            self.custom.insert(name, schema);
        }
    }

    /// The text, put together so that the schemas of built-in kinds needn't be parsed.
    fn text(self, group: &str, version: &str, info: &Value) -> String {
        let mut schemas: BTreeMap<String, String> =
            self.custom.into_iter().map(|(name, schema)| (name, schema.to_string())).collect();
        for (name, text) in closure(self.roots) {
            let named = PER_GROUP_VERSION.iter().find(|kind| name == meta(kind));
            let text = match (named, text.strip_suffix('}')) {
                (Some(kind), Some(open)) => {
                    let kinds = json!([{"group": group, "version": version, "kind": kind}]);
                    format!("{open},\"x-kubernetes-group-version-kind\":{kinds}}}")
                }
                _ => text.to_owned(),
            };
            schemas.insert(name, text);
        }
        let mut document = format!("{{\"openapi\":\"3.0.0\",\"info\":{info},\"paths\":");
        document.push_str(&Value::Object(self.paths).to_string());
        document.push_str(",\"components\":{\"schemas\":{");
        for (index, (name, text)) in schemas.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a string can't fail.
            let _ = write!(document, "{comma}{}:{text}", json!(name));
        }
        document.push_str("}}}");
        document
    }
}
