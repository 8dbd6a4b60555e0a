//! The client's verbs against a server: typed and unstructured objects, and what each error is classed as.

use std::collections::BTreeMap;

use controller_runtime_client::{
    Client, ClientOptions, DeleteOptions, ErrorClass, ListOptions, OwnedBy, Patch, Upsert, WatchEventType,
    WatchOptions, retry_on_conflict,
};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectExt, Scope, Unstructured};
use integration_tests::Fixture;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

fn map(fixture: &Fixture, name: &str, value: &str) -> ConfigMap {
    let metadata = json!({"name": name, "namespace": fixture.namespace()});
    serde_json::from_value(json!({"metadata": metadata, "data": {"key": value}})).unwrap()
}

fn data(value: &str) -> BTreeMap<String, String> {
    [("key".to_owned(), value.to_owned())].into()
}

fn widgets(fixture: &Fixture) -> Kind<Unstructured> {
    let kind = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, "widgets"), Scope::Namespaced)
}

fn widget(fixture: &Fixture, spec: &Value) -> Unstructured {
    let mut object = Unstructured::new("one", widgets(fixture).resource()).data(json!({"spec": spec}));
    object.metadata.namespace = Some(fixture.namespace().to_owned());
    object
}

#[tokio::test]
async fn a_typed_object_lives_and_dies() {
    let fixture = Fixture::start("typed").await;
    let client = fixture.env().client();
    let one = (fixture.namespace(), "one");
    assert_eq!(client.get_opt::<ConfigMap>(one).await.unwrap(), None);

    let created = client.create(&map(&fixture, "one", "a")).await.unwrap();
    assert_eq!(client.get::<ConfigMap>(one).await.unwrap(), created);
    let mut changed = created.clone();
    changed.data = Some(data("b"));
    let updated = client.update(&changed).await.unwrap();
    assert_eq!((&updated.data, &updated.metadata.uid), (&Some(data("b")), &created.metadata.uid));

    let patched = client.patch::<ConfigMap>(one, &Patch::Merge(json!({"data": {"key": "c"}}))).await.unwrap();
    assert_eq!(patched.data, Some(data("c")));
    let operations = serde_json::from_value(json!([{"op": "replace", "path": "/data/key", "value": "d"}])).unwrap();
    assert_eq!(client.patch::<ConfigMap>(one, &Patch::Json(operations)).await.unwrap().data, Some(data("d")));
    let applied = client.apply(&map(&fixture, "one", "e")).await.unwrap();
    assert_eq!(applied.data, Some(data("e")));

    let list = client.list::<ConfigMap>(&ListOptions::in_namespace(fixture.namespace())).await.unwrap();
    assert_eq!(list.items.iter().map(ObjectExt::key).collect::<Vec<_>>(), [one.into()]);
    let deletion = client.delete::<ConfigMap>(one).await.unwrap();
    assert_eq!((deletion.uid(), deletion.is_pending()), (created.metadata.uid.as_deref(), false));
    assert_eq!(client.get_opt::<ConfigMap>(one).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn an_unstructured_object_has_the_same_verbs() {
    let fixture = Fixture::start("unstructured").await;
    fixture.install_widgets().await;
    let api = fixture.env().client().api(widgets(&fixture));
    let one = (fixture.namespace(), "one");
    let created = api.create(&widget(&fixture, &json!({"color": "red"}))).await.unwrap();
    assert_eq!(created.data["spec"], json!({"color": "red", "replicas": 1}));

    let status =
        api.change_status_of(&created, |widget| widget.data["status"] = json!({"phase": "New"})).await.unwrap();
    assert_eq!(status.data["status"], json!({"phase": "New"}));
    let same = api.change_status_of(&status, |widget| widget.data["status"]["phase"] = "New".into()).await.unwrap();
    assert_eq!(same.metadata.resource_version, status.metadata.resource_version, "no change is no write");
    api.scale(one, 4).await.unwrap();
    assert_eq!(api.get(one).await.unwrap().data["spec"]["replicas"], 4);
    assert!(!api.delete(one).await.unwrap().is_pending());
    fixture.stop().await;
}

#[tokio::test]
async fn errors_have_classes() {
    let fixture = Fixture::start("classes").await;
    let client = fixture.env().client();
    let namespace = fixture.namespace().to_owned();
    let created = client.create(&map(&fixture, "one", "a")).await.unwrap();
    client.update(&map(&fixture, "one", "b")).await.unwrap();

    let conflict = client.update(&created).await.unwrap_err();
    assert_eq!(conflict.class(), ErrorClass::Conflict);
    assert!(conflict.to_string().contains(&format!("{namespace}/one")), "{conflict}");
    let exists = client.create(&map(&fixture, "one", "a")).await.unwrap_err();
    assert_eq!(exists.class(), ErrorClass::AlreadyExists);
    let absent = client.get::<ConfigMap>((&*namespace, "absent")).await.unwrap_err();
    assert_eq!(absent.class(), ErrorClass::NotFound);
    let invalid = client.create(&map(&fixture, "Upper", "a")).await.unwrap_err();
    assert_eq!(invalid.class(), ErrorClass::Invalid);
    let unknown = client.api(widgets(&fixture)).get((&*namespace, "one")).await.unwrap_err();
    assert_eq!(unknown.class(), ErrorClass::KindNotServed);
    let precondition = DeleteOptions::new().uid("00000000-0000-4000-8000-000000000000");
    let other = client.api(Kind::<ConfigMap>::typed()).delete_with((&*namespace, "one"), &precondition).await;
    assert_eq!(other.unwrap_err().class(), ErrorClass::Conflict);
    fixture.stop().await;
}

#[tokio::test]
async fn apply_takes_fields_unless_told_to_keep_conflicts() {
    let fixture = Fixture::start("managers").await;
    let client = fixture.env().client();
    let (first, second) = (client.clone().with_field_manager("first"), client.with_field_manager("second"));
    first.apply(&map(&fixture, "one", "a")).await.unwrap();
    let kept = second.clone().keep_conflicts().apply(&map(&fixture, "one", "b")).await.unwrap_err();
    assert_eq!(kept.class(), ErrorClass::Conflict);
    assert!(kept.to_string().contains("conflict with \"first\": .data.key"), "{kept}");
    assert_eq!(second.apply(&map(&fixture, "one", "b")).await.unwrap().data, Some(data("b")));
    fixture.stop().await;
}

#[tokio::test]
async fn a_dry_run_client_changes_nothing() {
    let fixture = Fixture::start("dry-client").await;
    let client = fixture.env().client();
    let dry = client.clone().dry_run();
    assert_eq!(dry.create(&map(&fixture, "one", "a")).await.unwrap().data, Some(data("a")));
    assert_eq!(client.get_opt::<ConfigMap>((fixture.namespace(), "one")).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn conflicts_are_tried_again() {
    let fixture = Fixture::start("retry").await;
    let client = fixture.env().client();
    client.create(&map(&fixture, "one", "0")).await.unwrap();
    let add = async || {
        retry_on_conflict(client.ambient(), || async {
            let mut map = client.get::<ConfigMap>((fixture.namespace(), "one")).await?;
            let count = map.data.as_ref().and_then(|data| data["key"].parse::<u32>().ok()).unwrap_or_default();
            map.data = Some(data(&(count + 1).to_string()));
            client.update(&map).await
        })
        .await
        .unwrap();
    };
    futures::join!(add(), add(), add());
    assert_eq!(client.get::<ConfigMap>((fixture.namespace(), "one")).await.unwrap().data, Some(data("3")));
    fixture.stop().await;
}

#[tokio::test]
async fn b46_create_or_update_writes_only_a_change() {
    let fixture = Fixture::start("upsert").await;
    let client = fixture.env().client();
    let run = async |value: &str| {
        let start = map(&fixture, "one", "");
        let (_, done) = client
            .create_or_update(start, |map| {
                map.data = Some(data(value));
                Ok(())
            })
            .await
            .unwrap();
        done
    };
    assert_eq!([run("a").await, run("a").await, run("b").await], [Upsert::Created, Upsert::Unchanged, Upsert::Updated]);
    fixture.stop().await;
}

#[tokio::test]
async fn owned_objects_name_their_owner() {
    let fixture = Fixture::start("owned").await;
    let client = fixture.env().client();
    let owner = client.create(&map(&fixture, "owner", "a")).await.unwrap();
    let child = client.apply(&map(&fixture, "child", "a").owned_by(&owner).unwrap()).await.unwrap();
    let references = child.metadata.owner_references.unwrap();
    assert_eq!(references.len(), 1);
    let reference = &references[0];
    assert_eq!(
        (&reference.api_version, &reference.kind, &reference.name),
        (&"v1".into(), &"ConfigMap".into(), &"owner".into())
    );
    assert_eq!((Some(&reference.uid), reference.controller), (owner.metadata.uid.as_ref(), Some(true)));
    fixture.stop().await;
}

#[tokio::test]
async fn lists_come_in_pages() {
    let fixture = Fixture::start("pages").await;
    let client = fixture.env().client();
    for index in 0..5 {
        client.create(&map(&fixture, &format!("map-{index}"), "a")).await.unwrap();
    }
    let options = ListOptions::in_namespace(fixture.namespace()).fields("metadata.name!=kube-root-ca.crt");
    let all = client.list::<ConfigMap>(&options).await.unwrap();
    let mut page = options.clone().limit(2);
    let mut paged = Vec::new();
    loop {
        let next = client.list::<ConfigMap>(&page).await.unwrap();
        assert!(next.items.len() <= 2);
        paged.extend(next.items);
        page.continue_token = next.continue_token;
        if page.continue_token.is_none() {
            break;
        }
    }
    assert_eq!(paged, all.items);
    assert_eq!(paged.len(), 5);
    fixture.stop().await;
}

#[tokio::test]
async fn a_watch_tells_every_change() {
    let fixture = Fixture::start("watch").await;
    let client = fixture.env().client();
    let api = client.api(Kind::<ConfigMap>::typed());
    let fields = "metadata.name=one".to_owned();
    let list = client.list::<ConfigMap>(&ListOptions::in_namespace(fixture.namespace())).await.unwrap();
    let mut options = WatchOptions::default();
    options.namespace = Some(fixture.namespace().to_owned());
    options.fields = Some(fields);
    options.resource_version = Some(list.resource_version);
    let mut stream = api.watch(&options).await.unwrap();
    client.create(&map(&fixture, "other", "a")).await.unwrap();
    client.create(&map(&fixture, "one", "a")).await.unwrap();
    client.update(&map(&fixture, "one", "b")).await.unwrap();
    client.delete::<ConfigMap>((fixture.namespace(), "one")).await.unwrap();

    let mut seen = Vec::new();
    while seen.len() < 3 {
        let frame = stream.next().await.unwrap().unwrap();
        if frame.event != WatchEventType::Bookmark {
            seen.push((frame.event, api.decode(&frame.object).unwrap().data.unwrap()));
        }
    }
    let expected = [
        (WatchEventType::Added, data("a")),
        (WatchEventType::Modified, data("b")),
        (WatchEventType::Deleted, data("b")),
    ];
    assert_eq!(seen, expected);
    fixture.stop().await;
}

#[tokio::test]
async fn built_in_defaults_are_the_servers() {
    let fixture = Fixture::start("defaults").await;
    let client = fixture.env().client();
    let deployment = json!({
        "metadata": {"name": "web", "namespace": fixture.namespace()},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        }},
    });
    let deployment = serde_json::from_value::<Deployment>(deployment).unwrap();
    let spec = client.create(&deployment).await.unwrap().spec;
    assert_eq!(
        (spec.replicas, spec.progress_deadline_seconds, spec.revision_history_limit),
        (Some(1), Some(600), Some(10))
    );
    let pod = spec.template.spec.unwrap();
    assert_eq!((pod.restart_policy.as_deref(), pod.dns_policy.as_deref()), (Some("Always"), Some("ClusterFirst")));
    let policy = pod.containers[0].image_pull_policy.as_deref();
    assert_eq!(policy, Some("IfNotPresent"));
    fixture.stop().await;
}

#[tokio::test]
async fn an_unreachable_server_is_transient_and_named() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let config = kube_client::Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
    let options = ClientOptions::builder().timeout(std::time::Duration::from_secs(2)).build();
    let client = Client::from_config(config, options).unwrap();
    let error = client.get::<ConfigMap>(("default", "one")).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Transient { retry_after: None });
    assert!(error.to_string().contains("default/one"), "{error}");
}
