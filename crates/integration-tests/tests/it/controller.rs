//! Controllers in a manager against a server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use controller_runtime_ambient::{CancellationToken, Task};
use controller_runtime_cache::{CacheOptions, ListQuery};
use controller_runtime_client::OwnedBy;
use controller_runtime_controller::{Action, Context, Controller, Error, Host, Reconciler, Result, predicate};
use controller_runtime_manager::{Manager, ManagerError};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectExt, Scope, Unstructured};
use integration_tests::{Fixture, widget};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube_client::core::Expression;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// How long a state may take to come.
const WITHIN: Duration = Duration::from_secs(20);

/// A manager of the fixture's namespace while it runs.
pub(crate) struct Running {
    cancel: CancellationToken,
    task: Task<Result<(), ManagerError>>,
}

impl Running {
    pub(crate) async fn start(fixture: &Fixture, set_up: impl FnOnce(&Manager)) -> Self {
        let manager = Manager::builder(fixture.env().kube_client())
            .ambient(fixture.env().ambient().clone())
            .cache(CacheOptions::builder().namespaces([fixture.namespace()]).build())
            .build()
            .await
            .unwrap();
        set_up(&manager);
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let task = fixture.env().ambient().spawn("manager", async move { manager.start(token).await });
        Self { cancel, task }
    }

    pub(crate) async fn stop(self) {
        self.cancel.cancel();
        self.task.join().await.unwrap().unwrap();
    }
}

fn map(fixture: &Fixture, name: &str, value: &str) -> ConfigMap {
    let metadata = json!({"name": name, "namespace": fixture.namespace(), "labels": {"role": "parent"}});
    serde_json::from_value(json!({"metadata": metadata, "data": {"key": value}})).unwrap()
}

fn secret(namespace: &str, name: &str, value: &str) -> Secret {
    let metadata = json!({"name": name, "namespace": namespace});
    let mut secret: Secret = serde_json::from_value(json!({"metadata": metadata})).unwrap();
    secret.data = Some(BTreeMap::from([("key".to_owned(), ByteString(value.as_bytes().to_vec()))]));
    secret
}

fn holds(secret: &Secret, value: &str) -> bool {
    secret.data.as_ref().is_some_and(|data| data.get("key") == Some(&ByteString(value.as_bytes().to_vec())))
}

/// Only the objects of this test, not what others put into new namespaces.
fn parents() -> predicate::Matches {
    predicate::matches(Expression::Equal("role".to_owned(), "parent".to_owned()))
}

/// Keeps a secret with the value of each config map, and proves that it reads what it has written.
struct Mirror;

impl Reconciler<ConfigMap> for Mirror {
    async fn reconcile(&self, cx: &Context, parent: Arc<ConfigMap>) -> Result<Action> {
        let key = parent.key();
        let value = parent.data.as_ref().map(|data| data["key"].clone()).unwrap_or_default();
        let child = secret(key.namespace.as_deref().unwrap_or_default(), &key.name, &value).owned_by(&*parent)?;
        let applied = cx.apply(&child).await?;
        let read = cx.get::<Secret>(key).await?;
        if *read != applied {
            return Err(Error::terminal(format!("read {read:?} after writing {applied:?}")));
        }
        Ok(Action::done())
    }
}

#[tokio::test]
async fn what_a_controller_owns_follows_its_owner_and_is_repaired() {
    let fixture = Fixture::start("owns").await;
    let running = Running::start(&fixture, |manager| {
        let controller = Controller::for_kind::<ConfigMap>().with_predicate(parents()).owns::<Secret>();
        controller.run(Mirror, manager).unwrap();
    })
    .await;
    let client = fixture.env().client();
    let key = (fixture.namespace(), "one");
    let child = || fixture.env().eventually::<Secret>(key).within(WITHIN);
    client.create(&map(&fixture, "one", "a")).await.unwrap();
    let first = child().satisfies("mirrors a", |secret| holds(secret, "a")).await.unwrap();
    client.apply(&map(&fixture, "one", "b")).await.unwrap();
    child().satisfies("mirrors b", |secret| holds(secret, "b")).await.unwrap();
    client.update(&secret(fixture.namespace(), "one", "meddled with")).await.unwrap();
    child().satisfies("is repaired", |secret| holds(secret, "b")).await.unwrap();
    client.delete::<Secret>(key).await.unwrap();
    let again = |secret: &Secret| holds(secret, "b") && secret.metadata.uid != first.metadata.uid;
    child().satisfies("is made again", again).await.unwrap();
    running.stop().await;
    fixture.stop().await;
}

