//! Changes of what is owned reach its owners.

use std::sync::Arc;
use std::time::Duration;

use controller_runtime_client::{OwnedBy, set_owner_reference};
use controller_runtime_controller::{Action, Context, Controller, Host, Reconciler, Result, Watch, predicate};
use controller_runtime_scheme::{ApiResource, GroupVersionKind, Kind, ObjectExt, Scope, TypedObject};
use controller_runtime_testenv::Crds;
use integration_tests::{Fixture, widget, widget_definition};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube_client::core::{Expression, Selector};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::controller::Running;

const WITHIN: Duration = Duration::from_secs(20);
/// How long nothing comes before it counts as not coming.
const QUIET: Duration = Duration::from_millis(300);

/// Tells a test which objects are reconciled.
pub(crate) struct Tell {
    pub(crate) name: &'static str,
    pub(crate) told: mpsc::UnboundedSender<String>,
}

impl<K: Send + Sync + 'static> Reconciler<K> for Tell {
    async fn reconcile(&self, cx: &Context, _: Arc<K>) -> Result<Action> {
        self.told.send(format!("{} {}", self.name, cx.key()))?;
        Ok(Action::done())
    }
}

pub(crate) async fn next(told: &mut mpsc::UnboundedReceiver<String>) -> String {
    timeout(WITHIN, told.recv()).await.expect("it is told in time").unwrap()
}

pub(crate) async fn quiet(told: &mut mpsc::UnboundedReceiver<String>) {
    if let Ok(more) = timeout(QUIET, told.recv()).await {
        panic!("told more: {more:?}");
    }
}

fn object<K: TypedObject>(fixture: &Fixture, name: &str) -> K {
    let metadata = json!({"name": name, "namespace": fixture.namespace(), "labels": {"role": "owner"}});
    serde_json::from_value(json!({"metadata": metadata})).unwrap()
}

fn owners() -> predicate::Matches {
    predicate::matches(Expression::Equal("role".to_owned(), "owner".to_owned()))
}

/// How many requests of one method a manager's clients have made.
fn requests<H: Host>(manager: &H, method: &str) -> impl Fn() -> u64 + use<H> {
    let (metrics, method) = (manager.metrics().clone(), format!("method=\"{method}\""));
    move || {
        let text = metrics.encode(controller_runtime_metrics::Format::PrometheusText).unwrap();
        let of_method =
            text.lines().filter(|line| line.starts_with("rest_client_requests_total") && line.contains(&method));
        of_method.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }
}

#[tokio::test]
async fn b35_a_change_reaches_the_controller_owner_without_a_list() {
    let fixture = Fixture::start("owners").await;
    let client = fixture.env().client();
    let controls: ConfigMap = client.create(&object(&fixture, "controls")).await.unwrap();
    let other: ConfigMap = client.create(&object(&fixture, "other")).await.unwrap();
    let mut child = object::<Secret>(&fixture, "child").owned_by(&controls).unwrap();
    set_owner_reference(&mut child, &other, &Kind::typed()).unwrap();
    let child = client.create(&child).await.unwrap();
    let (sender, mut told) = mpsc::unbounded_channel();
    let mut reads = None;
    let running = Running::start(&fixture, |manager| {
        reads = Some(requests(manager, "GET"));
        let tell = |name| Tell { name, told: sender.clone() };
        let own = || Controller::for_kind::<ConfigMap>().with_predicate(owners());
        own().named("only").owns_watch(Watch::metadata::<Secret>()).run(tell("only"), manager).unwrap();
        own().named("every").owns_with_others(Watch::<Secret>::new()).run(tell("every"), manager).unwrap();
    })
    .await;
    let mut first = Vec::new();
    for _ in 0..4 {
        first.push(next(&mut told).await);
    }
    first.sort();
    let keys = ["controls", "other"].map(|name| format!("{}/{name}", fixture.namespace()));
    let [controls, other] = &keys;
    let expected =
        [format!("every {controls}"), format!("every {other}"), format!("only {controls}"), format!("only {other}")];
    assert_eq!(first, expected, "the initial list");
    quiet(&mut told).await;
    let reads = reads.unwrap();
    let before = reads();
    for value in ["1", "2", "3"] {
        let mut changed = child.clone();
        changed.metadata.resource_version = None;
        changed.metadata.labels.get_or_insert_default().insert("value".to_owned(), value.to_owned());
        client.update(&changed).await.unwrap();
        let mut now = vec![next(&mut told).await, next(&mut told).await, next(&mut told).await];
        now.sort();
        assert_eq!(now, [format!("every {controls}"), format!("every {other}"), format!("only {controls}")]);
    }
    client.delete::<Secret>((fixture.namespace(), "child")).await.unwrap();
    for _ in 0..3 {
        next(&mut told).await;
    }
    quiet(&mut told).await;
    assert_eq!(reads(), before, "nothing was read from the server");
    running.stop().await;
    fixture.stop().await;
}

