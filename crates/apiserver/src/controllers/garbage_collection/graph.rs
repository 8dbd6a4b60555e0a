use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::controllers::queue::Queue;
use crate::controllers::reference::{ObjectReference, OwnerReference, finalizers, is_being_deleted};

/// The owner goes once its dependents are gone.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The dependents stay when the owner goes.
pub(super) const ORPHAN: &str = "orphan";

/// What the collector is to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// Whether the object of this uid must go, or needs to wait no longer.
    Check(String),
    /// The dependents of this uid lose their owner.
    Orphan(String),
}

/// Who owns whom. Objects that neither own nor are owned take no room here.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Objects with owners, by uid.
    dependents: BTreeMap<String, Dependent>,
    /// Uids of dependents by uid of the owner, whether or not that exists.
    owned: BTreeMap<String, BTreeSet<String>>,
    /// Objects that wait for their dependents to be deleted, by uid.
    waiting: BTreeMap<String, ObjectReference>,
    /// Objects that wait for their dependents to be orphaned, by uid.
    orphaning: BTreeMap<String, ObjectReference>,
}

/// An object with owners.
#[derive(Debug, Clone)]
pub(super) struct Dependent {
    pub(super) reference: ObjectReference,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) is_being_deleted: bool,
}

impl Graph {
    /// Takes note of an object that was added or changed. `is_owner` says whether an owner is there as the reference
    /// names it; a dependent with another one is looked at.
    pub(super) fn changed(
        &mut self,
        object: &Value,
        previous: Option<&Value>,
        is_owner: impl Fn(&OwnerReference, &ObjectReference) -> bool,
        queue: &mut Queue<Work>,
    ) {
        let Some(reference) = ObjectReference::of(object) else { return };
        let uid = reference.uid.clone();
        let owners = OwnerReference::all(object);
        let before = self.dependents.get(&uid).map(|dependent| dependent.owners.clone()).unwrap_or_default();
        self.unlink_changed(&uid, &before, &owners, queue);
        for owner in &owners {
            self.owned.entry(owner.uid.clone()).or_default().insert(uid.clone());
            if !before.iter().any(|known| known.uid == owner.uid) && !is_owner(owner, &reference) {
                queue.add(Work::Check(uid.clone()));
            }
        }
        if owners.is_empty() {
            self.dependents.remove(&uid);
        } else {
            let is_being_deleted = is_being_deleted(object);
            self.dependents.insert(uid, Dependent { reference: reference.clone(), owners, is_being_deleted });
        }
        self.start_waiting(reference, object, previous, queue);
    }

    /// Owners that an object has no more, or that it no longer blocks, may go on.
    fn unlink_changed(
        &mut self,
        uid: &str,
        before: &[OwnerReference],
        after: &[OwnerReference],
        queue: &mut Queue<Work>,
    ) {
        for owner in before {
            let now = after.iter().find(|reference| reference.uid == owner.uid);
            if now.is_none() {
                self.unlink(&owner.uid, uid);
            }
            if owner.blocks && !now.is_some_and(|reference| reference.blocks) {
                queue.add(Work::Check(owner.uid.clone()));
            }
        }
    }

    fn start_waiting(
        &mut self,
        reference: ObjectReference,
        object: &Value,
        previous: Option<&Value>,
        queue: &mut Queue<Work>,
    ) {
        let starts = |finalizer| holds(object, finalizer) && !previous.is_some_and(|object| holds(object, finalizer));
        if starts(ORPHAN) {
            queue.add(Work::Orphan(reference.uid.clone()));
            self.orphaning.insert(reference.uid.clone(), reference);
        } else if starts(FOREGROUND) {
            for dependent in self.owned.get(&reference.uid).into_iter().flatten() {
                queue.add(Work::Check(dependent.clone()));
            }
            queue.add(Work::Check(reference.uid.clone()));
            self.waiting.insert(reference.uid.clone(), reference);
        }
    }

    /// Takes note that an object is gone: its dependents must be looked at, and owners that wait for it.
    pub(super) fn gone(&mut self, uid: &str, queue: &mut Queue<Work>) {
        self.waiting.remove(uid);
        self.orphaning.remove(uid);
        for dependent in self.owned.get(uid).into_iter().flatten() {
            queue.add(Work::Check(dependent.clone()));
        }
        let Some(gone) = self.dependents.remove(uid) else { return };
        for owner in &gone.owners {
            self.unlink(&owner.uid, uid);
            if self.waiting.contains_key(&owner.uid) {
                queue.add(Work::Check(owner.uid.clone()));
            }
        }
    }

