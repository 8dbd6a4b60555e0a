use serde_json::Value;

use super::document::document;
use super::*;
use crate::catalogue::resources;

/// The document of a group version, as a client reads it.
fn read(group: &str, version: &str) -> Value {
    let document = document(&Registry::new(), group, version);
    let text = document.map(|document| document.text).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{group}/{version}: {error}"))
}

#[test]
fn every_document_refers_only_to_what_it_holds() {
    let mut seen = Vec::new();
    for resource in resources() {
        let key = (&resource.group, &resource.version);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let document = read(&resource.group, &resource.version);
        let schemas = document["components"]["schemas"].as_object().cloned().unwrap_or_default();
        for name in components::references(&document.to_string()) {
            assert!(schemas.contains_key(&name), "{key:?} has no {name}");
        }
    }
    assert!(seen.len() > 15, "only {} group versions", seen.len());
}

#[test]
fn the_index_names_every_document_by_its_hash() {
    let registry = Registry::new();
    let index = index(&registry);
    let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap_or_default();
    let hash = document(&registry, "apps", "v1").map(|document| document.hash).unwrap_or_default();
    assert_eq!(url, format!("/openapi/v3/apis/apps/v1?hash={hash}"));
    assert!(index["paths"].get("api/v1").is_some());
}

#[test]
fn documents_are_made_once_for_each_state_of_the_registry() {
    let (registry, documents) = (Registry::new(), Documents::default());
    let of = |registry| documents.of_group_version(registry, "apps", "v1").unwrap();
    let first = of(&registry);
    assert!(Arc::ptr_eq(&first, &of(&registry)));
    let index = documents.index(&registry);
    assert!(Arc::ptr_eq(&index, &documents.index(&registry)));
    registry.install("example.com", "things", Vec::new());
    assert!(!Arc::ptr_eq(&first, &of(&registry)));
    assert!(!Arc::ptr_eq(&index, &documents.index(&registry)));
    assert!(documents.of_group_version(&registry, "none", "v1").is_none());
}

#[test]
fn clients_find_by_kind_what_an_operation_accepts() {
    let document = read("apps", "v1");
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Deployment");
    let names: Vec<_> =
        patch["parameters"].as_array().into_iter().flatten().map(|found| found["name"].clone()).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
}
