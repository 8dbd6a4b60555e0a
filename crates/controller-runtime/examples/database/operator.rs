//! The whole operator: a custom resource, the objects it owns, and the reconciler that makes them what it asks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller_runtime::prelude::*;
use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec};
use k8s_openapi::api::core::v1::{
    ConfigMap, ConfigMapVolumeSource, Container, ContainerPort, EnvFromSource, PersistentVolumeClaim,
    PersistentVolumeClaimSpec, PodSpec, PodTemplateSpec, Secret, SecretEnvSource, Service, ServicePort, ServiceSpec,
    Volume, VolumeMount, VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps a Database until its volume claims are gone: they outlive the StatefulSet that made them.
const FINALIZER: &str = "demo.controller-runtime.dev/volume-claims";
/// Finds the Databases that use a Secret.
const BY_SECRET: &str = "credentials-secret";
const INSTANCE: &str = "app.kubernetes.io/instance";

/// What a user asks for.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.controller-runtime.dev", version = "v1", kind = "Database", namespaced, shortname = "db")]
#[kube(status = "DatabaseStatus", crates(kube_core = "::controller_runtime::kube_core"))]
#[kube(printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"))]
#[kube(printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatabaseSpec {
    /// The engine's version, for example "17.6".
    pub version: String,
    /// How many servers; one by default.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 9))]
    pub replicas: i32,
    /// Disk space of each server, for example 10Gi.
    pub storage: String,
    /// The Secret of the same namespace that has the superuser's name and password.
    pub credentials_secret: String,
    /// Lines of the engine's configuration file.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// What the operator saw.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatabaseStatus {
    /// How many servers are ready.
    pub ready_replicas: i32,
    /// `Provisioned`: all children are applied. `Available`: all servers are ready.
    pub conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}

/// Adds the operator to whoever runs controllers; a manager does.
pub(crate) fn add_to(host: &impl Host) -> Result<()> {
    let databases = host.cache().informer::<Database>();
    databases.add_index(BY_SECRET, |db| vec![db.spec.credentials_secret.clone()])?;
    Controller::for_kind::<Database>()
        .owns::<StatefulSet>()
        .owns::<Service>()
        .owns::<ConfigMap>()
        .watches::<Secret>(users_of)
        .run(Databases, host)?;
    Ok(())
}

/// The Databases that take their credentials from this Secret.
fn users_of(secret: &Secret, cache: &Cache) -> Vec<ObjectKey> {
    let key = secret.key();
    let users = ListQuery::by_index(BY_SECRET, key.name).within(key.namespace.unwrap_or_default());
    let found = cache.informer::<Database>().list(&users).unwrap_or_default();
    found.iter().map(|db| db.key()).collect()
}

struct Databases;

impl Reconciler<Database> for Databases {
    async fn reconcile(&self, cx: &Context, db: Arc<Database>) -> Result<Action> {
        if db.is_deleting() {
            return release(cx, &db).await;
        }
        let db = cx.add_finalizer(&*db, FINALIZER).await?;
        let Some(secret) = cx.get_opt::<Secret>(beside(&db, &db.spec.credentials_secret)).await? else {
            let message = format!("there is no Secret {}", db.spec.credentials_secret);
            return report(cx, &db, ("False", "SecretMissing", message), 0).await;
        };
        // Server-side apply: fields that others set stay theirs, and nothing happens when nothing changes.
        cx.apply(&config_map(&db).owned_by(&db)?).await?;
        cx.apply(&service(&db).owned_by(&db)?).await?;
        cx.apply(&stateful_set(&db, &secret).owned_by(&db)?).await?;
        // Reads see the operator's own writes: each waits until the cache has what was just applied.
        cx.get::<ConfigMap>(db.key()).await?;
        cx.get::<Service>(db.key()).await?;
        let set = cx.get::<StatefulSet>(db.key()).await?;
        let ready = set.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or(0);
        report(cx, &db, ("True", "Applied", "all children are applied and seen".to_owned()), ready).await
    }
}

/// A Database is deleted: its volume claims go, then the finalizer.
async fn release(cx: &Context, db: &Database) -> Result<Action> {
    let claims = ListOptions::in_namespace(db.key().namespace.unwrap_or_default()).label(INSTANCE, db.key().name);
    cx.live().api(Kind::<PersistentVolumeClaim>::typed()).delete_all(&claims, &DeleteOptions::new()).await?;
    cx.remove_finalizer(db, FINALIZER).await?;
    Ok(Action::done())
}

/// Writes the status, if it says something new.
async fn report(cx: &Context, db: &Database, provisioned: (&str, &str, String), ready: i32) -> Result<Action> {
    let message = format!("{ready} of {} servers are ready", db.spec.replicas);
    let available = if ready >= db.spec.replicas { ("True", "AllReady") } else { ("False", "ServersNotReady") };
    let now = Time(cx.ambient().now());
    cx.change_status(db, |status: &mut DatabaseStatus| {
        status.ready_replicas = ready;
        set_condition(status, db, "Provisioned", provisioned, &now);
        set_condition(status, db, "Available", (available.0, available.1, message), &now);
    })
    .await?;
    Ok(Action::done())
}

