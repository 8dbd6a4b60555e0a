//! Versions, uids and preconditions through the client: what a write that comes too late is told, and what it leaves.

use controller_runtime_client::{Api, ClientError, DeleteOptions, Deletion, ErrorClass, Patch};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, Scope, Unstructured};
use integration_tests::Fixture;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

const NO_UID: &str = "00000000-0000-4000-8000-000000000000";

/// The client of the fixture's widgets, whose kind has no unconditional update.
async fn widgets(fixture: &Fixture) -> Api<Unstructured> {
    fixture.install_widgets().await;
    let kind = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    let kind = Kind::dynamic(ApiResource::from_gvk_with_plural(&kind, "widgets"), Scope::Namespaced);
    fixture.env().client().api(kind)
}

fn widget(fixture: &Fixture, api: &Api<Unstructured>, color: &str) -> Unstructured {
    let mut object = Unstructured::new("a", api.kind().resource()).data(json!({"spec": {"color": color}}));
    object.metadata.namespace = Some(fixture.namespace().to_owned());
    object
}

fn map(fixture: &Fixture, value: &str) -> ConfigMap {
    let metadata = json!({"name": "a", "namespace": fixture.namespace()});
    serde_json::from_value(json!({"metadata": metadata, "data": {"key": value}})).unwrap()
}

fn painted(object: &Unstructured, color: &str) -> Unstructured {
    let mut painted = object.clone();
    painted.data["spec"]["color"] = color.into();
    painted
}

fn paint(color: &str) -> Patch {
    Patch::Merge(json!({"spec": {"color": color}}))
}

/// Code and reason of the server's refusal.
fn refusal(error: &ClientError) -> (u16, &str) {
    let status = error.status().unwrap_or_else(|| panic!("{error}"));
    (status.code, &status.reason)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ClientError>, code: u16, reason: &str) -> ClientError {
    let error = result.unwrap_err();
    assert_eq!(refusal(&error), (code, reason), "{error}");
    error
}

#[tokio::test]
async fn o04_late_writes_are_conflicts_and_change_nothing() {
    let fixture = Fixture::start("o04").await;
    let api = widgets(&fixture).await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let a = (fixture.namespace(), "a");
    let current = api.create(&widget(&fixture, &api, "red")).await.unwrap();
    let old = current.metadata.resource_version.clone().unwrap();
    let live = api.patch(a, &paint("green")).await.unwrap();
    let unchanged = async |step: &str| assert_eq!(api.get(a).await.unwrap(), live, "{step}");

    refused(api.update(&painted(&current, "blue")).await, 409, "Conflict");
    unchanged("a stale version").await;
    let mut unconditional = painted(&live, "blue");
    unconditional.metadata.resource_version = None;
    let invalid = refused(api.update(&unconditional).await, 422, "Invalid");
    let details = invalid.status().unwrap().details.clone().unwrap();
    assert_eq!(details.causes[0].field, "metadata.resourceVersion");
    assert!(details.causes[0].message.contains("must be specified for an update"), "{details:?}");
    unchanged("no version").await;

    maps.create(&map(&fixture, "1")).await.unwrap();
    assert_eq!(maps.update(&map(&fixture, "2")).await.unwrap().data.unwrap()["key"], "2");

    let tied = Patch::Merge(json!({"metadata": {"resourceVersion": old}, "spec": {"color": "blue"}}));
    refused(api.patch(a, &tied).await, 409, "Conflict");
    unchanged("a patch with a stale version").await;
    let mut other = painted(&live, "blue");
    other.metadata.uid = Some(NO_UID.to_owned());
    refused(api.update(&other).await, 409, "Conflict");
    unchanged("another uid").await;
    let mut absent = painted(&live, "blue");
    absent.metadata.name = Some("absent".to_owned());
    refused(api.update(&absent).await, 404, "NotFound");

    refused(api.delete_with(a, &DeleteOptions::new().uid(NO_UID)).await, 409, "Conflict");
    refused(api.delete_with(a, &DeleteOptions::new().resource_version(&old)).await, 409, "Conflict");
    unchanged("preconditions").await;

    // A patch without a version is unconditional.
    assert_eq!(api.patch(a, &paint("blue")).await.unwrap().data["spec"]["color"], "blue");
    let uid = live.metadata.uid.clone().unwrap();
    let deletion = api.delete_with(a, &DeleteOptions::new().uid(&uid)).await.unwrap();
    assert_eq!(deletion.uid(), Some(uid.as_str()));
    assert!(matches!(deletion, Deletion::Gone(status) if status.is_success()), "a status that says success");
    refused(api.delete(a).await, 404, "NotFound");
    fixture.stop().await;
}

