use std::collections::BTreeSet;

use serde_json::Value;

use super::graph::FOREGROUND;
use super::invalid_owner;
use crate::controllers::client::{Client, Failure, object_path};
use crate::controllers::reference::{ObjectReference, OwnerReference, finalizers, group_version, is_being_deleted};
use crate::registry::Registry;

/// An object's owner references, by what has become of the owners.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// The owner is there and stays, or goes without waiting for its dependents.
    pub(super) solid: Vec<OwnerReference>,
    /// There is no such owner.
    pub(super) dangling: Vec<OwnerReference>,
    /// The owner waits for its dependents to be deleted.
    pub(super) waiting: Vec<OwnerReference>,
}

/// Why nothing can be done about an object.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    /// The kind of the object or of an owner is not served; it may be later.
    #[error("{kind} of {api_version} is not served")]
    UnknownKind {
        /// Group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The object is cluster-scoped, its owner in a namespace: a mistake that no waiting helps.
    #[error("a cluster-scoped object can't have an owner in a namespace")]
    NamespacedOwner,
    /// A request failed.
    #[error(transparent)]
    Request(#[from] Failure),
}

/// Owners that are known to be gone, so that many dependents of one owner cost one request. Uids are never given
/// twice, so this can't become wrong.
#[derive(Debug, Default)]
pub(super) struct Absent(BTreeSet<ObjectReference>);

impl Absent {
    const MAX: usize = 500;

    fn insert(&mut self, owner: ObjectReference) {
        if self.0.len() >= Self::MAX {
            self.0.clear();
        }
        self.0.insert(owner);
    }
}

impl Owners {
    /// Asks the server for each owner.
    pub(super) async fn classify(
        references: Vec<OwnerReference>,
        dependent: &ObjectReference,
        client: &Client,
        absent: &mut Absent,
    ) -> Result<Self, Problem> {
        let mut owners = Self::default();
        for reference in references {
            match find(&reference, dependent, client, absent).await? {
                None => owners.dangling.push(reference),
                Some(owner) if is_being_deleted(&owner) && finalizers(&owner).any(|name| name == FOREGROUND) => {
                    owners.waiting.push(reference);
                }
                Some(_) => owners.solid.push(reference),
            }
        }
        Ok(owners)
    }
}

/// The owner that a reference names, `None` when there is none of that uid.
async fn find(
    reference: &OwnerReference,
    dependent: &ObjectReference,
    client: &Client,
    absent: &mut Absent,
) -> Result<Option<Value>, Problem> {
    let owner = match locate(&client.door().core.registry, reference, dependent) {
        Err(Problem::NamespacedOwner) => {
            if invalid_owner::stands_elsewhere(&client.door().core, reference, dependent) {
                invalid_owner::report(client, reference, dependent).await?;
            }
            return Err(Problem::NamespacedOwner);
        }
        located => located?,
    };
    if absent.0.contains(&owner) {
        return Ok(None);
    }
    let found = live(client, &owner).await?;
    if found.is_none() {
        if invalid_owner::stands_elsewhere(&client.door().core, reference, dependent) {
            invalid_owner::report(client, reference, dependent).await?;
        } else {
            absent.insert(owner);
        }
    }
    Ok(found)
}

/// Where the owner must be if the reference is right: in the dependent's own namespace, or in none.
pub(super) fn locate(
    registry: &Registry,
    owner: &OwnerReference,
    dependent: &ObjectReference,
) -> Result<ObjectReference, Problem> {
    let (group, version) = group_version(&owner.api_version);
    let resource = registry
        .by_kind(group, version, &owner.kind)
        .ok_or_else(|| Problem::UnknownKind { api_version: owner.api_version.clone(), kind: owner.kind.clone() })?;
    if resource.namespaced && dependent.namespace.is_empty() {
        return Err(Problem::NamespacedOwner);
    }
    Ok(ObjectReference {
        uid: owner.uid.clone(),
        api_version: owner.api_version.clone(),
        kind: owner.kind.clone(),
        namespace: if resource.namespaced { dependent.namespace.clone() } else { String::new() },
        name: owner.name.clone(),
    })
}

/// The object itself as the server has it now; `None` when it is gone, or another one has its name.
pub(super) async fn live(client: &Client, object: &ObjectReference) -> Result<Option<Value>, Problem> {
    let path = path(client, object)?;
    match client.get(&path).await {
        Ok(value) if ObjectReference::of(&value).is_some_and(|found| found.uid == object.uid) => Ok(Some(value)),
        Ok(_) => Ok(None),
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

/// The object's path.
pub(super) fn path(client: &Client, object: &ObjectReference) -> Result<String, Problem> {
    let (group, version) = group_version(&object.api_version);
    let resource = client.door().core.registry.by_kind(group, version, &object.kind);
    let resource = resource
        .ok_or_else(|| Problem::UnknownKind { api_version: object.api_version.clone(), kind: object.kind.clone() })?;
    Ok(object_path(&resource, object))
}
