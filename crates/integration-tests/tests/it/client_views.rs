//! Everything that the client's one API does, typed, unstructured and with metadata only.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use controller_runtime_client::{
    Api, Client, ClientOptions, DeleteOptions, ErrorClass, FieldValidation, ListOptions, Patch, Propagation,
    WarningHandler, WatchOptions,
};
use controller_runtime_scheme::{Kind, Object, PartialObjectMeta, Unstructured};
use integration_tests::Fixture;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube_client::core::GroupVersionKind;
use serde_json::{Value, json};

fn map(fixture: &Fixture, name: &str, app: &str) -> ConfigMap {
    let metadata = json!({"name": name, "namespace": fixture.namespace(), "labels": {"app": app}});
    serde_json::from_value(json!({"metadata": metadata, "data": {"key": "value"}})).unwrap()
}

fn deployment(fixture: &Fixture) -> Deployment {
    serde_json::from_value(json!({
        "metadata": {"name": "web", "namespace": fixture.namespace()},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        }},
    }))
    .unwrap()
}

/// Of our objects in the namespace, without those that a real cluster puts there.
fn ours(fixture: &Fixture) -> ListOptions {
    ListOptions::in_namespace(fixture.namespace()).labels(controller_runtime_client::Expression::Exists("app".into()))
}

