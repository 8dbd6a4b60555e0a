use super::*;
use crate::catalogue::definitions::definition_names;

#[test]
fn every_definition_reads() {
    let catalogue = catalogue();
    let mut read = 0;
    for name in definition_names() {
        let schema = catalogue.definitions.get(name);
        assert!(matches!(schema, Ok(Some(_))), "{name}: {schema:?}");
        read += 1;
    }
    assert!(read > 500, "only {read} definitions");
}

#[test]
fn every_resource_has_a_schema_of_its_kind() {
    for (version, resource) in catalogue().resources() {
        let name = resource.schema.as_deref().unwrap_or_default();
        let Ok(Some(schema)) = catalogue().definitions.get(name) else {
            panic!("{}/{} has no schema {name:?}", version.group, resource.plural);
        };
        let [kind] = schema.group_version_kinds.as_slice() else {
            panic!("{name} is of several kinds: {:?}", schema.group_version_kinds);
        };
        assert_eq!((&kind.group, &kind.version, &kind.kind), (&version.group, &version.version, &resource.kind));
        assert!(schema.child("metadata").is_some(), "{name} has no metadata");
    }
}

#[test]
fn what_is_absent_is_not_listed() {
    let listed: Vec<_> =
        catalogue().resources().map(|(version, resource)| format!("{}/{}", version.group, resource.plural)).collect();
    let absent = "/componentstatuses";
    assert!(!listed.iter().any(|found| found == absent), "{absent} is listed");
    for present in ["/bindings", "/pods", "apps/statefulsets", "apiextensions.k8s.io/customresourcedefinitions"] {
        assert!(listed.iter().any(|found| found == present), "{present} is missing");
    }
}

#[test]
fn resources_are_sorted_as_the_registry_searches_them() {
    let keys: Vec<_> =
        resources().iter().map(|resource| (&resource.group, &resource.version, &resource.plural)).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let deployments = resources().iter().find(|resource| resource.plural == "deployments");
    assert!(deployments.is_some_and(|resource| resource.scale.is_some() && resource.has_status()));
}
