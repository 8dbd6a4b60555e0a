use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::graph::{Dependent, FOREGROUND, Graph, ORPHAN, Work};
use super::owners::{Absent, Owners, Problem, live, locate, path};
use crate::controllers::client::{Client, Failure};
use crate::controllers::queue::Queue;
use crate::controllers::reference::{ObjectReference, OwnerReference, finalizers, group_version, resource_version};
use crate::controllers::run::Controller;
use crate::core::Core;
use crate::server::Door;
use crate::store::{Event, EventType, ObjectKey, Range};

/// Garbage collection: the graph of owners and what is to be done about it.
#[derive(Debug)]
pub(super) struct Collector {
    client: Client,
    graph: Graph,
    queue: Queue<Work>,
    absent: Absent,
    /// Work that waits for a kind to be served.
    parked: BTreeSet<Work>,
    /// Counts changes of what is served, to see when parked work is worth another look.
    served: u64,
}

impl Controller for Collector {
    type Work = Work;

    fn observe(&mut self, event: &Event) {
        self.look_at(event.kind, event.object.value(), event.previous.as_ref().map(|object| object.value()));
        let served = self.core().registry.generation();
        if served != self.served {
            self.served = served;
            for work in std::mem::take(&mut self.parked) {
                self.queue.add(work);
            }
        }
    }

    fn resync(&mut self) {
        self.graph = Graph::default();
        let core = Arc::clone(self.core());
        let mut seen = BTreeSet::new();
        for resource in core.registry.all() {
            let collection = resource.storage_name().to_string();
            if !seen.insert(collection.clone()) {
                continue;
            }
            let Ok(page) = core.store.list(&collection, &Range::default(), |_| true) else { continue };
            for object in &page.objects {
                self.look_at(EventType::Added, object.value(), None);
            }
        }
    }

    fn queue(&mut self) -> &mut Queue<Work> {
        &mut self.queue
    }

    async fn process(&mut self, work: Work) {
        let result = match &work {
            Work::Check(uid) => self.check(uid).await,
            Work::Orphan(uid) => self.orphan(uid).await,
        };
        match result {
            Ok(()) => self.queue.forget(&work),
            Err(Problem::NamespacedOwner) => {
                tracing::warn!(?work, "a cluster-scoped object has an owner in a namespace");
                self.queue.forget(&work);
            }
            Err(problem @ Problem::UnknownKind { .. }) => {
                tracing::debug!(?work, %problem, "garbage collection waits");
                self.queue.forget(&work);
                self.parked.insert(work);
            }
            Err(problem @ Problem::Request(_)) => {
                tracing::debug!(?work, %problem, "garbage collection will try again");
                self.queue.retry(work);
            }
        }
    }
}

impl Collector {
    pub(super) fn new(door: Arc<Door>) -> Self {
        let served = door.core.registry.generation();
        Self {
            client: Client::new(door, "generic-garbage-collector"),
            graph: Graph::default(),
            queue: Queue::new(),
            absent: Absent::default(),
            parked: BTreeSet::new(),
            served,
        }
    }

    fn core(&self) -> &Arc<Core> {
        &self.client.door().core
    }

    fn look_at(&mut self, kind: EventType, object: &Value, previous: Option<&Value>) {
        if is_event(object) {
            return;
        }
        if kind == EventType::Deleted {
            if let Some(gone) = ObjectReference::of(object) {
                self.graph.gone(&gone.uid, &mut self.queue);
            }
            return;
        }
        let core = Arc::clone(self.core());
        let is_owner = |owner: &OwnerReference, dependent: &ObjectReference| is_stored(&core, owner, dependent);
        self.graph.changed(object, previous, is_owner, &mut self.queue);
    }