/// Sets a condition; its time changes only with its status.
fn set_condition(to: &mut DatabaseStatus, db: &Database, name: &str, is: (&str, &str, String), now: &Time) {
    let old = to.conditions.iter().find(|condition| condition.type_ == name && condition.status == is.0);
    let condition = Condition {
        type_: name.to_owned(),
        status: is.0.to_owned(),
        reason: is.1.to_owned(),
        message: is.2,
        observed_generation: db.metadata.generation,
        last_transition_time: old.map_or(now, |old| &old.last_transition_time).clone(),
    };
    to.conditions.retain(|other| other.type_ != name);
    to.conditions.push(condition);
}

/// An object of this name in the Database's namespace.
fn beside(db: &Database, name: &str) -> ObjectKey {
    ObjectKey { name: name.to_owned(), ..db.key() }
}

fn labels(db: &Database) -> BTreeMap<String, String> {
    strings([("app.kubernetes.io/name", "database".to_owned()), (INSTANCE, db.key().name)])
}

fn strings<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Every child has the Database's name.
fn child_meta(db: &Database) -> ObjectMeta {
    let ObjectKey { namespace, name } = db.key();
    ObjectMeta { name: Some(name), namespace, labels: Some(labels(db)), ..Default::default() }
}

fn config_map(db: &Database) -> ConfigMap {
    let lines = db.spec.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>();
    let file = lines.join("\n");
    ConfigMap { metadata: child_meta(db), data: Some(strings([("database.conf", file)])), ..Default::default() }
}

/// Headless, so that each server has a name of its own.
fn service(db: &Database) -> Service {
    let port = ServicePort { name: Some("sql".to_owned()), port: 5432, ..Default::default() };
    let spec = ServiceSpec {
        cluster_ip: Some("None".to_owned()),
        selector: Some(labels(db)),
        ports: Some(vec![port]),
        ..Default::default()
    };
    Service { metadata: child_meta(db), spec: Some(spec), ..Default::default() }
}

fn stateful_set(db: &Database, secret: &Secret) -> StatefulSet {
    // New credentials change the template, and so restart the servers.
    let annotations = strings([("demo.controller-runtime.dev/credentials", fingerprint(secret))]);
    let pod_meta = ObjectMeta { labels: Some(labels(db)), annotations: Some(annotations), ..Default::default() };
    let spec = StatefulSetSpec {
        replicas: Some(db.spec.replicas),
        service_name: Some(db.key().name),
        selector: LabelSelector { match_labels: Some(labels(db)), ..Default::default() },
        template: PodTemplateSpec { metadata: Some(pod_meta), spec: Some(pod(db)) },
        volume_claim_templates: Some(vec![claim(db)]),
        ..Default::default()
    };
    StatefulSet { metadata: child_meta(db), spec, ..Default::default() }
}

fn pod(db: &Database) -> PodSpec {
    let credentials = SecretEnvSource { name: db.spec.credentials_secret.clone(), ..Default::default() };
    let mount = |name: &str, path: &str| VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        ..Default::default()
    };
    let server = Container {
        name: "server".to_owned(),
        image: Some(format!("registry.example/database:{}", db.spec.version)),
        ports: Some(vec![ContainerPort { name: Some("sql".to_owned()), container_port: 5432, ..Default::default() }]),
        env_from: Some(vec![EnvFromSource { secret_ref: Some(credentials), ..Default::default() }]),
        volume_mounts: Some(vec![mount("data", "/var/lib/database"), mount("settings", "/etc/database")]),
        ..Default::default()
    };
    let settings = ConfigMapVolumeSource { name: db.key().name, ..Default::default() };
    let volume = Volume { name: "settings".to_owned(), config_map: Some(settings), ..Default::default() };
    PodSpec { containers: vec![server], volumes: Some(vec![volume]), ..Default::default() }
}

fn claim(db: &Database) -> PersistentVolumeClaim {
    let requests = BTreeMap::from([("storage".to_owned(), Quantity(db.spec.storage.clone()))]);
    let spec = PersistentVolumeClaimSpec {
        access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
        resources: Some(VolumeResourceRequirements { requests: Some(requests), ..Default::default() }),
        ..Default::default()
    };
    let metadata = ObjectMeta { name: Some("data".to_owned()), labels: Some(labels(db)), ..Default::default() };
    PersistentVolumeClaim { metadata, spec: Some(spec), ..Default::default() }
}

/// Changes when the Secret's data does (FNV-1a); the data can't be read from it.
fn fingerprint(secret: &Secret) -> String {
    let data = secret.data.iter().flatten();
    let bytes =
        data.flat_map(|(key, ByteString(value))| key.bytes().chain([0]).chain(value.iter().copied()).chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
