//! Removing what an applier no longer sets.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::field::FieldSet;
use crate::managed::{Managers, Owned};
use crate::typed::{field_set, remove, with_named_parents};

use super::error::ApplyError;
use super::kind::{Kind, Seen};
use super::versions::ConversionError;

/// `merged` without the fields that the applier set last time and not this time, and that nobody else owns.
///
/// `managers` has the applier's new fields, `last` are those it had before, in the version that it wrote then. Errors:
/// the object doesn't get to the versions of those who own something.
pub(crate) fn prune(
    merged: Value,
    managers: &Managers,
    last: Option<&Owned>,
    kind: Kind<'_>,
) -> Result<Value, ApplyError> {
    let Some(last) = last.filter(|last| !last.fields.is_empty()) else { return Ok(merged) };
    let failed =
        |doing: &str, source| Err(ApplyError::Conversion { doing: format!("failed to prune fields: {doing}"), source });
    let at_last = match kind.seen(&merged, &last.api_version) {
        Ok(seen) => seen,
        Err(ConversionError::UnknownVersion) => return Ok(merged),
        Err(source) => return failed("failed to convert merged object to last applied version: ", source),
    };
    let wanted = with_named_parents(&last.fields, Some(at_last.of()));
    let pruned = at_last.with(remove(&at_last.object, &wanted, at_last.of()));
    let pruned = add_back_owned(&at_last, pruned, &last.api_version, managers, kind)?;
    let pruned = match kind.seen(&pruned, &last.api_version) {
        // What goes with a removed parent, but was never the applier's, stays.
        Ok(pruned) => {
            let gone = members(&at_last).difference(&members(&pruned));
            remove(&at_last.object, &gone.intersection(&wanted), at_last.of())
        }
        Err(ConversionError::UnknownVersion) => at_last.object.clone().into_owned(),
        Err(source) => {
            let doing = "failed add back dangling items: failed to convert pruned object to last applied version: ";
            return failed(doing, source);
        }
    };
    match kind.seen(&pruned, kind.api_version) {
        Ok(pruned) => Ok(pruned.object.into_owned()),
        Err(source) => failed("", source),
    }
}

/// All fields that an object sets, with the structs that hold them.
fn members(seen: &Seen<'_>) -> FieldSet {
    with_named_parents(&field_set(&seen.object, seen.of()), Some(seen.of()))
}

/// The pruned object with what managers own of the merged one, in the version of the last of them.
///
/// Those of the version in which it was pruned come first: a conversion may need what they own.
fn add_back_owned(
    merged: &Seen<'_>,
    pruned: Seen<'_>,
    pruned_in: &str,
    managers: &Managers,
    kind: Kind<'_>,
) -> Result<Value, ApplyError> {
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for manager in managers.0.values() {
        let all = owned.entry(manager.api_version.as_str()).or_default();
        *all = all.union(&manager.fields);
    }
    let first = owned.remove_entry(pruned_in);
    let (mut merged, mut pruned) = (merged.object.clone().into_owned(), pruned.object.into_owned());
    for (api_version, owned) in first.into_iter().chain(owned) {
        let failed = |which: &str, source| {
            let doing = format!("failed to convert {which} object at version {api_version}: ");
            ApplyError::Conversion {
                doing: format!("failed to prune fields: failed add back owned items: {doing}"),
                source,
            }
        };
        let all = match kind.seen(&merged, api_version) {
            Ok(all) => all,
            Err(ConversionError::UnknownVersion) => continue,
            Err(source) => return Err(failed("merged", source)),
        };
        let rest = match kind.seen(&pruned, api_version) {
            Ok(rest) => rest,
            Err(ConversionError::UnknownVersion) => continue,
            Err(source) => return Err(failed("pruned", source)),
        };
        let wanted = members(&rest).union(&with_named_parents(&owned, Some(all.of())));
        let next = remove(&all.object, &members(&all).difference(&wanted), all.of());
        merged = all.object.into_owned();
        pruned = next;
    }
    Ok(pruned)
}
