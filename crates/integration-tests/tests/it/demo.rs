//! The example operator: the same objects on every server, and the same history from the same seed.

#[path = "../../../controller-runtime/examples/database/operator.rs"]
mod operator;

use std::time::Duration;

use controller_runtime::prelude::*;
use controller_runtime::testenv::{Backend, Crds, Door, Environment};
use controller_runtime_ambient::Task;
use controller_runtime_cache::CacheOptions;
use controller_runtime_manager::ManagerError;
use integration_tests::{Fixture, PatchType};
use serde_json::{Value, json};

use self::operator::Database;

/// The operator in a manager that looks at one namespace only.
struct Running {
    cancel: CancellationToken,
    task: Task<Result<(), ManagerError>>,
}

impl Running {
    async fn start(env: &Environment, namespace: &str) -> Self {
        // Not through the environment, which would take it away from the tests that still use it.
        Crds::new().with(&Database::crd()).unwrap().install(&env.kube_client()).await.unwrap();
        let options = CacheOptions::builder().namespaces([namespace]).build();
        let builder = Manager::builder(env.kube_client()).ambient(env.ambient().clone());
        let manager = builder.cache(options).build().await.unwrap();
        operator::add_to(&manager).unwrap();
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let task = env.ambient().spawn("manager", async move { manager.start(token).await });
        Self { cancel, task }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.join().await.unwrap().unwrap();
    }
}

fn secret(password: &str) -> Value {
    let metadata = json!({"name": "orders-credentials"});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"password": password}})
}

fn database() -> Value {
    json!({
        "apiVersion": "demo.controller-runtime.dev/v1", "kind": "Database", "metadata": {"name": "orders"},
        "spec": {
            "version": "17.6", "replicas": 3, "storage": "10Gi", "credentialsSecret": "orders-credentials",
            "settings": {"max_connections": "200", "shared_buffers": "1GB"},
        },
    })
}

fn databases(namespace: &str) -> String {
    format!("/apis/demo.controller-runtime.dev/v1/namespaces/{namespace}/databases")
}

/// Waits until the condition `Provisioned` speaks of the newest spec and has this status and reason.
async fn provisioned(env: &Environment, namespace: &str, status: &str, reason: &str) -> Database {
    let is = |db: &Database| {
        let conditions = db.status.iter().flat_map(|status| &status.conditions);
        let mut current = conditions.filter(|condition| condition.observed_generation == db.metadata.generation);
        current.any(|is| is.type_ == "Provisioned" && is.status == status && is.reason == reason)
    };
    let wanted = env.eventually::<Database>((namespace, "orders")).within(Duration::from_secs(30));
    wanted.satisfies(&format!("is provisioned: {status}, {reason}"), is).await.unwrap()
}

/// Replaces what differs between two servers or two runs.
fn normalise(value: &mut Value, names: &[(String, &str)]) {
    match value {
        Value::Object(fields) => {
            fields.remove("resourceVersion");
            for field in ["uid", "creationTimestamp", "time", "lastTransitionTime"] {
                if let Some(value) = fields.get_mut(field).filter(|value| value.is_string()) {
                    *value = json!(format!("<{field}>"));
                }
            }
            if let Some(Value::Array(entries)) = fields.get_mut("managedFields") {
                // Entries are ordered by time, to the second: which second it was is chance.
                entries.sort_by_key(|entry| (entry["manager"].to_string(), entry["subresource"].to_string()));
            }
            let renamed = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                normalise(&mut value, names);
                (replace(&key, names), value)
            });
            *fields = renamed.collect();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, names)),
        Value::String(text) => *text = replace(text, names),
        _ => {}
    }
}

fn replace(text: &str, names: &[(String, &str)]) -> String {
    names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The snapshot is what kube-apiserver gave; the embedded server has to give the same.
#[tokio::test]
async fn the_same_objects_on_every_server() {
    let fixture = Fixture::start("demo").await;
    let namespace = fixture.namespace();
    let running = Running::start(fixture.env(), namespace).await;
    fixture.post(&fixture.core("secrets"), &secret("correct-horse")).await.expect(201);
    fixture.post(&databases(namespace), &database()).await.expect(201);
    let db = provisioned(fixture.env(), namespace, "True", "Applied").await;
    running.stop().await;

    let names = [(namespace.to_owned(), "<namespace>"), (db.metadata.uid.unwrap(), "<uid of the database>")];
    let stateful_sets = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets");
    let mut objects = Vec::new();
    for path in [databases(namespace), fixture.core("configmaps"), fixture.core("services"), stateful_sets] {
        let mut object = fixture.get(&format!("{path}/orders")).await.expect(200);
        normalise(&mut object, &names);
        objects.push(object);
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&objects).unwrap());
    release(&fixture).await;
    fixture.stop().await;
}

/// Without its operator a Database would keep the namespace for ever.
async fn release(fixture: &Fixture) {
    let path = format!("{}/orders", databases(fixture.namespace()));
    fixture.patch(PatchType::Merge, &path, &json!({"metadata": {"finalizers": null}})).await.expect(200);
}

