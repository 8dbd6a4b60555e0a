//! What a change of an object means for its managers.

use serde_json::Value;

use crate::field::{FieldPath, FieldSet};
use crate::managed::{ManagerId, Managers, Owned};
use crate::typed::{Comparison, Type, TypeErrors, compare, reconcile};

use super::Conflicts;

/// How the managers of an object end up after a change.
pub(crate) struct Change {
    /// The managers, without what they lost.
    pub(crate) managers: Managers,
    /// What changed.
    pub(crate) comparison: Comparison,
    /// What managers other than the one at work lost, because its value changed.
    pub(crate) conflicts: Conflicts,
}

/// Takes from all managers but `worker` the fields that change from `old` to `new`.
pub(crate) fn change(
    old: &Value,
    new: &Value,
    of: Type<'_>,
    mut managers: Managers,
    worker: Option<&ManagerId>,
    reset: &FieldSet,
) -> Result<Change, TypeErrors> {
    let comparison = compare(old, new, of)?.without(reset);
    let changed = comparison.modified.union(&comparison.added);
    let mut conflicts = Conflicts::default();
    for (id, owned) in &mut managers.0 {
        if Some(id) == worker {
            continue;
        }
        let lost = owned.fields.intersection(&changed);
        if !lost.is_empty() {
            conflicts.add(id, &lost);
            owned.fields = owned.fields.difference(&lost);
        }
        owned.fields = owned.fields.difference(&comparison.removed);
    }
    managers.drop_idle();
    Ok(Change { managers, comparison, conflicts })
}

/// Brings what managers own in line with today's schema.
pub(crate) fn reconciled(mut managers: Managers, of: Type<'_>) -> Managers {
    for owned in managers.0.values_mut() {
        owned.fields = reconcile(&owned.fields, of);
    }
    managers
}

/// Takes from a manager what nobody owns: the type and identity of the object, and what only the server writes.
pub(crate) fn strip_identity(managers: &mut Managers, id: &ManagerId) {
    let Some(Owned { fields, .. }) = managers.0.get_mut(id) else { return };
    *fields = fields.difference(&unowned());
    if fields.is_empty() {
        managers.0.remove(id);
    }
}

fn unowned() -> FieldSet {
    let of_metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    ["apiVersion", "kind", "metadata"]
        .into_iter()
        .map(|name| FieldPath::fields([name]))
        .chain(of_metadata.into_iter().map(|name| FieldPath::fields(["metadata", name])))
        .collect()
}