/// Tells a test what it reconciles.
struct Tell(mpsc::UnboundedSender<String>);

impl Reconciler<ConfigMap> for Tell {
    async fn reconcile(&self, _cx: &Context, map: Arc<ConfigMap>) -> Result<Action> {
        let value = map.data.as_ref().map(|data| data["key"].clone()).unwrap_or_default();
        self.0.send(format!("{}={value}", map.key().name))?;
        Ok(Action::done())
    }
}

/// The next that comes, or nothing for a while.
async fn next(told: &mut mpsc::UnboundedReceiver<String>, within: Duration) -> Option<String> {
    timeout(within, told.recv()).await.ok().map(|told| told.unwrap())
}

#[tokio::test]
async fn a_referenced_object_leads_to_those_that_reference_it() {
    let fixture = Fixture::start("references").await;
    let client = fixture.env().client();
    for (name, value) in [("one", "token"), ("two", "other"), ("three", "token")] {
        client.create(&map(&fixture, name, value)).await.unwrap();
    }
    let (sender, mut told) = mpsc::unbounded_channel();
    let running = Running::start(&fixture, |manager| {
        let informer = manager.cache().informer::<ConfigMap>();
        informer.add_index("secret", |map| map.data.iter().flat_map(|data| data.values().cloned()).collect()).unwrap();
        Controller::for_kind::<ConfigMap>()
            .with_predicate(parents())
            .watches::<Secret>(|secret, cache| {
                let query = ListQuery::by_index("secret", secret.key().name);
                let users = cache.informer::<ConfigMap>().list(&query).unwrap_or_default();
                users.iter().map(|map| map.key()).collect()
            })
            .run(Tell(sender), manager)
            .unwrap();
    })
    .await;
    let mut first = Vec::new();
    for _ in 0..3 {
        first.push(next(&mut told, WITHIN).await.unwrap());
    }
    assert_eq!(first, ["one=token", "three=token", "two=other"], "the initial list, in order");
    client.create(&secret(fixture.namespace(), "token", "1")).await.unwrap();
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("one=token"));
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("three=token"));
    client.update(&secret(fixture.namespace(), "token", "2")).await.unwrap();
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("one=token"));
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("three=token"));
    client.delete::<Secret>((fixture.namespace(), "token")).await.unwrap();
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("one=token"));
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("three=token"));
    assert_eq!(next(&mut told, Duration::from_millis(200)).await, None, "nothing else leads anywhere");
    running.stop().await;
    fixture.stop().await;
}

const FINALIZER: &str = "it.controller-runtime.dev/clean-up";

/// Holds objects until it has cleaned up after them.
struct CleanUp {
    cleaned: Arc<AtomicUsize>,
}

impl Reconciler<ConfigMap> for CleanUp {
    async fn reconcile(&self, cx: &Context, map: Arc<ConfigMap>) -> Result<Action> {
        if map.is_deleting() {
            self.cleaned.fetch_add(1, Ordering::SeqCst);
            cx.remove_finalizer(&*map, FINALIZER).await?;
        } else {
            cx.add_finalizer(&*map, FINALIZER).await?;
        }
        Ok(Action::done())
    }
}

#[tokio::test]
async fn a_finalizer_holds_an_object_until_all_is_cleaned_up() {
    let fixture = Fixture::start("finalizer").await;
    let cleaned = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&fixture, |manager| {
        let reconciler = CleanUp { cleaned: cleaned.clone() };
        Controller::for_kind::<ConfigMap>().with_predicate(parents()).run(reconciler, manager).unwrap();
    })
    .await;
    let client = fixture.env().client();
    let key = (fixture.namespace(), "one");
    client.create(&map(&fixture, "one", "a")).await.unwrap();
    let one = || fixture.env().eventually::<ConfigMap>(key).within(WITHIN);
    let held = |map: &ConfigMap| map.metadata.finalizers.as_deref() == Some(&[FINALIZER.to_owned()]);
    one().satisfies("is held", held).await.unwrap();
    client.delete::<ConfigMap>(key).await.unwrap();
    one().is_gone().await.unwrap();
    // After its own last write it sees that the object is gone: it does not clean up twice.
    assert_eq!(cleaned.load(Ordering::SeqCst), 1);
    running.stop().await;
    fixture.stop().await;
}

