//! One object and what belongs to it: finalizers, status, owners, field managers, create-or-change.

use std::sync::Arc;

use controller_runtime_ambient::CancellationToken;
use controller_runtime_cache::{Cache, CacheOptions, DelegatingClient};
use controller_runtime_client::{
    Api, Client, ClientError, ErrorClass, Finalization, Finalizers, OwnedBy, OwnerError, Patch, RequestProblem, Upsert,
    child_label, child_name, controller_of, set_owner_reference,
};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectExt, Scope, Unstructured};
use integration_tests::Fixture;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde_json::{Value, json};

const HOLD: &str = "it.controller-runtime.dev/hold";

fn meta(fixture: &Fixture, name: &str) -> ObjectMeta {
    let (namespace, name) = (Some(fixture.namespace().to_owned()), Some(name.to_owned()));
    ObjectMeta { namespace, name, ..ObjectMeta::default() }
}

fn map(fixture: &Fixture, name: &str, value: &str) -> ConfigMap {
    let data = Some([("key".to_owned(), value.to_owned())].into());
    ConfigMap { metadata: meta(fixture, name), data, ..ConfigMap::default() }
}

fn deployment(fixture: &Fixture, name: &str) -> Deployment {
    let deployment = json!({
        "metadata": {"name": name, "namespace": fixture.namespace()},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        }},
    });
    serde_json::from_value(deployment).unwrap()
}

async fn widgets(fixture: &Fixture) -> Api<Unstructured> {
    fixture.install_widgets().await;
    let kind = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    let kind = Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, "widgets"), Scope::Namespaced);
    fixture.env().client().api(kind)
}

fn widget(fixture: &Fixture, api: &Api<Unstructured>, data: Value) -> Unstructured {
    let mut object = Unstructured::new("one", api.kind().resource()).data(data);
    object.metadata.namespace = Some(fixture.namespace().to_owned());
    object
}

