//! What a definition adds to the served resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use controller_runtime_schema::{Link, Schema, SchemaError, ValueType};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::definition::{Definition, Version};
use super::object::ObjectStrategy;
use super::versions::Versions;
use crate::catalogue::catalogue;
use crate::discovery::precedence;
use crate::resource::{Column, Resource, ScalePaths, SchemaSource, Subresource};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The verbs in the order in which discovery lists them for custom resources.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// The resources of the served versions of a definition, under the names that it was given.
pub(super) fn resources(definition: Definition<'_>) -> Result<Vec<Resource>, SchemaError> {
    let versions = Arc::new(Versions::of(definition)?);
    let served = definition.versions().into_iter().filter(|version| version.is_served());
    Ok(served.filter_map(|version| resource(definition, version, &versions)).collect())
}

/// The resource of one of the versions.
fn resource(definition: Definition<'_>, version: Version<'_>, versions: &Arc<Versions>) -> Option<Resource> {
    let schema = Arc::clone(versions.schema(version.name())?);
    let plural = definition.accepted_name("plural").to_owned();
    let scale = version.scale().map(scale_paths);
    let selectable_fields: Vec<_> =
        version.selectable_fields().into_iter().map(|path| path.trim_start_matches('.').to_owned()).collect();
    let served = Arc::clone(versions.schema_of_objects(&format!("{}/{}", definition.group(), version.name()))?);
    let has_status = version.has_status();
    Some(Resource {
        group: definition.group().to_owned(),
        version: version.name().to_owned(),
        kind: definition.accepted_name("kind").to_owned(),
        list_kind: definition.accepted_name("listKind").to_owned(),
        singular: definition.accepted_name("singular").to_owned(),
        namespaced: definition.scope() == "Namespaced",
        verbs: VERBS.map(str::to_owned).to_vec(),
        short_names: owned(definition.accepted_names("shortNames")),
        categories: owned(definition.accepted_names("categories")),
        subresources: subresources(definition, version),
        schema: SchemaSource::Inline(served),
        strategy: Arc::new(ObjectStrategy::new(
            definition.name(),
            schema,
            Arc::clone(versions),
            has_status,
            scale.clone(),
            selectable_fields.clone(),
        )),
        scale,
        columns: version.columns().iter().map(column).collect(),
        selectable_fields,
        storage: None,
        storage_version_hash: storage_version_hash(definition),
        deprecation_warning: version.is_deprecated().then(|| deprecation_warning(definition, version)),
        terminating: definition.is_terminating(),
        plural,
    })
}

/// What discovery says of where objects are stored: it changes when that does.
fn storage_version_hash(definition: Definition<'_>) -> String {
    let Some(storage) = definition.storage_version() else { return String::new() };
    let text = format!("{}/{}/{}", definition.group(), storage.name(), definition.accepted_name("kind"));
    let digest = Sha256::digest(text);
    BASE64_STANDARD.encode(digest.get(..8).unwrap_or_default())
}

/// The warning of a deprecated version: its own, or one that names the best version after it.
fn deprecation_warning(definition: Definition<'_>, version: Version<'_>) -> String {
    if let Some(warning) = version.deprecation_warning() {
        return warning.to_owned();
    }
    let shown = |name: &str| format!("{}/{name} {}", definition.group(), definition.asked_name("kind"));
    let better = definition
        .versions()
        .into_iter()
        .filter(|other| other.is_served() && !other.is_deprecated())
        .filter(|other| precedence(other.name()) > precedence(version.name()))
        .max_by_key(|other| precedence(other.name()));
    match better {
        Some(better) => format!("{} is deprecated; use {}", shown(version.name()), shown(better.name())),
        None => format!("{} is deprecated", shown(version.name())),
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// The schema of whole objects: what the definition says, and of metadata what holds for every kind.
pub(super) fn with_metadata(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    schema.value_type = Some(ValueType::Object);
    let text = || Link::inline(Schema { value_type: Some(ValueType::String), ..Schema::default() });
    for name in ["apiVersion", "kind"] {
        schema.properties.insert(name.to_owned(), text());
    }
    schema.properties.insert("metadata".to_owned(), catalogue().definitions.link(OBJECT_META));
    schema
}

fn subresources(definition: Definition<'_>, version: Version<'_>) -> BTreeMap<String, Subresource> {
    let verbs = || ["get", "patch", "update"].map(str::to_owned).to_vec();
    let mut found = BTreeMap::new();
    if version.has_status() {
        let status =
            Subresource { kind: definition.accepted_name("kind").to_owned(), verbs: verbs(), ..Subresource::default() };
        found.insert("status".to_owned(), status);
    }
    if version.scale().is_some() {
        let scale = Subresource {
            group: Some("autoscaling".to_owned()),
            version: Some("v1".to_owned()),
            kind: "Scale".to_owned(),
            verbs: verbs(),
        };
        found.insert("scale".to_owned(), scale);
    }
    found
}

fn scale_paths(scale: &Value) -> ScalePaths {
    let keys = |key: &str| {
        let path = scale.get(key).and_then(Value::as_str).filter(|path| !path.is_empty())?;
        Some(path.trim_start_matches('.').split('.').map(str::to_owned).collect::<Vec<_>>())
    };
    ScalePaths {
        spec_replicas: keys("specReplicasPath").unwrap_or_default(),
        status_replicas: keys("statusReplicasPath").unwrap_or_default(),
        label_selector: keys("labelSelectorPath"),
    }
}

fn column(column: &Value) -> Column {
    let text = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let json_path = text("jsonPath");
    let description = match text("description") {
        given if given.is_empty() => format!("Custom resource definition column (in JSONPath format): {json_path}"),
        given => given,
    };
    let priority = column.get("priority").and_then(Value::as_i64).and_then(|priority| i32::try_from(priority).ok());
    Column {
        name: text("name"),
        value_type: text("type"),
        format: text("format"),
        description,
        priority: priority.unwrap_or_default(),
        json_path,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Definition, resources};

    #[test]
    fn versions_are_served_under_accepted_names() {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let definition = json!({
            "metadata": {"name": "flows.schema.test.dev"},
            "spec": {"group": "schema.test.dev", "scope": "Namespaced", "names": {"plural": "flows", "kind": "Flow"}, "versions": [
                {"name": "v1alpha1", "served": true, "storage": false, "deprecated": true, "schema": schema},
                {"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}, "scale": {
                    "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
                    "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".spec.a"}],
                    "selectableFields": [{"jsonPath": ".spec.a"}]},
                {"name": "v2", "served": false, "storage": false, "schema": schema},
            ]},
            "status": {"acceptedNames": {"plural": "flows", "singular": "flow", "kind": "Flow", "listKind": "FlowList",
                "shortNames": ["fl"], "categories": ["all"]}},
        });
        let served = resources(Definition::new(&definition)).unwrap();
        let [old, new] = served.as_slice() else { panic!("two versions are served") };
        assert_eq!(
            old.deprecation_warning.as_deref(),
            Some("schema.test.dev/v1alpha1 Flow is deprecated; use schema.test.dev/v1 Flow")
        );
        assert_eq!(old.storage_version_hash, "6i16faQoTuA=");
        assert_eq!(new.subresources.keys().collect::<Vec<_>>(), ["scale", "status"]);
        assert_eq!(new.scale.as_ref().unwrap().spec_replicas, ["spec", "replicas"]);
        assert_eq!(new.columns[0].description, "Custom resource definition column (in JSONPath format): .spec.a");
        assert_eq!(new.selectable_fields, ["spec.a"]);
        assert!(new.schema().child("metadata").unwrap().child("labels").is_some());
    }
}
