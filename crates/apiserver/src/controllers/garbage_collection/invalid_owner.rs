//! Tells users of owner references that can never work: an owner stands in another namespace than its dependent.

use serde_json::{Value, json};

use crate::controllers::client::{Client, Failure};
use crate::controllers::reference::{ObjectReference, OwnerReference, group_version};
use crate::core::Core;
use crate::store::Range;

const COMPONENT: &str = "garbage-collector-controller";

/// Whether an object of the owner's kind and uid exists in a namespace that isn't the dependent's.
pub(super) fn stands_elsewhere(core: &Core, owner: &OwnerReference, dependent: &ObjectReference) -> bool {
    let (group, version) = group_version(&owner.api_version);
    let Some(resource) = core.registry.by_kind(group, version, &owner.kind) else { return false };
    if !resource.namespaced {
        return false;
    }
    let is_owner = |uid: Option<&Value>| uid.and_then(Value::as_str) == Some(&owner.uid);
    let found = core.store.list(&resource.storage_name().to_string(), &Range::default(), |object| {
        object.key.namespace != dependent.namespace && is_owner(object.value().pointer("/metadata/uid"))
    });
    found.is_ok_and(|page| !page.objects.is_empty())
}

/// Writes the event of which users learn of it.
pub(super) async fn report(
    client: &Client,
    owner: &OwnerReference,
    dependent: &ObjectReference,
) -> Result<(), Failure> {
    let core = &client.door().core;
    let namespace = if dependent.namespace.is_empty() { "default" } else { &dependent.namespace };
    let mut involved = json!({
        "kind": dependent.kind, "apiVersion": dependent.api_version, "name": dependent.name, "uid": dependent.uid,
    });
    if !dependent.namespace.is_empty() {
        involved["namespace"] = json!(dependent.namespace);
    }
    let message = format!(
        "ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace \"{}\"",
        owner.api_version, owner.kind, dependent.namespace, owner.name, owner.uid, dependent.namespace,
    );
    let now = core.now();
    let event = json!({
        "metadata": {"name": format!("{}.{:x}", dependent.name, core.ambient.now().as_nanosecond()), "namespace": namespace},
        "involvedObject": involved, "reason": "OwnerRefInvalidNamespace", "message": message, "type": "Warning",
        "source": {"component": COMPONENT}, "reportingComponent": COMPONENT,
        "firstTimestamp": now, "lastTimestamp": now, "count": 1,
    });
    client.create(&format!("/api/v1/namespaces/{namespace}/events"), &event).await.map(|_| ())
}
