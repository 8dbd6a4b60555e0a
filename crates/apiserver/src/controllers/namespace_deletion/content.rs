use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use crate::controllers::client::{Client, collection_path};
use crate::controllers::reference::finalizers;
use crate::resource::Resource;
use crate::store::{Object, Range};

/// What is left of a namespace's content after everything was asked to go.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    /// Objects by resource, named as `plural.group`.
    pub(super) resources: BTreeMap<String, usize>,
    /// Objects by the finalizer that holds them.
    pub(super) finalizers: BTreeMap<String, usize>,
    /// What could not be deleted, and why.
    pub(super) failures: BTreeSet<String>,
    /// Whether pods are left, and nothing else was asked to go yet.
    pub(super) waits_for_pods: bool,
}

impl Remaining {
    pub(super) fn is_nothing(&self) -> bool {
        self.resources.is_empty() && self.failures.is_empty()
    }
}

/// Asks everything in a namespace to go: pods first, the rest once there are none left.
pub(super) async fn delete(client: &Client, namespace: &str) -> Remaining {
    let mut remaining = Remaining::default();
    let (pods, others): (Vec<_>, Vec<_>) =
        resources(client).into_iter().partition(|resource| resource.group.is_empty() && resource.plural == "pods");
    for resources in [pods, others] {
        for resource in resources {
            delete_resource(client, &resource, namespace, &mut remaining).await;
        }
        if !remaining.resources.is_empty() {
            remaining.waits_for_pods = remaining.resources.keys().all(|resource| resource == "pods.");
            break;
        }
    }
    remaining
}

async fn delete_resource(client: &Client, resource: &Resource, namespace: &str, remaining: &mut Remaining) {
    let before = stored(client, resource, namespace);
    if before.is_empty() {
        return;
    }
    // What is kept by a finalizer was asked before and need not be asked again.
    if before.iter().any(|object| !is_held(object)) {
        let path = collection_path(resource, namespace);
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        if resource.allows("deletecollection") {
            if let Err(failure) = client.delete(&path, &options).await {
                remaining.failures.insert(failure.message);
            }
        } else {
            for object in &before {
                match client.delete(&format!("{path}/{}", object.key.name), &options).await {
                    Err(failure) if !failure.is_not_found() => _ = remaining.failures.insert(failure.message),
                    _ => {}
                }
            }
        }
    }
    let after = stored(client, resource, namespace);
    if after.is_empty() {
        return;
    }
    for object in &after {
        for finalizer in finalizers(object.value()) {
            *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
    remaining.resources.insert(format!("{}.{}", resource.plural, resource.group), after.len());
}

/// What can be deleted in namespaces, each kind of stored object once.
fn resources(client: &Client) -> Vec<Arc<Resource>> {
    let mut seen = BTreeSet::new();
    let mut all = client.door().core.registry.all();
    all.retain(|it| it.namespaced && it.allows("delete") && seen.insert(it.storage_name().to_string()));
    all
}

fn stored(client: &Client, resource: &Resource, namespace: &str) -> Vec<Arc<Object>> {
    let range = Range { namespace: Some(namespace), ..Range::default() };
    let page = client.door().core.store.list(&resource.storage_name().to_string(), &range, |_| true);
    page.map(|page| page.objects).unwrap_or_default()
}

fn is_held(object: &Object) -> bool {
    crate::controllers::reference::is_being_deleted(object.value())
}
