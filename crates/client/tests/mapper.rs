//! How the REST mapper asks, and when it asks again.

mod scripted;

use std::time::Duration;

use controller_runtime_client::ErrorClass;
use controller_runtime_scheme::GroupVersionKind;
use scripted::scripted;
use serde_json::{Value, json};
use tokio::time::sleep;

fn resource(plural: &str, kind: &str, scope: &str) -> Value {
    json!({
        "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": scope,
        "singularResource": kind.to_lowercase(), "shortNames": ["ox"], "verbs": ["get", "list"],
        "subresources": [{"subresource": "status", "verbs": ["get"]}],
    })
}

fn aggregated(groups: &Value) -> (u16, Value) {
    (200, json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": groups}))
}

fn core() -> (u16, Value) {
    aggregated(
        &json!([{"versions": [{"version": "v1", "resources": [resource("namespaces", "Namespace", "Cluster")]}]}]),
    )
}

fn named(resources: &[Value]) -> (u16, Value) {
    let versions = json!([
        {"version": "v2", "resources": resources},
        {"version": "v1", "resources": [resource("oxen", "Ox", "Namespaced"), resource("yaks", "Yak", "Namespaced")]},
    ]);
    aggregated(&json!([{"metadata": {"name": "ref.dev"}, "versions": versions}]))
}

#[tokio::test(start_paused = true)]
async fn two_requests_find_everything() {
    let (client, log) = scripted(vec![core(), named(&[resource("oxen", "Ox", "Namespaced")])]);
    let mapper = client.mapper();
    assert!(log.lock().is_empty(), "to make one asks nothing");
    let kind = mapper.kind(&GroupVersionKind::gvk("ref.dev", "v1", "Ox")).await.unwrap();
    assert_eq!((kind.resource().plural.as_str(), kind.is_namespaced()), ("oxen", true));
    assert!(!mapper.kind(&GroupVersionKind::gvk("", "v1", "Namespace")).await.unwrap().is_namespaced());
    assert_eq!(mapper.preferred("ref.dev", "Ox").await.unwrap().resource().version, "v2");
    assert_eq!(mapper.preferred("ref.dev", "Yak").await.unwrap().resource().version, "v1");
    for name in ["oxen", "ox"] {
        let mapping = mapper.resource("ref.dev", None, name).await.unwrap();
        assert_eq!(mapping.kind.to_string(), "Ox.ref.dev/v2");
        assert_eq!((mapping.subresources, mapping.verbs), (vec!["status".into()], vec!["get".into(), "list".into()]));
    }
    let mapping = client.clone().mapper().resource("ref.dev", Some("v1"), "yak").await.unwrap();
    assert_eq!(mapping.kind.to_string(), "Yak.ref.dev/v1");
    assert_eq!(*log.lock(), ["GET /api", "GET /apis"]);
}

#[tokio::test(start_paused = true)]
async fn the_unknown_is_asked_for_again_but_not_at_once() {
    let before = || [core(), named(&[])];
    let after = [core(), named(&[resource("cows", "Cow", "Namespaced")])];
    let (client, log) = scripted(before().into_iter().chain(after).collect());
    let (mapper, cow) = (client.mapper(), GroupVersionKind::gvk("ref.dev", "v2", "Cow"));
    let error = mapper.kind(&cow).await.unwrap_err();
    assert_eq!(error.to_string(), "the server serves no kind Cow of ref.dev/v2");
    assert_eq!(error.class(), ErrorClass::KindNotServed);
    for _ in 0..10 {
        let error = mapper.resource("ref.dev", None, "cows").await.unwrap_err();
        assert_eq!(error.to_string(), "the server serves no resource cows in ref.dev/*");
    }
    assert_eq!(log.lock().len(), 2);
    sleep(Duration::from_secs(1)).await;
    let both = futures::future::join_all([mapper.kind(&cow), mapper.kind(&cow)]).await;
    assert!(both.iter().all(Result::is_ok));
    assert_eq!(log.lock().len(), 4, "one asks for both");
}

#[tokio::test]
async fn a_server_without_aggregated_discovery_is_asked_for_each_version() {
    let list = |group_version: &str, plural: &str, kind: &str| {
        let whole = json!({"name": plural, "singularName": "ox", "namespaced": true, "kind": kind, "verbs": ["get"]});
        let part = json!({"name": format!("{plural}/scale"), "singularName": "", "namespaced": true, "kind": "Scale", "verbs": []});
        (200, json!({"kind": "APIResourceList", "groupVersion": group_version, "resources": [whole, part]}))
    };
    let version = |name: &str| json!({"groupVersion": format!("ref.dev/{name}"), "version": name});
    let group =
        json!({"name": "ref.dev", "versions": [version("v1"), version("v2")], "preferredVersion": version("v2")});
    let (client, log) = scripted(vec![
        (200, json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})),
        list("v1", "pods", "Pod"),
        (200, json!({"kind": "APIGroupList", "groups": [group]})),
        list("ref.dev/v2", "oxen", "Ox"),
        (503, json!({"retryAfter": 100})),
    ]);
    let mapping = client.mapper().resource("ref.dev", None, "ox").await.unwrap();
    assert_eq!((mapping.kind.to_string().as_str(), mapping.subresources), ("Ox.ref.dev/v2", vec!["scale".to_owned()]));
    assert_eq!(*log.lock(), ["GET /api", "GET /api/v1", "GET /apis", "GET /apis/ref.dev/v2", "GET /apis/ref.dev/v1"]);
}