/// Reads, lists, patches, watches and deletes the same objects through one view of them.
async fn check_view<K: Object>(fixture: &Fixture, api: Api<K>, data: impl Fn(&K) -> Option<String>) {
    let client = fixture.env().client();
    for name in ["one", "two"] {
        client.create(&map(fixture, name, "view")).await.unwrap();
    }
    let one = (fixture.namespace(), "one");
    let read = api.get(one).await.unwrap();
    let expected = data(&read);
    let list = api.list(&ours(fixture).label("app", "view")).await.unwrap();
    let names: Vec<_> = list.items.iter().map(|object| object.meta().name.clone().unwrap()).collect();
    assert_eq!(names, ["one", "two"]);
    assert!(list.items.iter().all(|object| data(object) == expected));
    assert!(list.items.iter().all(|object| object.meta().uid.is_some()));

    let mut watch = WatchOptions::default();
    watch.namespace = Some(fixture.namespace().to_owned());
    watch.resource_version = Some(list.resource_version);
    let mut stream = api.watch(&watch).await.unwrap();
    let label = Patch::Merge(json!({"metadata": {"labels": {"seen": "yes"}}}));
    let patched = api.patch(one, &label).await.unwrap();
    assert_eq!((patched.meta().labels.as_ref().unwrap()["seen"].as_str(), data(&patched)), ("yes", expected.clone()));
    let frame = tokio::time::timeout(Duration::from_secs(30), stream.next()).await.unwrap().unwrap().unwrap();
    let seen = api.decode(&frame.object).unwrap();
    assert_eq!(
        (seen.meta().resource_version.as_ref(), data(&seen)),
        (patched.meta().resource_version.as_ref(), expected)
    );

    let whole = client.get::<ConfigMap>(one).await.unwrap();
    assert_eq!(whole.data.unwrap()["key"], "value", "the patch left the rest alone");
    api.delete(one).await.unwrap();
    assert!(api.get_opt(one).await.unwrap().is_none());
    api.delete_all(&ours(fixture), &DeleteOptions::new()).await.unwrap();
    assert!(api.list(&ours(fixture)).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn typed_unstructured_and_metadata_have_the_same_verbs() {
    let fixture = Fixture::start("views").await;
    let (client, kind) = (fixture.env().client(), Kind::<ConfigMap>::typed());
    check_view(&fixture, client.api(kind.clone()), |map| map.data.as_ref()?.get("key").cloned()).await;
    let key = |object: &Unstructured| object.data["data"]["key"].as_str().map(str::to_owned);
    check_view(&fixture, client.api(kind.erase()), key).await;
    let metadata = client.api(kind.metadata_only());
    check_view(&fixture, metadata, |object: &PartialObjectMeta| Some(object.types.as_ref()?.kind.clone())).await;
    fixture.stop().await;
}

#[tokio::test]
async fn metadata_only_asks_the_server_for_metadata() {
    let fixture = Fixture::start("metadata").await;
    let client = fixture.env().client();
    let created = client.create(&map(&fixture, "one", "web")).await.unwrap();
    // What the server sends is what the type would have to hide otherwise: the text has no data.
    let api = client.api(Kind::<ConfigMap>::typed().metadata_only());
    let page = api.page(&ours(&fixture)).await.unwrap();
    let object: Value = serde_json::from_slice(&page.items[0]).unwrap();
    assert_eq!((&object["metadata"]["name"], object.get("data")), (&json!("one"), None));

    let mut wanted = api.get((fixture.namespace(), "one")).await.unwrap();
    assert_eq!(wanted.metadata.uid, created.metadata.uid);
    wanted.metadata.labels = Some([("tier".to_owned(), "front".to_owned())].into());
    wanted.metadata.resource_version = None;
    let applied = api.apply(&wanted).await.unwrap();
    assert_eq!(applied.metadata.labels.unwrap()["app"], "web");
    let whole = client.get::<ConfigMap>((fixture.namespace(), "one")).await.unwrap();
    assert_eq!((whole.metadata.labels.unwrap()["tier"].as_str(), whole.data), ("front", created.data));
    fixture.stop().await;
}

#[tokio::test]
async fn a_pager_reads_everything_once() {
    let fixture = Fixture::start("pager").await;
    let client = fixture.env().client();
    for index in 0..7 {
        client.create(&map(&fixture, &format!("map-{index}"), "web")).await.unwrap();
    }
    let mut pager = client.api(Kind::<ConfigMap>::typed()).pager(&ours(&fixture).limit(3));
    let (mut sizes, mut names) = (Vec::new(), BTreeSet::new());
    while let Some(page) = pager.next().await.unwrap() {
        sizes.push(page.items.len());
        names.extend(page.into_iter().map(|map| map.metadata.name.unwrap()));
    }
    assert_eq!((sizes, names.len()), (vec![3, 3, 1], 7));
    fixture.stop().await;
}

#[tokio::test]
async fn every_kind_of_patch_is_sent() {
    let fixture = Fixture::start("patches").await;
    let client = fixture.env().client();
    client.create(&deployment(&fixture)).await.unwrap();
    let web = (fixture.namespace(), "web");
    let containers = json!({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}});
    let strategic = client.patch::<Deployment>(web, &Patch::Strategic(containers.clone())).await.unwrap();
    assert_eq!(strategic.spec.template.spec.unwrap().containers.len(), 2, "lists merge by key");
    let merged = client.patch::<Deployment>(web, &Patch::Merge(containers)).await.unwrap();
    assert_eq!(merged.spec.template.spec.as_ref().unwrap().containers.len(), 1, "lists are replaced");
    let operations = serde_json::from_value(json!([{"op": "replace", "path": "/spec/replicas", "value": 3}])).unwrap();
    let replaced = client.patch::<Deployment>(web, &Patch::Json(operations)).await.unwrap();
    assert_eq!(replaced.spec.replicas, Some(3));

    let kind = Kind::<Deployment>::typed();
    let stale = Patch::Merge(json!({"spec": {"replicas": 4}})).with_optimistic_lock(&kind, &merged).unwrap();
    assert_eq!(client.patch::<Deployment>(web, &stale).await.unwrap_err().class(), ErrorClass::Conflict);
    fixture.stop().await;
}

#[tokio::test]
async fn a_subresource_has_every_verb() {
    let fixture = Fixture::start("subresources").await;
    let client = fixture.env().client();
    client.create(&deployment(&fixture)).await.unwrap();
    let (api, web) = (client.api(Kind::<Deployment>::typed()), (fixture.namespace(), "web"));
    let mut scale: Scale = api.get_subresource(web, "scale").await.unwrap();
    scale.spec.as_mut().unwrap().replicas = Some(2);
    let scale: Scale = api.update_subresource(web, "scale", &scale).await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(2));
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
    let scale: Scale = api.patch_subresource(web, "scale", &patch).await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(3));
    let metadata = json!({"name": "web", "namespace": fixture.namespace()});
    let body = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": 4}});
    let scale: Scale = api.apply_subresource(web, "scale", &body).await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(4));
    let status: Deployment = api.get_subresource(web, "status").await.unwrap();
    assert_eq!(status.spec.replicas, Some(4));

    // The embedded server has no subresource that is created.
    if !fixture.is_embedded() {
        client.create::<ServiceAccount>(&serde_json::from_value(json!({"metadata": metadata})).unwrap()).await.unwrap();
        let request =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}});
        let accounts = client.api(Kind::<ServiceAccount>::typed());
        let token: Value = accounts.create_subresource(web, "token", &request).await.unwrap();
        assert!(token["status"]["token"].is_string());
    }

    let maps = client.api(Kind::<ConfigMap>::typed());
    client.create(&map(&fixture, "one", "web")).await.unwrap();
    let error = maps.get_subresource::<Value>((fixture.namespace(), "one"), "status").await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::SubresourceNotServed, "{error}");
    fixture.stop().await;
}

