use serde_json::{Value, json};

use super::group_version::precedence;
use super::*;
use crate::registry::Registry;

#[test]
fn versions_are_ordered_as_clients_prefer_them() {
    let ordered = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
    for pair in ordered.windows(2) {
        assert!(precedence(pair[0]) >= precedence(pair[1]), "{pair:?}");
    }
}

#[test]
fn a_group_version_lists_subresources_after_their_resource() {
    let list = resources(&Registry::new(), "apps", "v1").unwrap_or_default();
    let names: Vec<_> = list["resources"].as_array().into_iter().flatten().map(|found| found["name"].clone()).collect();
    let expected = [
        "controllerrevisions",
        "daemonsets",
        "daemonsets/status",
        "deployments",
        "deployments/scale",
        "deployments/status",
        "replicasets",
        "replicasets/scale",
        "replicasets/status",
        "statefulsets",
        "statefulsets/scale",
        "statefulsets/status",
    ];
    assert_eq!(names, expected);
    assert_eq!(list["resources"][4]["group"], json!("autoscaling"));
    assert_eq!(list["resources"][3]["storageVersionHash"], json!("8aSe+NMegvE="));
}

#[test]
fn both_forms_name_the_same_groups_in_the_same_order() {
    let registry = Registry::new();
    let names = |list: &Value, items: &str, name: &str| -> Vec<Value> {
        let items = list[items].as_array().into_iter().flatten();
        items.map(|group| group.pointer(name).cloned().unwrap_or_default()).collect()
    };
    let listed = names(&groups(&registry), "groups", "/name");
    assert_eq!(listed, names(&aggregated(&registry, false), "items", "/metadata/name"));
    assert_eq!(listed.first(), Some(&json!("apiregistration.k8s.io")));
    assert_eq!(names(&aggregated(&registry, true), "items", "/versions/0/version"), [json!("v1")]);
}

#[test]
fn what_is_not_served_is_not_found() {
    let registry = Registry::new();
    assert_eq!(group(&registry, "example.com"), None);
    assert_eq!(resources(&registry, "apps", "v1beta1"), None);
    assert!(group(&registry, "batch").is_some_and(|group| group["preferredVersion"]["groupVersion"] == "batch/v1"));
}
