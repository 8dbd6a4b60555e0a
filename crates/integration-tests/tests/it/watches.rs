//! What a controller watches besides its own kind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc as blocking};

use controller_runtime_controller::{Controller, Event, Watch, handler, predicate, source};
use controller_runtime_scheme::{ObjectExt, ObjectKey};
use integration_tests::Fixture;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::json;
use tokio::sync::mpsc;

use crate::controller::Running;
use crate::owners::{Tell, next, quiet};

fn secret(fixture: &Fixture, name: &str, users: &str) -> Secret {
    let metadata = json!({"name": name, "namespace": fixture.namespace(), "annotations": {"users": users}});
    serde_json::from_value(json!({"metadata": metadata})).unwrap()
}

/// The objects that a secret's annotation names.
fn users(secret: &Secret) -> Vec<ObjectKey> {
    let Some(users) = secret.metadata.annotations.as_ref().and_then(|annotations| annotations.get("users")) else {
        return Vec::new();
    };
    users.split_whitespace().map(ObjectKey::cluster).collect()
}

/// Only the secrets of this test.
fn ours() -> impl predicate::Predicate<Secret> {
    |event: &Event<Secret>| event.objects().any(|secret| !users(secret).is_empty())
}

#[tokio::test]
async fn b36_a_map_function_sees_both_sides_of_an_update_and_each_key_counts_once() {
    let fixture = Fixture::start("map-function").await;
    let client = fixture.env().client();
    client.create(&secret(&fixture, "one", "a b")).await.unwrap();
    let (told, mut receiver) = mpsc::unbounded_channel();
    let running = Running::start(&fixture, |manager| {
        Controller::for_keys("users")
            .watches_mapped(Watch::<Secret>::new().with_predicate(ours()), |secret, _| users(secret))
            .run(Tell { name: "user", told }, manager)
            .unwrap();
    })
    .await;
    let mut check = async |expected: &[&str]| {
        for expected in expected {
            assert_eq!(next(&mut receiver).await, format!("user {expected}"));
        }
        quiet(&mut receiver).await;
    };
    check(&["a", "b"]).await;
    client.update(&secret(&fixture, "one", "b c")).await.unwrap();
    check(&["a", "b", "c"]).await;
    client.delete::<Secret>((fixture.namespace(), "one")).await.unwrap();
    check(&["b", "c"]).await;
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_that_is_stuck_or_panics_delays_nobody_else() {
    let fixture = Fixture::start("stuck-handler").await;
    let client = fixture.env().client();
    let (told, mut receiver) = mpsc::unbounded_channel();
    let (release, gate) = blocking::channel::<()>();
    let (gate, calls) = (parking_lot::Mutex::new(gate), Arc::new(AtomicUsize::new(0)));
    let running = Running::start(&fixture, |manager| {
        let watch = || Watch::<Secret>::new().with_predicate(ours());
        let tell = |name| Tell { name, told: told.clone() };
        let counted = calls.clone();
        Controller::for_keys("stuck")
            .watches_mapped(watch(), move |secret, _| {
                // The first call waits until the test lets it go on.
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    let _ = gate.lock().recv();
                }
                users(secret)
            })
            .run(tell("stuck"), manager)
            .unwrap();
        Controller::for_keys("panics")
            .watches_mapped(watch(), |secret, _| {
                assert_ne!(secret.key().name, "one", "as asked");
                users(secret)
            })
            .run(tell("panics"), manager)
            .unwrap();
        Controller::for_keys("quick")
            .watches_mapped(watch(), |secret, _| users(secret))
            .run(tell("quick"), manager)
            .unwrap();
    })
    .await;
    client.create(&secret(&fixture, "one", "a")).await.unwrap();
    assert_eq!(next(&mut receiver).await, "quick a");
    client.create(&secret(&fixture, "two", "b")).await.unwrap();
    let mut both = [next(&mut receiver).await, next(&mut receiver).await];
    both.sort();
    assert_eq!(both, ["panics b", "quick b"]);
    quiet(&mut receiver).await;
    release.send(()).unwrap();
    assert_eq!([next(&mut receiver).await, next(&mut receiver).await], ["stuck a", "stuck b"]);
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn a_controller_of_keys_learns_of_what_is_gone_and_of_the_program_itself() {
    let fixture = Fixture::start("keys").await;
    let client = fixture.env().client();
    let (told, mut receiver) = mpsc::unbounded_channel();
    let (sender, channel) = source::channel();
    let running = Running::start(&fixture, |manager| {
        Controller::for_keys("keys")
            .watches_with(Watch::<Secret>::new().with_predicate(ours()), handler::itself())
            .watches_with(Watch::source(channel), handler::key())
            .run(Tell { name: "key", told }, manager)
            .unwrap();
    })
    .await;
    let key = ObjectKey::namespaced(fixture.namespace(), "one");
    client.create(&secret(&fixture, "one", "a")).await.unwrap();
    assert_eq!(next(&mut receiver).await, format!("key {key}"));
    client.delete::<Secret>(key.clone()).await.unwrap();
    assert_eq!(next(&mut receiver).await, format!("key {key}"));
    sender.send(ObjectKey::cluster("outside")).await.unwrap();
    assert_eq!(next(&mut receiver).await, "key outside");
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn only_selected_objects_are_fetched() {
    use controller_runtime_cache::Selection;
    use controller_runtime_scheme::Kind;
    use kube_client::core::Expression;

    let fixture = Fixture::start("selected").await;
    let client = fixture.env().client();
    let (told, mut receiver) = mpsc::unbounded_channel();
    let running = Running::start(&fixture, |manager| {
        let selection = Selection::labels(Expression::Equal("watched".to_owned(), "yes".to_owned()));
        Controller::for_keys("selected")
            .watches_with(Watch::selecting(Kind::<ConfigMap>::typed(), selection), handler::itself())
            .run(Tell { name: "map", told }, manager)
            .unwrap();
    })
    .await;
    for (name, watched) in [("no", "no"), ("yes", "yes")] {
        let metadata = json!({"name": name, "namespace": fixture.namespace(), "labels": {"watched": watched}});
        let map: ConfigMap = serde_json::from_value(json!({"metadata": metadata})).unwrap();
        client.create(&map).await.unwrap();
    }
    assert_eq!(next(&mut receiver).await, format!("map {}/yes", fixture.namespace()));
    quiet(&mut receiver).await;
    running.stop().await;
    fixture.stop().await;
}
