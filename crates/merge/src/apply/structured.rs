//! What a change of an object means for its managers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::field::{FieldPath, FieldSet};
use crate::managed::{ManagerId, Managers, Owned};
use crate::typed::{Comparison, reconcile};

use super::kind::Kind;
use super::{ApplyError, Conflicts, ConversionError};

/// How the managers of an object end up after a change.
pub(crate) struct Change {
    /// The managers, without what they lost.
    pub(crate) managers: Managers,
    /// What changed.
    pub(crate) comparison: Comparison,
    /// What managers other than the one at work lost, because its value changed.
    pub(crate) conflicts: Conflicts,
}

/// Takes from all managers but `worker` the fields that change from `old` to `new`, each in the version that it wrote.
/// Those of versions that there aren't any more are forgotten.
pub(crate) fn change(
    old: &Value,
    new: &Value,
    kind: Kind<'_>,
    managers: Managers,
    worker: Option<&ManagerId>,
) -> Result<Change, ApplyError> {
    let comparison = kind.compare(old, new)?;
    let mut others: BTreeMap<String, Option<Comparison>> = BTreeMap::new();
    let mut conflicts = Conflicts::default();
    let mut kept = Managers::default();
    for (id, mut owned) in managers.0 {
        if Some(&id) == worker {
            kept.0.insert(id, owned);
            continue;
        }
        let found = if owned.api_version == kind.api_version {
            Some(&comparison)
        } else {
            let found = match others.remove(&owned.api_version) {
                Some(found) => found,
                None => kind.compare_in(old, new, &owned.api_version)?,
            };
            others.entry(owned.api_version.clone()).or_insert(found).as_ref()
        };
        let Some(found) = found else { continue };
        let lost = owned.fields.intersection(&found.modified.union(&found.added));
        if !lost.is_empty() {
            conflicts.add(&id, &lost);
            owned.fields = owned.fields.difference(&lost);
        }
        owned.fields = owned.fields.difference(&found.removed);
        kept.0.insert(id, owned);
    }
    kept.drop_idle();
    Ok(Change { managers: kept, comparison, conflicts })
}

/// Brings what managers own in line with today's schema of the version that each wrote. Errors: `live` doesn't get
/// there.
pub(crate) fn reconciled(managers: Managers, live: &Value, kind: Kind<'_>) -> Result<Managers, ApplyError> {
    let mut reconciled = Managers::default();
    for (id, mut owned) in managers.0 {
        if owned.api_version == kind.api_version {
            owned.fields = reconcile(&owned.fields, kind.of());
        } else {
            match kind.seen(live, &owned.api_version) {
                Ok(seen) => owned.fields = reconcile(&owned.fields, seen.of()),
                Err(ConversionError::UnknownVersion) => continue,
                Err(source) => return Err(ApplyError::Conversion { doing: String::new(), source }),
            }
        }
        reconciled.0.insert(id, owned);
    }
    Ok(reconciled)
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
