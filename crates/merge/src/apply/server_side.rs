//! Server-side apply.

use serde_json::{Map, Value};

use crate::field::same_value;
use crate::managed::{ManagerId, Managers, Operation, Owned, without_managed_fields};
use crate::typed::{Duplicates, check, field_set, merge};

use super::conflict::Conflicts;
use super::error::ApplyError;
use super::kind::Kind;
use super::last_applied;
use super::options::Apply;
use super::prune::prune;
use super::structured::{change, reconciled, strip_identity};
use super::update::own_changes;

/// Who owns the fields of an object that was never tracked, when it is first applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Applies `config` to `live`, the stored object if there is one, and gives the object to store.
///
/// The result has what `config` sets, keeps what others set, loses what this manager set before and nobody sets now,
/// and says in `metadata.managedFields` who owns what. It isn't defaulted or validated. When nothing changes, neither
/// do the times of the managers.
///
/// `kubectl` as the manager may take over, without force, what its client-side apply set before (the annotation
/// `kubectl.kubernetes.io/last-applied-configuration`), and keeps that annotation up to date.
///
/// Errors: conflicts with other managers unless `force` is set, a `config` that has managed fields or doesn't fit the
/// schema, and a live object that can't be read.
pub fn apply(live: Option<&Value>, config: &Value, options: &Apply<'_>) -> Result<Value, ApplyError> {
    if config.pointer("/metadata/managedFields").is_some_and(|value| !value.is_null()) {
        return Err(ApplyError::ManagedFieldsGiven);
    }
    let applied = match apply_once(live, config, options) {
        Err(ApplyError::Conflicts(conflicts)) if options.manager == last_applied::MANAGER => {
            match live.and_then(|live| last_applied::fields(live, options)) {
                None => Err(ApplyError::Conflicts(conflicts)),
                Some(allowed) => {
                    let rest = conflicts.outside(&allowed);
                    if rest.is_empty() {
                        apply_once(live, config, &Apply { force: true, ..*options })
                    } else {
                        Err(ApplyError::Conflicts(rest))
                    }
                }
            }
        }
        other => other,
    };
    let mut applied = applied?;
    if options.manager == last_applied::MANAGER {
        last_applied::update(&mut applied, config);
    }
    Ok(applied)
}

fn apply_once(live: Option<&Value>, config: &Value, options: &Apply<'_>) -> Result<Value, ApplyError> {
    let kind = Kind::from(options);
    let of = kind.of();
    let mut managers = match live {
        Some(live) => Managers::of_object(live).map_err(ApplyError::ManagedFields)?,
        None => Managers::default(),
    };
    let live = live.map(without_managed_fields);
    if let Some(live) = live.as_ref().filter(|_| managers.is_empty()) {
        check(live, of, Duplicates::Allowed)
            .map_err(|errors| ApplyError::Untracked { object: describe(live, options), errors })?;
        managers = own_changes(options.empty, live, managers, &options.as_update(BEFORE_FIRST_APPLY))?;
    }
    check(config, of, Duplicates::Refused)
        .map_err(|errors| ApplyError::Config { object: describe(config, options), errors })?;
    if let Some(live) = &live {
        check(live, of, Duplicates::Allowed)
            .map_err(|errors| ApplyError::Live { object: describe(live, options), errors })?;
    }
    let nothing = Value::Object(Map::new());
    let old = live.as_ref().unwrap_or(&nothing);
    let mut managers = reconciled(managers, old, kind)?;
    let merged = merge(old, config, of).map_err(ApplyError::Merge)?;

    let id = ManagerId::new(options.manager, Operation::Apply, options.api_version, options.subresource);
    let last = managers.0.get(&id).cloned();
    let fields = field_set(config, of).recursive_difference(options.reset);
    let time = last.as_ref().and_then(|last| last.time.clone());
    managers.0.insert(id.clone(), Owned { fields, api_version: options.api_version.to_owned(), time });
    let new = prune(merged, &managers, last.as_ref(), kind)?;

    let changed = change(old, &new, kind, managers, Some(&id))?;
    if !options.force && !changed.conflicts.is_empty() {
        return Err(ApplyError::Conflicts(changed.conflicts));
    }
    let mut managers = changed.managers;
    strip_identity(&mut managers, &id);
    if !same_value(old, &new)
        && let Some(owned) = managers.0.get_mut(&id)
    {
        owned.time = Some(options.now.to_owned());
    }
    let mut new = new;
    managers.write_to(&mut new);
    Ok(new)
}

/// Namespace, name and kind of an object, as messages have them.
fn describe(object: &Value, options: &Apply<'_>) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let version = options.api_version;
    let core = if version.contains('/') { "" } else { "/" };
    let kind = text("/kind");
    format!("{}/{}; {core}{version}, Kind={kind}", text("/metadata/namespace"), text("/metadata/name"))
}

impl ApplyError {
    /// The conflicts, if those are what is wrong.
    pub fn conflicts(&self) -> Option<&Conflicts> {
        match self {
            ApplyError::Conflicts(conflicts) => Some(conflicts),
            _ => None,
        }
    }
}
