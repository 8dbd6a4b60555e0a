use std::collections::BTreeSet;

use controller_runtime_schema::Schema;
use serde_json::{Value, json};

use crate::catalogue::definition_text;
use crate::resource::Resource;

/// What schemas that others refer to stand under.
pub(super) const REFERENCE: &str = "#/components/schemas/";

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// The name of a custom resource's schema: its group turned around, version and kind.
pub(super) fn custom_name(group: &str, version: &str, kind: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').collect();
    parts.reverse();
    format!("{}.{version}.{kind}", parts.join("."))
}

/// The reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("{REFERENCE}{name}")})
}

/// The name of a type of `meta/v1`.
pub(super) fn meta(name: &str) -> String {
    format!("{META}{name}")
}

/// The schema of a custom resource as it is published.
pub(super) fn published(schema: &Schema) -> Value {
    schema.to_json()
}

/// The schema of a custom resource, with what every object has.
pub(super) fn custom(resource: &Resource) -> Value {
    let mut schema = published(&resource.schema());
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("type".to_owned(), json!("object"));
        let properties = fields.entry("properties").or_insert_with(|| json!({}));
        object_fields(properties, "ObjectMeta");
        fields.insert("x-kubernetes-group-version-kind".to_owned(), kinds(resource, &resource.kind));
    }
    with_selectable_fields(schema, resource)
}

/// Adds the fields that field selectors may name (KEP-4358).
fn with_selectable_fields(mut schema: Value, resource: &Resource) -> Value {
    let paths: Vec<Value> = resource.selectable_fields.iter().map(|path| json!({"fieldPath": path})).collect();
    if let Some(fields) = schema.as_object_mut().filter(|_| !paths.is_empty()) {
        fields.insert("x-kubernetes-selectable-fields".to_owned(), Value::Array(paths));
    }
    schema
}

/// The schema of a list of custom resources.
pub(super) fn custom_list(resource: &Resource, item: &str) -> Value {
    let mut properties = json!({"items": {"type": "array", "items": reference(item)}});
    object_fields(&mut properties, "ListMeta");
    let schema = json!({
        "type": "object",
        "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
        "required": ["items"],
        "properties": properties,
        "x-kubernetes-group-version-kind": kinds(resource, &resource.list_kind),
    });
    with_selectable_fields(schema, resource)
}

fn object_fields(properties: &mut Value, metadata: &str) {
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
        properties.insert("kind".to_owned(), json!({"type": "string"}));
        properties.insert("metadata".to_owned(), json!({"allOf": [reference(&meta(metadata))]}));
    }
}

fn kinds(resource: &Resource, kind: &str) -> Value {
    json!([{"group": resource.group, "version": resource.version, "kind": kind}])
}

/// The names and texts of built-in schemas and of all that they refer to.
pub(super) fn closure(roots: BTreeSet<String>) -> Vec<(String, &'static str)> {
    let mut known = BTreeSet::new();
    let mut waiting: Vec<String> = roots.into_iter().collect();
    let mut found = Vec::new();
    while let Some(name) = waiting.pop() {
        let Some(text) = definition_text(&name) else { continue };
        if !known.insert(name.clone()) {
            continue;
        }
        waiting.extend(references(text));
        found.push((name, text));
    }
    found.sort_unstable();
    found
}

/// The names that a schema's text refers to.
pub(super) fn references(text: &str) -> impl Iterator<Item = String> {
    text.split(REFERENCE).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned)
}