    /// Deletes an object that has no owner left, or lets one go that waited for its dependents.
    async fn check(&mut self, uid: &str) -> Result<(), Problem> {
        let waiting = self.graph.waiting(uid).cloned();
        let dependent = self.graph.dependent(uid).cloned();
        let item = match (&waiting, &dependent) {
            (Some(waiting), _) => waiting,
            (None, Some(dependent)) if !dependent.is_being_deleted => &dependent.reference,
            // Unknown, or on its way out already.
            _ => return Ok(()),
        };
        let Some(latest) = live(&self.client, item).await? else {
            self.graph.gone(uid, &mut self.queue);
            return Ok(());
        };
        if waiting.is_some() {
            return self.finish_waiting(item).await;
        }
        let references = OwnerReference::all(&latest);
        if references.is_empty() {
            return Ok(());
        }
        let owners = Owners::classify(references, item, &self.client, &mut self.absent).await?;
        if !owners.solid.is_empty() {
            let lost: Vec<_> = owners.dangling.into_iter().chain(owners.waiting).map(|owner| owner.uid).collect();
            return if lost.is_empty() { Ok(()) } else { self.remove_owners(item, &lost).await };
        }
        if !owners.waiting.is_empty() && self.graph.dependents_of(uid).next().is_some() {
            let in_a_circle = self.graph.dependents_of(uid).any(|it| self.graph.waiting(&it.reference.uid).is_some());
            if in_a_circle {
                self.unblock_owners(item, &latest).await?;
            }
            // Unblocking may have changed the object, so only its uid is held to.
            let seen = (!in_a_circle).then_some(&latest);
            return self.delete(item, seen, "Foreground").await;
        }
        let has = |finalizer| finalizers(&latest).any(|name| name == finalizer);
        let policy = if has(ORPHAN) {
            "Orphan"
        } else if has(FOREGROUND) {
            "Foreground"
        } else {
            "Background"
        };
        self.delete(item, Some(&latest), policy).await
    }

    /// The owner goes when nothing blocks it any more; what still does is looked at.
    async fn finish_waiting(&mut self, owner: &ObjectReference) -> Result<(), Problem> {
        let blocking: Vec<_> = self.graph.blocking(&owner.uid).map(|it| it.reference.uid.clone()).collect();
        if blocking.is_empty() {
            return self.remove_finalizer(owner, FOREGROUND).await;
        }
        for uid in blocking {
            if self.graph.waiting(&uid).is_none() {
                self.queue.add(Work::Check(uid));
            }
        }
        Ok(())
    }

    /// Takes the owner out of its dependents and then lets it go.
    async fn orphan(&mut self, uid: &str) -> Result<(), Problem> {
        let Some(owner) = self.graph.orphaning(uid).cloned() else { return Ok(()) };
        let dependents: Vec<Dependent> = self.graph.dependents_of(uid).cloned().collect();
        for dependent in dependents {
            self.remove_owners(&dependent.reference, &[uid.to_owned()]).await?;
        }
        self.remove_finalizer(&owner, ORPHAN).await
    }