/// Counts up in an annotation; somebody else writes between its first read and its write.
struct Contended {
    attempts: Arc<AtomicUsize>,
    others: controller_runtime_client::Client,
}

impl Reconciler<ConfigMap> for Contended {
    async fn reconcile(&self, cx: &Context, map: Arc<ConfigMap>) -> Result<Action> {
        if map.data.as_ref().is_some_and(|data| data.contains_key("done")) {
            return Ok(Action::done());
        }
        if self.attempts.fetch_add(1, Ordering::SeqCst) == 0 {
            let mut theirs = (*map).clone();
            theirs.data.get_or_insert_default().insert("theirs".to_owned(), "kept".to_owned());
            self.others.update(&theirs).await?;
        }
        let mut ours = (*map).clone();
        ours.data.get_or_insert_default().insert("done".to_owned(), "yes".to_owned());
        cx.update(&ours).await?;
        Ok(Action::done())
    }
}

#[tokio::test]
async fn a_conflict_is_tried_again_with_what_the_other_has_written() {
    let fixture = Fixture::start("conflict").await;
    let attempts = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&fixture, |manager| {
        let reconciler = Contended { attempts: attempts.clone(), others: fixture.env().client() };
        Controller::for_kind::<ConfigMap>().with_predicate(parents()).run(reconciler, manager).unwrap();
    })
    .await;
    fixture.env().client().create(&map(&fixture, "one", "a")).await.unwrap();
    let one = fixture.env().eventually::<ConfigMap>((fixture.namespace(), "one")).within(WITHIN);
    let both = |map: &ConfigMap| {
        map.data.as_ref().is_some_and(|data| data.contains_key("done") && data.contains_key("theirs"))
    };
    one.satisfies("has both changes", both).await.unwrap();
    assert!(attempts.load(Ordering::SeqCst) >= 2, "the first attempt ended in a conflict");
    running.stop().await;
    fixture.stop().await;
}

/// Tells a test which widgets it reconciles.
struct TellWidgets(mpsc::UnboundedSender<String>);

impl Reconciler<Unstructured> for TellWidgets {
    async fn reconcile(&self, _cx: &Context, widget: Arc<Unstructured>) -> Result<Action> {
        self.0.send(widget.key().name)?;
        Ok(Action::done())
    }
}

#[tokio::test]
async fn a_kind_that_is_installed_later_is_picked_up() {
    let fixture = Fixture::start("late-kind").await;
    let gvk = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    let kind = Kind::dynamic(ApiResource::from_gvk_with_plural(&gvk, "widgets"), Scope::Namespaced);
    let (sender, mut told) = mpsc::unbounded_channel();
    let running = Running::start(&fixture, |manager| {
        Controller::of(kind).cache_sync_timeout(Duration::from_secs(30)).run(TellWidgets(sender), manager).unwrap();
    })
    .await;
    assert_eq!(next(&mut told, Duration::from_secs(1)).await, None);
    let installed = Instant::now();
    let path = fixture.install_widgets().await;
    fixture.post(&path, &widget(&fixture.group(), "one", &json!({"color": "red"}))).await.expect(201);
    assert_eq!(next(&mut told, WITHIN).await.as_deref(), Some("one"));
    assert!(installed.elapsed() < Duration::from_secs(15), "{:?}", installed.elapsed());
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn a_kind_that_never_comes_ends_the_manager_with_its_name() {
    let fixture = Fixture::start("no-kind").await;
    let gvk = GroupVersionKind::gvk(&fixture.group(), "v1", "Widget");
    let kind = Kind::dynamic(ApiResource::from_gvk_with_plural(&gvk, "widgets"), Scope::Namespaced);
    let (sender, _told) = mpsc::unbounded_channel();
    let started = Instant::now();
    let running = Running::start(&fixture, |manager| {
        Controller::of(kind).cache_sync_timeout(Duration::from_secs(2)).run(TellWidgets(sender), manager).unwrap();
    })
    .await;
    let error = running.task.join().await.unwrap().unwrap_err().to_string();
    let expected = format!("timed out waiting for cache of Widget.{}/v1", fixture.group());
    assert!(error.contains(&expected), "{error}");
    assert!((2..4).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    fixture.stop().await;
}
