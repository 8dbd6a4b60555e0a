//! Garbage collection, as kube-controller-manager does it.

use controller_runtime_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::cluster::{Cluster, MAPS, map, reference, settle};

fn path(name: &str) -> String {
    format!("{MAPS}/{name}")
}

fn held(name: &str, owner: &Value, blocks: bool) -> Value {
    let mut object = map(name, &[(owner, blocks)]);
    object["metadata"]["finalizers"] = json!(["ref.dev/f"]);
    object
}

#[tokio::test(start_paused = true)]
async fn what_is_owned_goes_with_its_owner() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let b = cluster.map("b", &[(&a, true)]).await;
    cluster.map("c", &[(&b, false)]).await;
    cluster.map("d", &[]).await;
    settle().await;
    cluster.check(&["a", "b", "c", "d"]).await;
    cluster.delete(&path("a"), "Background").await;
    cluster.check(&["d"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_was_never_there_is_gone_too() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let mut absent = a.clone();
    absent["metadata"]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    cluster.map("wrong-uid", &[(&absent, false)]).await;
    absent["metadata"]["name"] = json!("nobody");
    cluster.map("wrong-name", &[(&absent, false)]).await;
    let mut misnamed = a.clone();
    misnamed["metadata"]["name"] = json!("nobody");
    cluster.map("right-uid-wrong-name", &[(&misnamed, false)]).await;
    settle().await;
    cluster.check(&["a"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_another_namespace_does_not_count() {
    let cluster = Cluster::new();
    cluster.create("/api/v1/namespaces", json!({"metadata": {"name": "other"}})).await;
    let elsewhere = cluster.create("/api/v1/namespaces/other/configmaps", map("a", &[])).await;
    cluster.map("b", &[(&elsewhere, false)]).await;
    settle().await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn one_owner_left_is_enough() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let b = cluster.map("b", &[]).await;
    cluster.map("c", &[(&a, true), (&b, true)]).await;
    cluster.delete(&path("a"), "Background").await;
    cluster.check(&["b", "c"]).await;
    let c = cluster.get(&path("c")).await.unwrap();
    assert_eq!(c["metadata"]["ownerReferences"], json!([reference(&b, true)]));
    cluster.delete(&path("b"), "Background").await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_the_owner_goes_last() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    cluster.create(MAPS, held("b", &a, true)).await;
    cluster.map("c", &[(&a, true)]).await;
    cluster.delete(&path("a"), "Foreground").await;
    cluster.check(&["a", "b"]).await;
    let waiting = cluster.get(&path("a")).await.unwrap();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert!(cluster.get(&path("b")).await.unwrap()["metadata"]["deletionTimestamp"].is_string());
    cluster.merge(&path("b"), json!({"metadata": {"finalizers": null}})).await;
    settle().await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_the_owner_waits_only_for_what_blocks_it() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    cluster.create(MAPS, held("b", &a, false)).await;
    cluster.delete(&path("a"), "Foreground").await;
    cluster.check(&["b"]).await;
    let b = cluster.get(&path("b")).await.unwrap();
    assert!(b["metadata"]["deletionTimestamp"].is_string());
}

#[tokio::test(start_paused = true)]
async fn unblocking_lets_a_waiting_owner_go() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    cluster.create(MAPS, held("b", &a, true)).await;
    cluster.delete(&path("a"), "Foreground").await;
    cluster.check(&["a", "b"]).await;
    cluster.merge(&path("b"), json!({"metadata": {"ownerReferences": [reference(&a, false)]}})).await;
    settle().await;
    cluster.check(&["b"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_foreground_reaches_down_the_whole_tree() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let b = cluster.map("b", &[(&a, true)]).await;
    cluster.create(MAPS, held("c", &b, true)).await;
    cluster.delete(&path("a"), "Foreground").await;
    cluster.check(&["a", "b", "c"]).await;
    let b = cluster.get(&path("b")).await.unwrap();
    assert_eq!(b["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    cluster.merge(&path("c"), json!({"metadata": {"finalizers": null}})).await;
    settle().await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_circle_in_the_foreground_ends() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let b = cluster.map("b", &[(&a, true)]).await;
    cluster.merge(&path("a"), json!({"metadata": {"ownerReferences": [reference(&b, true)]}})).await;
    settle().await;
    cluster.check(&["a", "b"]).await;
    cluster.delete(&path("a"), "Foreground").await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_without_their_owner() {
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let b = cluster.map("b", &[]).await;
    cluster.map("c", &[(&a, true), (&b, false)]).await;
    cluster.map("d", &[(&a, true)]).await;
    cluster.delete(&path("a"), "Orphan").await;
    cluster.check(&["b", "c", "d"]).await;
    let c = cluster.get(&path("c")).await.unwrap();
    assert_eq!(c["metadata"]["ownerReferences"], json!([reference(&b, false)]));
    assert_eq!(cluster.get(&path("d")).await.unwrap()["metadata"].get("ownerReferences"), None);
}

#[tokio::test(start_paused = true)]
async fn owners_may_be_cluster_scoped() {
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let cluster = Cluster::new();
    let role = cluster.create(roles, json!({"metadata": {"name": "r"}, "rules": []})).await;
    cluster.map("a", &[(&role, true)]).await;
    settle().await;
    cluster.check(&["a"]).await;
    cluster.delete(&format!("{roles}/r"), "Background").await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_scoped_object_keeps_an_owner_in_a_namespace() {
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let role = json!({"metadata": {"name": "r", "ownerReferences": [reference(&a, false)]}, "rules": []});
    cluster.create(roles, role).await;
    cluster.delete(&path("a"), "Background").await;
    assert!(cluster.get(&format!("{roles}/r")).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_an_unknown_kind_keeps_what_it_owns() {
    let cluster = Cluster::new();
    let owner = json!({
        "apiVersion": "ref.dev/v1", "kind": "Nothing",
        "metadata": {"name": "x", "uid": "00000000-0000-4000-8000-000000000000"},
    });
    cluster.map("a", &[(&owner, true)]).await;
    settle().await;
    cluster.check(&["a"]).await;
}

#[tokio::test(start_paused = true)]
async fn switched_off_nothing_is_collected() {
    let cluster = Cluster::of(ApiServer::builder().garbage_collection(false));
    let a = cluster.map("a", &[]).await;
    cluster.map("b", &[(&a, true)]).await;
    cluster.delete(&path("a"), "Background").await;
    cluster.check(&["b"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_requests() {
    async fn run() -> Vec<controller_runtime_apiserver::RequestRecord> {
        let cluster = Cluster::new();
        let a = cluster.map("a", &[]).await;
        for name in ["b", "c", "d", "e"] {
            cluster.map(name, &[(&a, true)]).await;
        }
        cluster.delete(&path("a"), "Foreground").await;
        cluster.check(&[]).await;
        cluster.server.shutdown().await;
        cluster.server.request_log()
    }
    let (a, b) = (run().await, run().await);
    assert_eq!(a, b);
    assert!(a.iter().any(|it| it.user == "system:serviceaccount:kube-system:generic-garbage-collector"));
}

fn definition(plural: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let versions = json!([{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.ref.dev")},
        "spec": {
            "group": "ref.dev", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": versions,
        },
    })
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Custom resources know no strategic merge patch, with which owners are taken out of built-in ones.
#[tokio::test(start_paused = true)]
async fn custom_resources_own_and_are_owned() {
    let widgets = "/apis/ref.dev/v1/namespaces/default/widgets";
    let cluster = Cluster::new();
    cluster.create(DEFINITIONS, definition("widgets", "Widget")).await;
    settle().await;
    let widget = |name: &str, owners: &[(&Value, bool)]| {
        let mut object = map(name, owners);
        object["apiVersion"] = json!("ref.dev/v1");
        object["kind"] = json!("Widget");
        object
    };
    let a = cluster.create(widgets, widget("a", &[])).await;
    let b = cluster.map("b", &[(&a, true)]).await;
    cluster.create(widgets, widget("c", &[(&a, true), (&b, true)])).await;
    cluster.create(widgets, widget("d", &[(&a, true)])).await;
    cluster.delete(&format!("{widgets}/a"), "Orphan").await;
    cluster.check(&["b"]).await;
    let c = cluster.get(&format!("{widgets}/c")).await.unwrap();
    assert_eq!(c["metadata"]["ownerReferences"], json!([reference(&b, true)]));
    assert_eq!(cluster.get(&format!("{widgets}/d")).await.unwrap()["metadata"].get("ownerReferences"), None);
    cluster.delete(&path("b"), "Background").await;
    assert_eq!(cluster.get(&format!("{widgets}/c")).await, None);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_kind_is_looked_up_once_it_is_served() {
    let cluster = Cluster::new();
    let owner = json!({
        "apiVersion": "ref.dev/v1", "kind": "Widget",
        "metadata": {"name": "x", "uid": "00000000-0000-4000-8000-000000000000"},
    });
    cluster.map("a", &[(&owner, true)]).await;
    settle().await;
    cluster.check(&["a"]).await;
    cluster.create(DEFINITIONS, definition("widgets", "Widget")).await;
    settle().await;
    cluster.check(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_definition_takes_its_objects_and_what_they_own() {
    let widgets = "/apis/ref.dev/v1/namespaces/default/widgets";
    let cluster = Cluster::new();
    cluster.create(DEFINITIONS, definition("widgets", "Widget")).await;
    settle().await;
    let object = json!({"apiVersion": "ref.dev/v1", "kind": "Widget", "metadata": {"name": "a"}});
    let a = cluster.create(widgets, object).await;
    cluster.map("b", &[(&a, true)]).await;
    cluster.delete(&format!("{DEFINITIONS}/widgets.ref.dev"), "Background").await;
    // The kind of the owner is gone with the owner: nothing can be said about it until it is served again.
    cluster.check(&["b"]).await;
    cluster.create(DEFINITIONS, definition("widgets", "Widget")).await;
    settle().await;
    cluster.check(&[]).await;
}

/// Events expire on their own.
#[tokio::test(start_paused = true)]
async fn events_are_left_alone() {
    let events = "/api/v1/namespaces/default/events";
    let cluster = Cluster::new();
    let a = cluster.map("a", &[]).await;
    let mut event = map("e", &[(&a, true)]);
    event["involvedObject"] = json!({"namespace": "default", "kind": "ConfigMap", "name": "a"});
    cluster.create(events, event).await;
    cluster.delete(&path("a"), "Background").await;
    assert!(cluster.get(&format!("{events}/e")).await.is_some());
}