    fn unlink(&mut self, owner: &str, dependent: &str) {
        if let Some(owned) = self.owned.get_mut(owner) {
            owned.remove(dependent);
            if owned.is_empty() {
                self.owned.remove(owner);
            }
        }
    }

    /// The object with owners of this uid.
    pub(super) fn dependent(&self, uid: &str) -> Option<&Dependent> {
        self.dependents.get(uid)
    }

    /// The object of this uid, if it waits for its dependents to be deleted.
    pub(super) fn waiting(&self, uid: &str) -> Option<&ObjectReference> {
        self.waiting.get(uid)
    }

    /// The object of this uid, if it waits for its dependents to be orphaned.
    pub(super) fn orphaning(&self, uid: &str) -> Option<&ObjectReference> {
        self.orphaning.get(uid)
    }

    /// What an object owns.
    pub(super) fn dependents_of(&self, uid: &str) -> impl Iterator<Item = &Dependent> {
        self.owned.get(uid).into_iter().flatten().filter_map(|dependent| self.dependents.get(dependent))
    }

    /// What an object owns and must wait for.
    pub(super) fn blocking(&self, uid: &str) -> impl Iterator<Item = &Dependent> {
        self.dependents_of(uid).filter(move |it| it.owners.iter().any(|owner| owner.uid == uid && owner.blocks))
    }
}

fn holds(object: &Value, finalizer: &str) -> bool {
    is_being_deleted(object) && finalizers(object).any(|name| name == finalizer)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Graph, Work};
    use crate::controllers::queue::Queue;

    fn object(uid: &str, owners: &[(&str, bool)], finalizers: &[&str]) -> Value {
        let owners: Vec<_> = owners
            .iter()
            .map(|(uid, blocks)| {
                json!({"apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid, "blockOwnerDeletion": blocks})
            })
            .collect();
        let mut metadata = json!({"name": uid, "namespace": "n", "uid": uid, "ownerReferences": owners});
        if !finalizers.is_empty() {
            metadata["finalizers"] = json!(finalizers);
            metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    }

    struct Seen {
        graph: Graph,
        queue: Queue<Work>,
    }

    impl Seen {
        fn new() -> Self {
            Self { graph: Graph::default(), queue: Queue::new() }
        }

        /// Shows an object to the graph; only owners whose uid starts with `o` are there.
        fn change(&mut self, object: &Value, previous: Option<&Value>) -> &mut Self {
            self.graph.changed(object, previous, |owner, _| owner.uid.starts_with('o'), &mut self.queue);
            self
        }

        fn gone(&mut self, uid: &str) -> &mut Self {
            self.graph.gone(uid, &mut self.queue);
            self
        }

        fn check(&mut self, expect: &[&str]) -> &mut Self {
            let mut got = Vec::new();
            while let Some(work) = self.queue.pop() {
                got.push(match work {
                    Work::Check(uid) => format!("check {uid}"),
                    Work::Orphan(uid) => format!("orphan {uid}"),
                });
            }
            assert_eq!(got, expect);
            self
        }
    }

    #[test]
    fn a_dependent_is_looked_at_when_its_owner_is_not_there() {
        let mut seen = Seen::new();
        seen.change(&object("a", &[("o", false)], &[]), None).check(&[]);
        seen.change(&object("b", &[("absent", false)], &[]), None).check(&["check b"]);
        seen.gone("o").check(&["check a"]);
        seen.gone("a").gone("b").check(&[]);
        assert!(seen.graph.owned.is_empty() && seen.graph.dependents.is_empty());
    }

    #[test]
    fn an_owner_waits_for_what_blocks_it() {
        let mut seen = Seen::new();
        seen.change(&object("a", &[("o", true)], &[]), None).change(&object("b", &[("o", false)], &[]), None);
        let owner = object("o", &[], &["foregroundDeletion"]);
        seen.change(&owner, Some(&object("o", &[], &[]))).check(&["check a", "check b", "check o"]);
        seen.change(&owner, Some(&owner)).check(&[]);
        assert_eq!(seen.graph.blocking("o").count(), 1);
        seen.change(&object("a", &[("o", false)], &[]), None).check(&["check o"]);
        assert_eq!(seen.graph.blocking("o").count(), 0);
        seen.gone("b").check(&["check o"]);
        seen.change(&object("a", &[], &[]), None).check(&[]);
        seen.gone("o").check(&[]);
    }

    #[test]
    fn orphaning_comes_before_waiting() {
        let mut seen = Seen::new();
        seen.change(&object("o", &[], &["orphan", "foregroundDeletion"]), None).check(&["orphan o"]);
        assert!(seen.graph.orphaning("o").is_some() && seen.graph.waiting("o").is_none());
    }
}
