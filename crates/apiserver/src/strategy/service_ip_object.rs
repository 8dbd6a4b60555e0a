//! The IPAddress that stands for the cluster IP of each service.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::Change;
use super::fields::text;
use crate::core::Core;
use crate::store::ObjectKey;

const COLLECTION: &str = "ipaddresses.networking.k8s.io";

/// Writes and removes addresses as the service has and gives them up.
pub(super) fn follow(change: Change<'_>, core: &Core) {
    let (old, new) = (address(change.old), address(change.new));
    if old == new {
        return;
    }
    if let Some(address) = old
        && let Some(stored) = core.store.get(COLLECTION, &ObjectKey::new("", address))
    {
        // Somebody else may have removed it, which is as well.
        let _ = core.store.delete(&stored);
    }
    if let (Some(address), Some(service)) = (new, change.new)
        && let Err(error) =
            core.store.create_under(&[], COLLECTION, ObjectKey::new("", address), object(address, service, core))
    {
        tracing::debug!(?error, address, "the address of a service has an object already");
    }
}

/// The cluster IP, if the service has one.
fn address(service: Option<&Value>) -> Option<&str> {
    let address = text(service?, "spec.clusterIP");
    address.parse::<IpAddr>().is_ok().then_some(address)
}

fn object(address: &str, service: &Value, core: &Core) -> Value {
    let now = core.now();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {
            "name": address,
            "uid": core.ambient.uuid(),
            "creationTimestamp": now,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv4",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
            "managedFields": [{
                "manager": "kube-apiserver", "operation": "Update", "apiVersion": "networking.k8s.io/v1", "time": now,
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {
                        ".": {},
                        "f:ipaddress.kubernetes.io/ip-family": {},
                        "f:ipaddress.kubernetes.io/managed-by": {},
                    }},
                    "f:spec": {"f:parentRef": {".": {}, "f:name": {}, "f:namespace": {}, "f:resource": {}}},
                },
            }],
        },
        "spec": {"parentRef": {
            "resource": "services",
            "namespace": text(service, "metadata.namespace"),
            "name": text(service, "metadata.name"),
        }},
    })
}