/// The definition with a second version, which is the stored one.
fn two_versions(group: &str) -> Value {
    let mut definition = widget_definition(group);
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    definition["spec"]["versions"][0]["storage"] = json!(false);
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    definition
}

#[tokio::test]
async fn b35_an_owner_of_another_version_of_the_group_still_matches() {
    let fixture = Fixture::start("owner-version").await;
    let group = fixture.group();
    fixture.env().install(&Crds::new().with(&two_versions(&group)).unwrap()).await.unwrap();
    let path = format!("/apis/{group}/v1/namespaces/{}/widgets", fixture.namespace());
    let parent = fixture.post(&path, &widget(&group, "parent", &json!({"color": "red"}))).await.expect(201);
    let gvk = GroupVersionKind::gvk(&group, "v2", "Widget");
    let kind = Kind::dynamic(ApiResource::from_gvk_with_plural(&gvk, "widgets"), Scope::Namespaced);
    let (told, mut receiver) = mpsc::unbounded_channel();
    let running = Running::start(&fixture, |manager| {
        Controller::of(kind).owns::<ConfigMap>().run(Tell { name: "v2", told }, manager).unwrap();
    })
    .await;
    let expected = format!("v2 {}/parent", fixture.namespace());
    assert_eq!(next(&mut receiver).await, expected);
    let reference = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Widget", "name": "parent",
        "uid": parent["metadata"]["uid"], "controller": true,
    });
    let child = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "child", "ownerReferences": [reference]},
    });
    fixture.post(&fixture.core("configmaps"), &child).await.expect(201);
    assert_eq!(next(&mut receiver).await, expected);
    running.stop().await;
    fixture.stop().await;
}

#[tokio::test]
async fn b35_a_cluster_scoped_owner_has_no_namespace() {
    let fixture = Fixture::start("cluster-owner").await;
    let client = fixture.env().client();
    let mut parent = object::<ClusterRole>(&fixture, &format!("{}-owner", fixture.namespace()));
    parent.metadata.namespace = None;
    parent.metadata.labels = Some([("test".to_owned(), fixture.namespace().to_owned())].into());
    let parent = client.create(&parent).await.unwrap();
    let (told, mut receiver) = mpsc::unbounded_channel();
    let running = Running::start(&fixture, |manager| {
        let ours: Selector = Expression::Equal("test".to_owned(), fixture.namespace().to_owned()).into();
        Controller::for_kind::<ClusterRole>()
            .with_predicate(predicate::matches(ours))
            .owns::<ConfigMap>()
            .run(Tell { name: "role", told }, manager)
            .unwrap();
    })
    .await;
    let expected = format!("role {}", parent.key().name);
    assert_eq!(next(&mut receiver).await, expected, "the key has no namespace");
    let child = object::<ConfigMap>(&fixture, "child").owned_by(&parent).unwrap();
    client.create(&child).await.unwrap();
    assert_eq!(next(&mut receiver).await, expected);
    running.stop().await;
    client.delete::<ClusterRole>(parent.key()).await.unwrap();
    fixture.stop().await;
}
