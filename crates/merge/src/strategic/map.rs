//! Merging maps.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::element::{DIRECTIVE, into_list, kind_of_items, without_directives, without_nulls};
use super::error::StrategicError;
use super::list::{ListMerge, merge_lists};
use super::order::{Partition, check_order, in_order};
use super::place::Place;

const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";
const RETAIN_KEYS: &str = "$retainKeys";

/// Merges a map of the patch into one of the object.
pub(crate) fn merge_maps(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    of: Place<'_>,
) -> Result<Map<String, Value>, StrategicError> {
    if let Some(directive) = patch.get(DIRECTIVE).cloned() {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(StrategicError::Directive { directive, map: Value::Object(patch) }),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    merge_ordered_lists(&mut original, &mut patch, of)?;
    for (key, change) in patch {
        merge_field(&mut original, key, change, of)?;
    }
    Ok(original)
}

fn merge_field(
    original: &mut Map<String, Value>,
    key: String,
    change: Value,
    of: Place<'_>,
) -> Result<(), StrategicError> {
    let deletes_items = key.starts_with(DELETE_FROM_LIST);
    let key = if deletes_items {
        directive_field(&key, DELETE_FROM_LIST).ok_or(StrategicError::PrimitiveList)?.to_owned()
    } else {
        key
    };
    if change.is_null() {
        original.remove(&key);
        return Ok(());
    }
    let present = original.remove(&key);
    let merged = match (present, change) {
        (Some(Value::Object(present)), Value::Object(change)) => {
            let of = of.field(&key)?;
            if of.schema.patch_strategy.replace {
                Some(Value::Object(change))
            } else {
                Some(Value::Object(merge_maps(present, change, of)?))
            }
        }
        (Some(Value::Array(present)), Value::Array(change)) => {
            let of = of.field(&key)?;
            if of.schema.patch_strategy.merge || deletes_items {
                let merge = ListMerge { of, deletes_items };
                Some(Value::Array(merge_lists(present, change, merge)?))
            } else {
                Some(Value::Array(change))
            }
        }
        // Items can only be deleted from a list that is there.
        (present, _) if deletes_items => present,
        (_, change) => without_directives(without_nulls(change)),
    };
    if let Some(merged) = merged {
        original.insert(key, merged);
    }
    Ok(())
}

/// Deletes the keys that `$retainKeys` doesn't name.
fn retain_keys(original: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<(), StrategicError> {
    let Some(retained) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let Value::Array(retained) = retained else { return Err(StrategicError::RetainKeys) };
    let retained: BTreeSet<&str> = retained.iter().filter_map(Value::as_str).collect();
    let is_unnamed = |(key, value): (&String, &Value)| {
        !value.is_null()
            && !key.starts_with(DELETE_FROM_LIST)
            && !key.starts_with(SET_ORDER)
            && !retained.contains(key.as_str())
    };
    if patch.iter().any(is_unnamed) {
        return Err(StrategicError::RetainKeys);
    }
    original.retain(|key, _| retained.contains(key.as_str()));
    Ok(())
}

/// Merges the lists whose order the patch sets, and takes them out of the patch.
fn merge_ordered_lists(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    of: Place<'_>,
) -> Result<(), StrategicError> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        let order = into_list(order)?;
        let key = directive_field(&directive, SET_ORDER).ok_or(StrategicError::SetElementOrder)?;
        let of = of.field(key)?;
        let present = original.get(key).cloned().map(into_list).transpose()?;
        let change = patch.get(key).cloned().map(into_list).transpose()?;
        check_order(change.as_deref().unwrap_or_default(), &order, of.schema.patch_merge_key.as_deref())?;
        let (before, given) = (present.clone().unwrap_or_default(), change.clone().unwrap_or_default());
        let merged = match (present, change) {
            (None, None) => continue,
            (Some(present), None) => present,
            (None, Some(change)) => change.into_iter().filter_map(without_directives).collect(),
            (Some(present), Some(change)) if of.schema.patch_strategy.merge => {
                merge_lists(present, change, ListMerge { of, deletes_items: false })?
            }
            (Some(_), Some(change)) => change,
        };
        let merge_key = of.schema.patch_merge_key.as_deref();
        let partition = Partition::by_presence(merged, &order, merge_key)?;
        let items = kind_of_items(&before, &given)?;
        let ordered = in_order(partition, &order, &before, merge_key, items)?;
        original.insert(key.to_owned(), Value::Array(ordered));
        patch.remove(key);
    }
    Ok(())
}

/// The field that a directive in a key is about.
fn directive_field<'a>(key: &'a str, directive: &str) -> Option<&'a str> {
    key.split_once('/').filter(|(name, _)| *name == directive).map(|(_, field)| field)
}