    /// Deletes the object if it still is as it was `seen`, or at least its owners are.
    async fn delete(&mut self, item: &ObjectReference, seen: Option<&Value>, policy: &str) -> Result<(), Problem> {
        let path = path(&self.client, item)?;
        let mut options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy,
            "preconditions": {"uid": item.uid},
        });
        if let Some(seen) = seen {
            options["preconditions"]["resourceVersion"] = json!(resource_version(seen));
        }
        match self.client.delete(&path, &options).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.is_not_found() => {
                self.graph.gone(&item.uid, &mut self.queue);
                Ok(())
            }
            Err(failure) if failure.is_conflict() && seen.is_some() => {
                let latest = live(&self.client, item).await?;
                let owners = |object: &Value| object.pointer("/metadata/ownerReferences").cloned();
                if latest.as_ref().and_then(owners) != seen.and_then(owners) {
                    return Err(failure.into());
                }
                // Whatever changed says nothing about the owners; rapid writes must not keep the object alive.
                Box::pin(self.delete(item, None, policy)).await
            }
            Err(failure) => Err(failure.into()),
        }
    }

    async fn remove_owners(&self, item: &ObjectReference, owners: &[String]) -> Result<(), Problem> {
        let entries: Vec<_> = owners.iter().map(|uid| json!({"$patch": "delete", "uid": uid})).collect();
        let strategic = json!({"metadata": {"uid": item.uid, "ownerReferences": entries}});
        self.patch_owners(item, &strategic, |reference| {
            let uid = reference.get("uid").and_then(Value::as_str).unwrap_or_default();
            (!owners.iter().any(|owner| owner == uid)).then_some(reference)
        })
        .await
    }

    async fn unblock_owners(&self, item: &ObjectReference, latest: &Value) -> Result<(), Problem> {
        let unblock = |mut reference: Value| {
            reference["blockOwnerDeletion"] = json!(false);
            Some(reference)
        };
        let blocks = |reference: &&Value| reference.get("blockOwnerDeletion") == Some(&json!(true));
        let references = latest.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        let unblocked: Vec<_> = references.into_iter().flatten().filter(blocks).cloned().filter_map(unblock).collect();
        let strategic = json!({"metadata": {"uid": item.uid, "ownerReferences": unblocked}});
        self.patch_owners(item, &strategic, unblock).await
    }

    /// Changes owner references with a strategic merge patch or, for custom resources, which know none, with a merge
    /// patch of the live ones. An object that is gone needs no change.
    async fn patch_owners(
        &self,
        item: &ObjectReference,
        strategic: &Value,
        change: impl Fn(Value) -> Option<Value>,
    ) -> Result<(), Problem> {
        let path = path(&self.client, item)?;
        match self.client.strategic_merge(&path, strategic).await {
            Err(failure) if failure.is_unsupported_media_type() => {}
            other => return unless_gone(other),
        }
        let Some(latest) = live(&self.client, item).await? else { return Ok(()) };
        let references = latest.pointer("/metadata/ownerReferences").and_then(Value::as_array).cloned();
        let references: Vec<_> = references.unwrap_or_default().into_iter().filter_map(change).collect();
        let references = if references.is_empty() { Value::Null } else { Value::Array(references) };
        let merge = json!({
            "metadata": {"resourceVersion": resource_version(&latest), "ownerReferences": references},
        });
        unless_gone(self.client.merge(&path, &merge).await)
    }

    async fn remove_finalizer(&self, item: &ObjectReference, finalizer: &str) -> Result<(), Problem> {
        let path = path(&self.client, item)?;
        let Some(latest) = live(&self.client, item).await? else { return Ok(()) };
        let all: Vec<_> = finalizers(&latest).collect();
        let left: Vec<_> = all.iter().filter(|name| **name != finalizer).collect();
        if left.len() == all.len() {
            return Ok(());
        }
        let left = if left.is_empty() { Value::Null } else { json!(left) };
        let merge = json!({"metadata": {"resourceVersion": resource_version(&latest), "finalizers": left}});
        unless_gone(self.client.merge(&path, &merge).await)
    }
}

fn unless_gone(result: Result<Value, Failure>) -> Result<(), Problem> {
    match result {
        Ok(_) => Ok(()),
        Err(failure) if failure.is_not_found() => Ok(()),
        Err(failure) => Err(failure.into()),
    }
}

/// Events belong to nobody, whatever their owner references say: they expire.
fn is_event(object: &Value) -> bool {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    text("kind") == "Event" && matches!(group_version(text("apiVersion")).0, "" | "events.k8s.io")
}

fn is_stored(core: &Core, owner: &OwnerReference, dependent: &ObjectReference) -> bool {
    let Ok(owner) = locate(&core.registry, owner, dependent) else { return false };
    let (group, version) = group_version(&owner.api_version);
    let Some(resource) = core.registry.by_kind(group, version, &owner.kind) else { return false };
    let key = ObjectKey::new(owner.namespace, owner.name);
    let stored = core.store.get(&resource.storage_name().to_string(), &key);
    stored.and_then(|object| ObjectReference::of(object.value())).is_some_and(|found| found.uid == owner.uid)
}