#[tokio::test]
async fn b24_a_finalizer_holds_an_object_until_the_last_one_goes() {
    let fixture = Fixture::start("b24").await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let one = (fixture.namespace(), "one");
    let created = maps.create(&map(&fixture, "one", "a")).await.unwrap();
    let held = maps.add_finalizer(&created, HOLD).await.unwrap();
    let twice = maps.add_finalizer(&held, "it.controller-runtime.dev/second").await.unwrap();

    let deletion = maps.delete(one).await.unwrap();
    assert!(deletion.is_pending());
    let deleting = maps.get(one).await.unwrap();
    assert!(deleting.is_deleting());
    assert_eq!(deleting.metadata.uid, twice.metadata.uid);
    let stale = maps.remove_finalizer(&held, HOLD).await.unwrap_err();
    assert_eq!(stale.class(), ErrorClass::Conflict);
    let fewer = maps.remove_finalizer(&deleting, HOLD).await.unwrap();
    assert_eq!(maps.get(one).await.unwrap(), fewer);
    maps.remove_finalizer(&fewer, "it.controller-runtime.dev/second").await.unwrap();
    assert_eq!(maps.get_opt(one).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn b25_a_deletion_timestamp_cannot_be_changed() {
    let fixture = Fixture::start("b25").await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let one = (fixture.namespace(), "one");
    let mut object = map(&fixture, "one", "a");
    let early = Time("2020-01-01T00:00:00Z".parse().unwrap());
    object.metadata.deletion_timestamp = Some(early.clone());
    object.metadata.finalizers = Some(vec![HOLD.to_owned()]);
    let created = maps.create(&object).await.unwrap();
    assert!(!created.is_deleting(), "a client cannot set it at creation");
    let mut set = created.clone();
    set.metadata.deletion_timestamp = Some(early.clone());
    let refused = maps.update(&set).await.unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Invalid);
    assert_eq!(refused.status().unwrap().details.clone().unwrap().causes[0].field, "metadata.deletionTimestamp");

    maps.delete(one).await.unwrap();
    let deleting = maps.get(one).await.unwrap();
    // Once the server has set it, it stays, whatever is sent.
    let mut last = deleting.clone();
    for timestamp in [Some(early), None] {
        last.metadata.deletion_timestamp = timestamp;
        last = maps.update(&last).await.unwrap();
        assert_eq!(last.metadata.deletion_timestamp, deleting.metadata.deletion_timestamp);
    }
    let mut longer = last.clone();
    longer.metadata.deletion_grace_period_seconds = Some(30);
    assert_eq!(maps.update(&longer).await.unwrap_err().class(), ErrorClass::Invalid);
    maps.remove_finalizer(&last, HOLD).await.unwrap();
    fixture.stop().await;
}

#[tokio::test]
async fn b26_an_update_never_changes_status_and_a_status_update_nothing_else() {
    let fixture = Fixture::start("b26").await;
    let api = widgets(&fixture).await;
    let one = (fixture.namespace(), "one");
    let created =
        api.create(&widget(&fixture, &api, json!({"spec": {"color": "red"}, "status": {"phase": "X"}}))).await.unwrap();
    assert_eq!(created.data.get("status"), None);

    let mut both = created.clone();
    both.metadata.labels = Some([("l".to_owned(), "1".to_owned())].into());
    both.data = json!({"spec": {"color": "green"}, "status": {"phase": "Y"}});
    let updated = api.update(&both).await.unwrap();
    assert_eq!((&updated.data["spec"]["color"], updated.data.get("status")), (&json!("green"), None));

    let mut all = updated.clone();
    all.metadata.labels = Some([("l".to_owned(), "2".to_owned())].into());
    all.metadata.annotations = Some([("a".to_owned(), "1".to_owned())].into());
    all.metadata.finalizers = Some(vec![HOLD.to_owned()]);
    all.data = json!({"spec": {"color": "blue"}, "status": {"phase": "Z"}});
    let status = api.update_status(&all).await.unwrap();
    assert_eq!((&status.data["spec"], &status.data["status"]), (&updated.data["spec"], &json!({"phase": "Z"})));
    assert_eq!(status.metadata.labels, updated.metadata.labels);
    assert_eq!((&status.metadata.annotations, &status.metadata.finalizers), (&None, &None));

    let patched = api.patch(one, &Patch::Merge(json!({"status": {"phase": "NO"}}))).await.unwrap();
    assert_eq!(patched, status, "nothing was changed, not even the version");
    let both = Patch::Merge(json!({"spec": {"color": "red"}, "status": {"phase": "W"}}));
    let patched = api.patch_status(one, &both).await.unwrap();
    assert_eq!((&patched.data["spec"], &patched.data["status"]["phase"]), (&updated.data["spec"], &json!("W")));
    fixture.stop().await;
}

#[tokio::test]
async fn b28_apply_without_a_field_owner_is_an_error() {
    let fixture = Fixture::start("b28").await;
    let nameless = Client::new(fixture.env().kube_client(), controller_runtime_client::ClientOptions::new());
    let one = map(&fixture, "one", "a");
    let error = nameless.apply(&one).await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused { problem: RequestProblem::MissingFieldManager, .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::Terminal);
    let status = nameless.apply_status(&one).await.unwrap_err();
    assert!(matches!(&status, ClientError::Refused { problem: RequestProblem::MissingFieldManager, .. }), "{status}");
    assert_eq!(nameless.get_opt::<ConfigMap>((fixture.namespace(), "one")).await.unwrap(), None);
    nameless.with_field_manager("someone").apply(&one).await.unwrap();
    fixture.stop().await;
}

#[tokio::test]
async fn b30_a_read_sees_the_write_before_it_and_finds_nothing_after_a_delete() {
    let fixture = Fixture::start("b30").await;
    let cache = Cache::new(fixture.env().client(), CacheOptions::builder().namespaces([fixture.namespace()]).build());
    let cancel = CancellationToken::new();
    let run = {
        let (cache, cancel) = (cache.clone(), cancel.clone());
        async move { cache.run(cancel).await }
    };
    let task = fixture.env().ambient().spawn("cache", run);
    let client = DelegatingClient::new(fixture.env().client(), cache);
    for round in 0..5 {
        let name = format!("map-{round}");
        let one = (fixture.namespace(), name.as_str());
        let created = client.create(&map(&fixture, &name, "a")).await.unwrap();
        assert_eq!(*client.get::<ConfigMap>(one).await.unwrap(), created);
        let updated = client.update(&ConfigMap { data: None, ..created }).await.unwrap();
        assert_eq!(*client.get::<ConfigMap>(one).await.unwrap(), updated);
        if round % 2 == 0 {
            // Never read before it goes: the cache may not even know it.
            let unseen = client.create(&map(&fixture, "unseen", "a")).await.unwrap();
            client.delete::<ConfigMap>(&unseen.key()).await.unwrap();
            assert_eq!(client.get_opt::<ConfigMap>(unseen.key()).await.unwrap(), None);
            client.delete::<ConfigMap>(one).await.unwrap();
            assert_eq!(client.get_opt::<ConfigMap>(one).await.unwrap(), None);
            assert!(client.get::<ConfigMap>(one).await.unwrap_err().is_not_found());
        }
    }
    cancel.cancel();
    task.join().await.unwrap().unwrap();
    fixture.stop().await;
}

#[tokio::test]
async fn b45_an_object_has_one_controller_of_its_own_namespace() {
    let fixture = Fixture::start("b45").await;
    let client = fixture.env().client();
    let web = client.create(&deployment(&fixture, "web")).await.unwrap();
    let api = client.create(&deployment(&fixture, "api")).await.unwrap();
    let owned = client.create(&map(&fixture, "child", "a").owned_by(&web).unwrap()).await.unwrap();

    let taken = owned.clone().owned_by(&api).unwrap_err();
    assert!(matches!(&taken, OwnerError::AlreadyOwned { controller, .. } if controller == "Deployment web"), "{taken}");
    let mut elsewhere = map(&fixture, "child", "a");
    elsewhere.metadata.namespace = Some("default".to_owned());
    assert!(matches!(elsewhere.owned_by(&web).unwrap_err(), OwnerError::OtherNamespace { .. }));
    let mut cluster_scoped = Namespace::default();
    cluster_scoped.metadata.name = Some("any".to_owned());
    assert!(matches!(cluster_scoped.owned_by(&web).unwrap_err(), OwnerError::OtherNamespace { .. }));
    let never_created = deployment(&fixture, "web");
    assert!(matches!(owned.clone().owned_by(&never_created).unwrap_err(), OwnerError::NoUid { .. }));

    // Another version of the owner's API is the same owner, and the server keeps one reference.
    let mut older = owned.clone();
    older.metadata.owner_references.as_mut().unwrap()[0].api_version = "apps/v1beta1".to_owned();
    let older = client.update(&older).await.unwrap();
    let newer = client.update(&older.owned_by(&web).unwrap()).await.unwrap();
    let references = newer.metadata.owner_references.clone().unwrap();
    assert_eq!((references.len(), references[0].api_version.as_str()), (1, "apps/v1"));
    assert_eq!(controller_of(&newer).map(|controller| &controller.uid), web.metadata.uid.as_ref());

    // A second owner that doesn't control is welcome.
    let mut shared = newer;
    set_owner_reference(&mut shared, &api, &Kind::typed()).unwrap();
    let shared = client.update(&shared).await.unwrap();
    assert_eq!(shared.metadata.owner_references.unwrap().len(), 2);
    fixture.stop().await;
}

#[tokio::test]
async fn b46_create_or_update_tells_what_it_did_and_refuses_a_new_name() {
    let fixture = Fixture::start("b46").await;
    let client = fixture.env().client();
    let run = async |value: &str| {
        let set = |object: &mut ConfigMap| {
            object.data = Some([("key".to_owned(), value.to_owned())].into());
            Ok(())
        };
        client.create_or_update(map(&fixture, "one", ""), set).await.unwrap()
    };
    let (created, done) = run("a").await;
    assert_eq!(done, Upsert::Created);
    let (same, done) = run("a").await;
    assert_eq!((&same.metadata.resource_version, done), (&created.metadata.resource_version, Upsert::Unchanged));
    let (updated, done) = run("b").await;
    assert_eq!((updated.data.unwrap()["key"].as_str(), done), ("b", Upsert::Updated));

    for (name, namespace) in [("two", fixture.namespace()), ("one", "default")] {
        let rename = |object: &mut ConfigMap| {
            object.metadata.name = Some(name.to_owned());
            object.metadata.namespace = Some(namespace.to_owned());
            Ok(())
        };
        for start in ["one", "absent"] {
            if (start, namespace) == (name, fixture.namespace()) {
                continue;
            }
            let error = client.create_or_update(map(&fixture, start, ""), rename).await.unwrap_err();
            assert!(matches!(error, ClientError::Refused { problem: RequestProblem::Renamed(_), .. }), "{error}");
            let error = client.create_or_patch(map(&fixture, start, ""), rename).await.unwrap_err();
            assert!(matches!(error, ClientError::Refused { problem: RequestProblem::Renamed(_), .. }), "{error}");
        }
    }
    assert_eq!(client.get_opt::<ConfigMap>((fixture.namespace(), "two")).await.unwrap(), None);
    assert_eq!(client.get_opt::<ConfigMap>((fixture.namespace(), "absent")).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn b46_create_or_patch_writes_object_and_status() {
    let fixture = Fixture::start("b46-patch").await;
    let api = widgets(&fixture).await;
    let run = async |color: &str, phase: &str| {
        let start = widget(&fixture, &api, json!({"spec": {}}));
        let set = |object: &mut Unstructured| {
            object.data["spec"]["color"] = color.into();
            if !phase.is_empty() {
                object.data["status"] = json!({"phase": phase});
            }
            Ok(())
        };
        let (object, done) = api.create_or_patch(start, set).await.unwrap();
        (done, object.data["spec"]["color"].clone(), object.data["status"]["phase"].clone())
    };
    for (color, phase, expected) in [
        ("red", "", Upsert::Created),
        ("red", "", Upsert::Unchanged),
        ("green", "", Upsert::Updated),
        ("green", "New", Upsert::StatusUpdated),
        ("blue", "Old", Upsert::UpdatedWithStatus),
        ("blue", "Old", Upsert::Unchanged),
    ] {
        let phase_after = if phase.is_empty() { Value::Null } else { phase.into() };
        assert_eq!(run(color, phase).await, (expected, color.into(), phase_after));
    }
    fixture.stop().await;
}

#[tokio::test]
async fn writers_of_conditions_at_the_same_time_lose_nothing() {
    let fixture = Fixture::start("conditions").await;
    let api = fixture.env().client().api(Kind::<Deployment>::typed());
    let created = api.create(&deployment(&fixture, "web")).await.unwrap();
    let add = async |name: &str| {
        let condition = json!({"type": name, "status": "True"});
        let condition = serde_json::from_value(condition).unwrap();
        let change = |object: &mut Deployment| {
            object.status.get_or_insert_default().conditions.get_or_insert_default().push(condition);
        };
        // Each starts from the same, soon stale, object.
        api.change_status_of(&created, change).await.unwrap();
    };
    futures::join!(add("First"), add("Second"), add("Third"), add("Fourth"));
    let conditions = api.get((fixture.namespace(), "web")).await.unwrap().status.unwrap().conditions.unwrap();
    let mut names: Vec<_> = conditions.into_iter().filter_map(|condition| condition.type_).collect();
    names.sort();
    assert_eq!(names, ["First", "Fourth", "Second", "Third"]);
    fixture.stop().await;
}

#[tokio::test]
async fn registered_finalizers_come_and_go() {
    let fixture = Fixture::start("registry").await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let one = (fixture.namespace(), "one");
    let finalizers = Finalizers::new()
        .register("it.controller-runtime.dev/first", |_: Arc<ConfigMap>| async { Ok(Finalization::Done) })
        .register("it.controller-runtime.dev/second", |object: Arc<ConfigMap>| async move {
            let released = object.metadata.labels.iter().flatten().any(|(key, _)| key == "released");
            Ok(if released { Finalization::Done } else { Finalization::Pending })
        });
    let created = maps.create(&map(&fixture, "one", "a")).await.unwrap();
    let (held, done) = maps.finalize(&created, &finalizers).await.unwrap();
    assert_eq!(done.added, ["it.controller-runtime.dev/first", "it.controller-runtime.dev/second"]);
    let (same, done) = maps.finalize(&held, &finalizers).await.unwrap();
    assert_eq!((same, done.is_changed()), (held, false));

    maps.delete(one).await.unwrap();
    let (waits, done) = maps.finalize(&maps.get(one).await.unwrap(), &finalizers).await.unwrap();
    assert_eq!((done.removed.len(), done.pending.len()), (1, 1));
    assert_eq!(waits.metadata.finalizers.unwrap(), ["it.controller-runtime.dev/second"]);
    let released = Patch::Merge(json!({"metadata": {"labels": {"released": ""}}}));
    let released = maps.patch(one, &released).await.unwrap();
    let (_, done) = maps.finalize(&released, &finalizers).await.unwrap();
    assert_eq!(done.removed, ["it.controller-runtime.dev/second"]);
    assert_eq!(maps.get_opt(one).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn child_names_are_accepted_and_found_again() {
    let fixture = Fixture::start("child-names").await;
    let client = fixture.env().client();
    let long = "A.very_long-name.".repeat(30);
    for prefix in ["web", "Web.Example_1", "-.-", &long] {
        let secret = Secret { metadata: meta(&fixture, &child_name(prefix, "run-1")), ..Secret::default() };
        client.create(&secret).await.unwrap();
        assert!(client.create(&secret).await.unwrap_err().is_already_exists(), "{prefix}");
        let label = format!("x{}", child_label(prefix, "run-1"));
        let service = json!({"metadata": {}, "spec": {"ports": [{"port": 80}]}});
        let mut service: Service = serde_json::from_value(service).unwrap();
        service.metadata = meta(&fixture, &label[..label.len().min(63)]);
        client.create(&service).await.unwrap();
    }
    fixture.stop().await;
}
