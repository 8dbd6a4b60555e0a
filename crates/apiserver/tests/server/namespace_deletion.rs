//! Namespace deletion, as kube-controller-manager does it.

use std::time::Duration;

use controller_runtime_apiserver::ApiServer;
use serde_json::json;
use tokio::time::advance;

use crate::cluster::{Cluster, map, settle};

const NAMESPACE: &str = "/api/v1/namespaces/x";

async fn with_namespace(builder: controller_runtime_apiserver::ApiServerBuilder) -> Cluster {
    let cluster = Cluster::of(builder);
    cluster.create("/api/v1/namespaces", json!({"metadata": {"name": "x"}})).await;
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_with_all_that_is_in_it() {
    let cluster = with_namespace(ApiServer::builder()).await;
    let container = json!({"name": "c", "image": "i"});
    for (path, object) in [
        ("configmaps", map("a", &[])),
        ("secrets", map("a", &[])),
        ("pods", json!({"metadata": {"name": "a"}, "spec": {"containers": [container]}})),
    ] {
        cluster.create(&format!("{NAMESPACE}/{path}"), object).await;
    }
    cluster.delete(NAMESPACE, "Background").await;
    assert_eq!(cluster.get(NAMESPACE).await, None);
    for path in ["configmaps/a", "secrets/a", "pods/a"] {
        assert_eq!(cluster.get(&format!("{NAMESPACE}/{path}")).await, None, "{path}");
    }
    cluster.create("/api/v1/namespaces", json!({"metadata": {"name": "x"}})).await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_waits_for_finalizers_and_says_so() {
    let cluster = with_namespace(ApiServer::builder()).await;
    let maps = format!("{NAMESPACE}/configmaps");
    for (name, finalizers) in [("a", json!(["ref.dev/f"])), ("b", json!(["ref.dev/f", "ref.dev/g"])), ("c", json!([]))]
    {
        cluster.create(&maps, json!({"metadata": {"name": name, "finalizers": finalizers}})).await;
    }
    cluster.delete(NAMESPACE, "Background").await;
    let namespace = cluster.get(NAMESPACE).await.unwrap();
    assert_eq!(namespace["status"]["phase"], "Terminating");
    let conditions: Vec<_> = namespace["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| ["type", "status", "reason", "message"].map(|key| it[key].as_str().unwrap()).join(" | "))
        .collect();
    insta::assert_snapshot!(conditions.join("\n"), @r"
    NamespaceDeletionDiscoveryFailure | False | ResourcesDiscovered | All resources successfully discovered
    NamespaceDeletionGroupVersionParsingFailure | False | ParsedGroupVersions | All legacy kube types successfully parsed
    NamespaceDeletionContentFailure | False | ContentDeleted | All content successfully deleted, may be waiting on finalization
    NamespaceContentRemaining | True | SomeResourcesRemain | Some resources are remaining: configmaps. has 2 resource instances
    NamespaceFinalizersRemaining | True | SomeFinalizersRemain | Some content in the namespace has finalizers remaining: ref.dev/f in 2 resource instances, ref.dev/g in 1 resource instances
    ");
    let refused = cluster.try_send("POST", &maps, "application/json", &map("d", &[])).await;
    assert_eq!(refused.code, 403, "{}", refused.text());
    assert_eq!(cluster.get(&format!("{maps}/c")).await, None);
    for name in ["a", "b"] {
        cluster.merge(&format!("{maps}/{name}"), json!({"metadata": {"finalizers": null}})).await;
    }
    settle().await;
    assert_eq!(cluster.get(NAMESPACE).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_stays_as_it_is_until_its_delay_has_passed() {
    // Longer than the server is given to settle.
    let delay = Duration::from_mins(10);
    let cluster = with_namespace(ApiServer::builder().namespace_deletion_delay(delay)).await;
    let map_of_it = format!("{NAMESPACE}/configmaps/a");
    cluster.create(&format!("{NAMESPACE}/configmaps"), map("a", &[])).await;
    cluster.delete(NAMESPACE, "Background").await;
    cluster.merge(&map_of_it, json!({"data": {"k": "v"}})).await;
    settle().await;
    assert_eq!(cluster.get(NAMESPACE).await.unwrap()["status"]["phase"], "Terminating");
    assert!(cluster.get(&map_of_it).await.is_some());
    advance(delay).await;
    settle().await;
    assert_eq!((cluster.get(&map_of_it).await, cluster.get(NAMESPACE).await), (None, None));
}

#[tokio::test(start_paused = true)]
async fn switched_off_a_namespace_stays() {
    let cluster = with_namespace(ApiServer::builder().namespace_deletion(false)).await;
    cluster.create(&format!("{NAMESPACE}/configmaps"), map("a", &[])).await;
    cluster.delete(NAMESPACE, "Background").await;
    let namespace = cluster.get(NAMESPACE).await.unwrap();
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert!(cluster.get(&format!("{NAMESPACE}/configmaps/a")).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn other_finalizers_of_a_namespace_are_not_ours_to_remove() {
    let cluster = Cluster::new();
    let spec = json!({"finalizers": ["ref.dev/f"]});
    cluster.create("/api/v1/namespaces", json!({"metadata": {"name": "x"}, "spec": spec})).await;
    cluster.delete(NAMESPACE, "Background").await;
    let mut namespace = cluster.get(NAMESPACE).await.unwrap();
    assert_eq!(namespace["spec"]["finalizers"], json!(["ref.dev/f"]));
    namespace["spec"]["finalizers"] = json!([]);
    let path = format!("{NAMESPACE}/finalize");
    let done = cluster.try_send("PUT", &path, "application/json", &namespace).await;
    assert_eq!(done.code, 200, "{}", done.text());
    assert_eq!(cluster.get(NAMESPACE).await, None);
}

#[tokio::test(start_paused = true)]
async fn many_namespaces_go_side_by_side() {
    let cluster = Cluster::new();
    for number in 0..50 {
        cluster.create("/api/v1/namespaces", json!({"metadata": {"name": format!("n{number}")}})).await;
        cluster.create(&format!("/api/v1/namespaces/n{number}/configmaps"), map("a", &[])).await;
    }
    let options = json!({});
    for number in 0..50 {
        let path = format!("/api/v1/namespaces/n{number}");
        assert_eq!(cluster.try_send("DELETE", &path, "application/json", &options).await.code, 200);
    }
    settle().await;
    let left = cluster.get("/api/v1/namespaces").await.unwrap();
    let left: Vec<_> = left["items"].as_array().unwrap().iter().map(|it| it["metadata"]["name"].clone()).collect();
    assert_eq!(left, ["default", "kube-node-lease", "kube-public", "kube-system"]);
}
