//! `resources.json`: what discovery says of every built-in resource, one resource a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::documents::{Documents, GroupVersion, string, strings};

/// The schema name of each group, version and kind.
type SchemaNames = BTreeMap<(String, String, String), String>;

pub(super) fn generate(documents: &Documents) -> Result<String> {
    let names = schema_names(documents);
    let mut text = String::from("{\"generatedBy\":\"cargo xtask codegen\",\n");
    writeln!(text, "\"version\":{},", documents.server_version["gitVersion"])?;
    text.push_str("\"groupVersions\":[\n");
    let mut first = true;
    for group_version in &documents.group_versions {
        if !std::mem::take(&mut first) {
            text.push_str(",\n");
        }
        let GroupVersion { group, version, preferred, .. } = group_version;
        write!(text, "{{\"group\":{},\"version\":{},", json!(group), json!(version))?;
        writeln!(text, "\"preferred\":{preferred},\"resources\":[")?;
        let resources =
            served(group_version, &names).with_context(|| format!("reading the resources of {group}/{version}"))?;
        let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
        text.push_str(&lines.join(",\n"));
        text.push_str("]}");
    }
    text.push_str("\n]}\n");
    Ok(text)
}

/// The resources of a group version with their subresources inside, in the order of discovery.
fn served(group_version: &GroupVersion, names: &SchemaNames) -> Result<Vec<Value>> {
    let empty = Vec::new();
    let listed = group_version.resources.pointer("/resources").and_then(Value::as_array).unwrap_or(&empty);
    let mut resources = Vec::new();
    for entry in listed {
        let plural = string(entry, "/name")?;
        if plural.contains('/') {
            continue;
        }
        let kind = string(entry, "/kind")?;
        let mut resource = described(group_version, entry, names)?;
        resource.insert("plural".to_owned(), json!(plural));
        resource.insert("singular".to_owned(), json!(string(entry, "/singularName")?));
        resource.insert("namespaced".to_owned(), json!(entry.pointer("/namespaced") == Some(&Value::Bool(true))));
        let list_kind = format!("{kind}List");
        let key = (group_version.group.clone(), group_version.version.clone(), list_kind.clone());
        if names.contains_key(&key) {
            resource.insert("listKind".to_owned(), json!(list_kind));
        }
        for key in ["shortNames", "categories", "storageVersionHash"] {
            if let Some(value) = entry.get(key) {
                resource.insert(key.to_owned(), value.clone());
            }
        }
        let mut subresources = Vec::new();
        for entry in listed {
            let name = string(entry, "/name")?;
            if let Some((parent, subresource)) = name.split_once('/')
                && parent == plural
            {
                let mut described = described(group_version, entry, names)?;
                described.insert("name".to_owned(), json!(subresource));
                described.sort_keys();
                subresources.push(Value::Object(described));
            }
        }
        if !subresources.is_empty() {
            resource.insert("subresources".to_owned(), Value::Array(subresources));
        }
        resource.sort_keys();
        resources.push(Value::Object(resource));
    }
    Ok(resources)
}

/// What resources and subresources have in common: kind, its group version where it is another one, schema, verbs.
fn described(group_version: &GroupVersion, entry: &Value, names: &SchemaNames) -> Result<Map<String, Value>> {
    let mut described = Map::new();
    let kind = string(entry, "/kind")?;
    let group = entry.get("group").and_then(Value::as_str);
    let version = entry.get("version").and_then(Value::as_str);
    if let Some(version) = version {
        described.insert("kindGroup".to_owned(), json!(group.unwrap_or_default()));
        described.insert("kindVersion".to_owned(), json!(version));
    }
    let key = (
        version.map_or(group_version.group.as_str(), |_| group.unwrap_or_default()).to_owned(),
        version.unwrap_or(&group_version.version).to_owned(),
        kind.clone(),
    );
    if let Some(name) = names.get(&key) {
        described.insert("schema".to_owned(), json!(name));
    }
    described.insert("kind".to_owned(), json!(kind));
    described.insert("verbs".to_owned(), json!(strings(entry, "/verbs")));
    Ok(described)
}

/// Which schema describes which kind: those that name exactly one group, version and kind.
fn schema_names(documents: &Documents) -> SchemaNames {
    let mut names = SchemaNames::new();
    for (name, schemas) in documents.schemas() {
        let kinds = schemas.first().and_then(|schema| schema.get("x-kubernetes-group-version-kind"));
        if let Some([kind]) = kinds.and_then(Value::as_array).map(Vec::as_slice) {
            let part = |key: &str| kind.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            names.insert((part("group"), part("version"), part("kind")), name.to_owned());
        }
    }
    names
}