#[tokio::test]
async fn a_secret_may_come_late_and_change() {
    let fixture = Fixture::start("demo-secret").await;
    let (env, namespace) = (fixture.env(), fixture.namespace());
    let running = Running::start(env, namespace).await;
    fixture.post(&databases(namespace), &database()).await.expect(201);
    provisioned(env, namespace, "False", "SecretMissing").await;
    fixture.post(&fixture.core("secrets"), &secret("correct-horse")).await.expect(201);
    provisioned(env, namespace, "True", "Applied").await;

    let sets = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets/orders");
    let fingerprint = "/spec/template/metadata/annotations/demo.controller-runtime.dev~1credentials";
    let before = fixture.get(&sets).await.expect(200).pointer(fingerprint).cloned().unwrap();
    let path = format!("{}/orders-credentials", fixture.core("secrets"));
    fixture.patch(PatchType::Merge, &path, &json!({"stringData": {"password": "battery-staple"}})).await.expect(200);
    fixture.until(&sets, |set| set.body.pointer(fingerprint).is_some_and(|now| *now != before)).await;
    running.stop().await;
    release(&fixture).await;
    fixture.stop().await;
}

#[tokio::test]
async fn others_write_at_the_same_time() {
    let fixture = Fixture::start("demo-conflicts").await;
    let (env, namespace) = (fixture.env(), fixture.namespace());
    let running = Running::start(env, namespace).await;
    fixture.post(&fixture.core("secrets"), &secret("correct-horse")).await.expect(201);
    fixture.post(&databases(namespace), &database()).await.expect(201);
    let path = format!("{}/orders", databases(namespace));
    for round in 1..=20 {
        let change = json!({"metadata": {"labels": {"round": round.to_string()}}, "spec": {"replicas": 1 + round % 9}});
        fixture.patch(PatchType::Merge, &path, &change).await.expect(200);
    }
    let db = provisioned(env, namespace, "True", "Applied").await;
    assert_eq!(db.spec.replicas, 3);
    let sets = format!("/apis/apps/v1/namespaces/{namespace}/statefulsets/orders");
    assert_eq!(fixture.get(&sets).await.expect(200)["spec"]["replicas"], 3);
    running.stop().await;
    release(&fixture).await;
    fixture.stop().await;
}

#[tokio::test]
async fn a_deleted_database_goes_with_its_children_and_claims() {
    let Some(fixture) = Fixture::start_with_controllers("demo-delete").await else { return };
    let (env, namespace) = (fixture.env(), fixture.namespace());
    let running = Running::start(env, namespace).await;
    fixture.post(&fixture.core("secrets"), &secret("correct-horse")).await.expect(201);
    fixture.post(&databases(namespace), &database()).await.expect(201);
    provisioned(env, namespace, "True", "Applied").await;
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-orders-0", "labels": {"app.kubernetes.io/instance": "orders"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}},
    });
    let claims = fixture.core("persistentvolumeclaims");
    fixture.post(&claims, &claim).await.expect(201);

    let path = format!("{}/orders", databases(namespace));
    fixture.delete(&path, &Value::Null).await.expect(200);
    fixture.gone(&path).await;
    let claim = fixture.get(&format!("{claims}/data-orders-0")).await;
    // On a real cluster the claim waits for the controller that protects claims in use.
    assert!(claim.code == 404 || claim.body["metadata"]["deletionTimestamp"].is_string(), "{}", claim.body);
    fixture.gone(&format!("/apis/apps/v1/namespaces/{namespace}/statefulsets/orders")).await;
    fixture.gone(&format!("{}/orders", fixture.core("services"))).await;
    running.stop().await;
    fixture.stop().await;
}

/// Runs the operator in process on the test's paused clock, through creation, change and deletion; every request that
/// the server got, in a line each.
async fn history(seed: u64) -> Vec<String> {
    let env = Environment::builder().backend(Backend::Embedded).door(Door::InProcess);
    let env = env.ambient(Ambient::seeded(seed)).start().await.unwrap();
    let namespace = env.namespace("history").await.unwrap();
    let running = Running::start(&env, &namespace).await;
    let client = env.client();
    let in_namespace = |mut object: Value| -> Unstructured {
        object["metadata"]["namespace"] = json!(namespace);
        serde_json::from_value(object).unwrap()
    };
    let secrets = client.api(Kind::<k8s_openapi::api::core::v1::Secret>::typed().erase());
    let databases = client.api(Kind::<Database>::typed().erase());
    databases.create(&in_namespace(database())).await.unwrap();
    provisioned(&env, &namespace, "False", "SecretMissing").await;
    secrets.create(&in_namespace(secret("correct-horse"))).await.unwrap();
    provisioned(&env, &namespace, "True", "Applied").await;
    let key = ObjectKey::namespaced(&namespace, "orders");
    databases.patch(&key, &Patch::Merge(json!({"spec": {"replicas": 5}}))).await.unwrap();
    provisioned(&env, &namespace, "True", "Applied").await;
    databases.delete(&key).await.unwrap();
    env.eventually::<Database>(key).is_gone().await.unwrap();
    running.stop().await;

    let log = env.api_server().unwrap().request_log();
    env.stop().await.unwrap();
    log.into_iter().map(|record| format!("{record:?}")).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_history() {
    let (first, second) = (history(7).await, history(7).await);
    for (line, (a, b)) in first.iter().zip(&second).enumerate() {
        assert_eq!(a, b, "request {line}");
    }
    assert_eq!(first.len(), second.len());
    assert!(first.len() > 30, "{} requests are too few to compare", first.len());
    assert_ne!(first, history(8).await, "the seed has no effect");
}