#[tokio::test]
async fn a_deletion_may_be_bound_and_delayed() {
    let fixture = Fixture::start("deletion").await;
    let client = fixture.env().client();
    let created = client.create(&map(&fixture, "one", "web")).await.unwrap();
    let one = (fixture.namespace(), "one");
    let stale = DeleteOptions::new().uid(created.metadata.uid.clone().unwrap()).resource_version("1");
    assert_eq!(client.delete_with::<ConfigMap>(one, &stale).await.unwrap_err().class(), ErrorClass::Conflict);
    let foreground = DeleteOptions::new().propagation(Propagation::Foreground).grace_period(0);
    let deletion = client.clone().dry_run().delete_with::<ConfigMap>(one, &foreground).await.unwrap();
    assert_eq!(deletion.uid(), created.metadata.uid.as_deref());
    assert!(client.get_opt::<ConfigMap>(one).await.unwrap().is_some(), "it was a dry run");

    client.create(&map(&fixture, "two", "other")).await.unwrap();
    let selected = ours(&fixture).label("app", "web");
    client.delete_all::<ConfigMap>(&selected, &DeleteOptions::new()).await.unwrap();
    let left = client.list::<ConfigMap>(&ours(&fixture)).await.unwrap();
    assert_eq!(left.items.len(), 1);
    assert_eq!(left.items[0].metadata.name.as_deref(), Some("two"));
    fixture.stop().await;
}

#[tokio::test]
async fn a_client_bound_to_a_namespace_reaches_no_other() {
    let fixture = Fixture::start("bound").await;
    let bound = fixture.env().client().in_namespace(fixture.namespace());
    let mut object = map(&fixture, "one", "web");
    object.metadata.namespace = None;
    let created = bound.create(&object).await.unwrap();
    assert_eq!(created.metadata.namespace.as_deref(), Some(fixture.namespace()));
    assert_eq!(bound.list::<ConfigMap>(&ListOptions::all().label("app", "web")).await.unwrap().items.len(), 1);
    let error = bound.get::<ConfigMap>(("default", "one")).await.unwrap_err();
    assert!(error.to_string().contains("is bound to the namespace"), "{error}");
    let namespace = controller_runtime_scheme::ObjectKey::cluster("default");
    bound.get::<Namespace>(namespace).await.unwrap();
    fixture.stop().await;
}

#[tokio::test]
async fn unknown_fields_are_ignored_warned_of_or_refused() {
    let fixture = Fixture::start("validation").await;
    let group = fixture.group();
    fixture.install_widgets().await;
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = heard.clone();
    let handler = WarningHandler::new(move |_, text| told.lock().unwrap().push(text.to_owned()));
    let options = ClientOptions::builder().field_manager("test").warning_handler(handler).build();
    let client = Client::new(fixture.env().kube_client(), options);
    let kind = client.mapper().kind(&GroupVersionKind::gvk(&group, "v1", "Widget")).await.unwrap();
    let write = async |name: &str, validation| {
        let mut widget = Unstructured::new(name, kind.resource()).data(json!({"spec": {"color": "red", "odd": 1}}));
        widget.metadata.namespace = Some(fixture.namespace().to_owned());
        client.clone().with_field_validation(validation).api(kind.clone()).create(&widget).await
    };
    write("ignore", FieldValidation::Ignore).await.unwrap();
    assert!(heard.lock().unwrap().is_empty());
    write("warn", FieldValidation::Warn).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), ["unknown field \"spec.odd\""]);
    let error = write("strict", FieldValidation::Strict).await.unwrap_err();
    assert!(error.to_string().contains("unknown field \"spec.odd\""), "{error}");
    fixture.stop().await;
}

#[tokio::test]
async fn the_mapper_finds_kinds_and_learns_new_ones() {
    let fixture = Fixture::start("mapper").await;
    let (client, group) = (fixture.env().client(), fixture.group());
    let mapper = client.mapper();
    let deployments = mapper.resource("apps", None, "deploy").await.unwrap();
    assert_eq!(deployments.kind, Kind::<Deployment>::typed().erase());
    assert!(deployments.subresources.iter().any(|name| name == "scale"));
    assert!(!mapper.preferred("", "Namespace").await.unwrap().is_namespaced());
    let widget = GroupVersionKind::gvk(&group, "v1", "Widget");
    assert_eq!(mapper.kind(&widget).await.unwrap_err().class(), ErrorClass::KindNotServed);

    fixture.install_widgets().await;
    let found = async {
        loop {
            // It asks again once a second at most; a real server's documents come late, too.
            match mapper.kind(&widget).await {
                Ok(kind) => return kind,
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
    let kind = tokio::time::timeout(Duration::from_mins(1), found).await.unwrap();
    assert_eq!((kind.resource().plural.as_str(), kind.is_namespaced()), ("widgets", true));
    fixture.stop().await;
}
