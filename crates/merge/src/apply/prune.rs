//! Removing what an applier no longer sets.

use serde_json::Value;

use crate::field::FieldSet;
use crate::managed::Managers;
use crate::typed::{Type, field_set, remove, with_named_parents};

/// `merged` without the fields that the applier set last time and not this time, and that nobody else owns.
///
/// `managers` has the applier's new fields, `last` are those it had before.
pub(crate) fn prune(merged: &Value, managers: &Managers, last: Option<&FieldSet>, of: Type<'_>) -> Value {
    let Some(last) = last.filter(|last| !last.is_empty()) else { return merged.clone() };
    let named = |set: &FieldSet| with_named_parents(set, Some(of));
    let last = named(last);
    let merged_set = named(&field_set(merged, of));

    let pruned = remove(merged, &last, of);
    let owned = managers.0.values().fold(FieldSet::new(), |all, owned| all.union(&owned.fields));
    let wanted = named(&field_set(&pruned, of)).union(&named(&owned));
    let pruned = remove(merged, &merged_set.difference(&wanted), of);

    // What goes with a removed parent, but was never the applier's, stays.
    let gone = merged_set.difference(&named(&field_set(&pruned, of)));
    remove(merged, &gone.intersection(&last), of)
}
