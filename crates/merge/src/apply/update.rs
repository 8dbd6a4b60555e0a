//! Who owns what after a create, update or patch.

use serde_json::{Map, Value};

use crate::field::FieldSet;
use crate::managed::{ManagedField, ManagerId, Managers, Operation, Owned, without_managed_fields};
use crate::typed::{Duplicates, check};

use super::ApplyError;
use super::kind::Kind;
use super::options::Update;
use super::structured::{change, reconciled, strip_identity};

/// Writes `metadata.managedFields` of `new`, the object as it will be stored; `live` is what is stored now, if anything.
///
/// The manager comes to own what changes, and everybody else loses it. Managed fields that the client sent count,
/// unless they can't be read; an empty list turns tracking off until the next apply. Where tracking is off, `new` ends
/// without managed fields. If either object doesn't fit the schema, or can't be had
/// in the version of a manager, the live object's managed fields stay.
pub fn track_update(live: Option<&Value>, new: &mut Value, options: &Update<'_>) {
    let managers = given_managers(live, new, options.subresource.is_some());
    let tracked = track(live, &without_managed_fields(new), managers, options);
    let managers = tracked.unwrap_or_else(|_| live.and_then(|live| Managers::of_object(live).ok()).unwrap_or_default());
    managers.write_to(new);
}

/// The managers to start from: the client's, if it sent any that can be read, else those of the live object.
fn given_managers(live: Option<&Value>, new: &Value, is_subresource: bool) -> Managers {
    let of_live = || live.and_then(|live| Managers::of_object(live).ok()).unwrap_or_default();
    if is_subresource {
        return of_live();
    }
    let given = new.get("metadata").and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    match given.map(Vec::as_slice) {
        None => of_live(),
        Some([]) => Managers::default(),
        Some([only]) if only.as_object().is_some_and(Map::is_empty) => Managers::default(),
        Some(_) => match ManagedField::all_of(new) {
            Ok(entries) if !entries.is_empty() => Managers::from_entries(entries),
            _ => of_live(),
        },
    }
}

/// The managers after a change from `live` to `new`, which has no managed fields.
fn track(live: Option<&Value>, new: &Value, managers: Managers, options: &Update<'_>) -> Result<Managers, ApplyError> {
    let is_create = live.is_none_or(|live| live.pointer("/metadata/uid").is_none());
    if managers.is_empty() && !is_create {
        return Ok(managers);
    }
    match live {
        Some(live) => own_changes(&without_managed_fields(live), new, managers, options),
        None if managers.is_empty() => own_changes(options.empty, new, managers, options),
        None => own_changes(&of_same_kind(options.empty, new), new, managers, options),
    }
}

/// An empty object that says what it is, so that it can be converted.
fn of_same_kind(empty: &Value, new: &Value) -> Value {
    let mut empty = empty.clone();
    if let Some(members) = empty.as_object_mut() {
        for key in ["apiVersion", "kind"] {
            members.insert(key.to_owned(), new.get(key).cloned().unwrap_or_default());
        }
    }
    empty
}

/// Makes the manager the owner of what changed from `old` to `new`.
pub(crate) fn own_changes(
    old: &Value,
    new: &Value,
    managers: Managers,
    options: &Update<'_>,
) -> Result<Managers, ApplyError> {
    let kind = Kind::from(options);
    check(new, kind.of(), Duplicates::Allowed).map_err(ApplyError::Compare)?;
    check(old, kind.of(), Duplicates::Allowed).map_err(ApplyError::Compare)?;
    let changed = change(old, new, kind, reconciled(managers, old, kind)?, None)?;
    let mut managers = changed.managers;
    let own: FieldSet = changed.comparison.modified.union(&changed.comparison.added);
    let own = own.recursive_difference(options.reset);

    // The change is first booked on an identity of its own: only if something is left of it has the manager done
    // anything.
    let current = ManagerId {
        manager: "current-operation".to_owned(),
        operation: Operation::Update,
        api_version: String::new(),
        subresource: None,
    };
    let owned = Owned { fields: own, api_version: options.api_version.to_owned(), time: Some(options.now.to_owned()) };
    managers.0.insert(current.clone(), owned);
    strip_identity(&mut managers, &current);
    if let Some(mut owned) = managers.0.remove(&current) {
        let id = ManagerId::new(options.manager, Operation::Update, options.api_version, options.subresource);
        if let Some(before) = managers.0.get(&id) {
            owned.fields = owned.fields.union(&before.fields);
        }
        managers.0.insert(id, owned);
    }
    managers.cap();
    Ok(managers)
}