#[tokio::test]
async fn b22_a_stale_version_conflicts_and_an_empty_one_is_for_kinds_with_unconditional_update() {
    let fixture = Fixture::start("b22").await;
    let api = widgets(&fixture).await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let first = maps.create(&map(&fixture, "1")).await.unwrap();
    let mut second = first.clone();
    second.data.as_mut().unwrap().insert("key".to_owned(), "2".to_owned());
    maps.update(&second).await.unwrap();
    let conflict = refused(maps.update(&second).await, 409, "Conflict");
    assert_eq!(conflict.class(), ErrorClass::Conflict);
    for version in [None, Some(String::new())] {
        second.metadata.resource_version = version;
        maps.update(&second).await.unwrap();
    }

    let created = api.create(&widget(&fixture, &api, "red")).await.unwrap();
    for version in [None, Some(String::new())] {
        let mut unconditional = painted(&created, "blue");
        unconditional.metadata.resource_version = version;
        let invalid = refused(api.update(&unconditional).await, 422, "Invalid");
        assert_eq!((invalid.class(), invalid.class().is_retryable()), (ErrorClass::Invalid, false));
    }
    assert_eq!(api.get((fixture.namespace(), "a")).await.unwrap(), created);
    fixture.stop().await;
}

#[tokio::test]
async fn b23_a_create_with_a_version_fails_and_leaves_the_callers_object() {
    let fixture = Fixture::start("b23").await;
    let client = fixture.env().client();
    let mut object = map(&fixture, "1");
    object.metadata.resource_version = Some("5".to_owned());
    let before = object.clone();
    let error = refused(client.create(&object).await, 500, "");
    assert!(error.to_string().ends_with("resourceVersion should not be set on objects to be created"), "{error}");
    assert_eq!(object, before);
    assert_eq!(client.get_opt::<ConfigMap>((fixture.namespace(), "a")).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn b27_a_wrong_precondition_is_a_conflict() {
    let fixture = Fixture::start("b27").await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let a = (fixture.namespace(), "a");
    let created = maps.create(&map(&fixture, "1")).await.unwrap();
    let updated = maps.update(&map(&fixture, "2")).await.unwrap();
    let (uid, old) = (created.metadata.uid.unwrap(), created.metadata.resource_version.unwrap());
    let new = updated.metadata.resource_version.clone().unwrap();
    for wrong in [
        DeleteOptions::new().uid(NO_UID),
        DeleteOptions::new().resource_version(&old),
        DeleteOptions::new().uid(&uid).resource_version(&old),
        DeleteOptions::new().uid(NO_UID).resource_version(&new),
    ] {
        let conflict = refused(maps.delete_with(a, &wrong).await, 409, "Conflict");
        assert_eq!(conflict.class(), ErrorClass::Conflict);
        assert_eq!(maps.get(a).await.unwrap(), updated, "{wrong:?}");
    }
    maps.delete_with(a, &DeleteOptions::new().uid(&uid).resource_version(&new)).await.unwrap();
    assert_eq!(maps.get_opt(a).await.unwrap(), None);
    fixture.stop().await;
}

#[tokio::test]
async fn b29_an_optimistic_lock_is_tied_to_the_version_it_was_given() {
    let fixture = Fixture::start("b29").await;
    let maps = fixture.env().client().api(Kind::<ConfigMap>::typed());
    let a = (fixture.namespace(), "a");
    let created = maps.create(&map(&fixture, "1")).await.unwrap();
    let json_patch = |value: Value| {
        let operation = json!([{"op": "replace", "path": "/data/key", "value": value}]);
        Patch::Json(serde_json::from_value(operation).unwrap())
    };
    let patches = |value: &str| {
        let change = json!({"data": {"key": value}});
        [Patch::Merge(change.clone()), Patch::Strategic(change), json_patch(value.into())]
    };
    let unread = map(&fixture, "1");
    let mut last = created.clone();
    for (round, patch) in patches("2").into_iter().enumerate() {
        let error = patch.clone().with_optimistic_lock(maps.kind(), &unread).unwrap_err();
        assert!(error.to_string().ends_with("the object has no resourceVersion to guard the change with"), "{error}");
        let touched = maps.patch(a, &Patch::Merge(json!({"data": {"round": round.to_string()}}))).await.unwrap();
        let late = patch.clone().with_optimistic_lock(maps.kind(), &last).unwrap();
        refused(maps.patch(a, &late).await, 409, "Conflict");
        assert_eq!(maps.get(a).await.unwrap(), touched);
        let timely = patch.with_optimistic_lock(maps.kind(), &touched).unwrap();
        last = maps.patch(a, &timely).await.unwrap();
        assert_eq!(last.data.as_ref().unwrap()["key"], "2");
    }
    fixture.stop().await;
}
