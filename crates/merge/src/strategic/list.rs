//! Merging lists.

use serde_json::Value;

use super::element::{DIRECTIVE, Items, find, key_value, kind_of_items};
use super::error::StrategicError;
use super::map::merge_maps;
use super::order::{Partition, in_order};
use super::place::Place;

/// How a list is merged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListMerge<'a> {
    /// Where the list is.
    pub(crate) of: Place<'a>,
    /// Whether the items in the patch are to be deleted.
    pub(crate) deletes_items: bool,
}

/// Merges a list of the patch into one of the object.
pub(crate) fn merge_lists(
    original: Vec<Value>,
    patch: Vec<Value>,
    merge: ListMerge<'_>,
) -> Result<Vec<Value>, StrategicError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let items = kind_of_items(&original, &patch)?;
    if items == Items::Scalars {
        if merge.deletes_items {
            return Ok(original.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let mut merged: Vec<Value> = Vec::with_capacity(original.len() + patch.len());
        for item in original.iter().chain(&patch) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        let partition = Partition::by_presence(merged, &patch, None)?;
        return in_order(partition, &patch, &original, None, items);
    }
    let key = merge.of.schema.patch_merge_key.as_deref().ok_or(StrategicError::NoDeclaredMergeKey)?;
    let (original, patch) = apply_directives(original, patch, key)?;
    let merged = merge_items(original.clone(), &patch, key, merge.of)?;
    let partition = Partition::by_presence(merged, &patch, Some(key))?;
    in_order(partition, &patch, &original, Some(key), items)
}

/// Does what the items with directives say and gives both lists without them.
fn apply_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), StrategicError> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE).cloned() else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let wanted = key_value(&item, key)?;
                while let Some(index) = find(&original, key, wanted)? {
                    original.remove(index);
                }
            }
            Some("replace") => replaces = true,
            Some("merge") => return Err(StrategicError::MergeDirective),
            _ => return Err(StrategicError::Directive { directive, map: item }),
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (original, plain) })
}

fn merge_items(
    mut original: Vec<Value>,
    patch: &[Value],
    key: &str,
    of: Place<'_>,
) -> Result<Vec<Value>, StrategicError> {
    for item in patch {
        let wanted = key_value(item, key)?;
        let slot = find(&original, key, wanted)?.and_then(|index| original.get_mut(index));
        match (slot, item) {
            (Some(slot), Value::Object(change)) => {
                let present = slot.as_object_mut().map(std::mem::take).unwrap_or_default();
                let of = of.item(key)?;
                *slot = Value::Object(merge_maps(present, change.clone(), of)?);
            }
            _ => original.push(item.clone()),
        }
    }
    Ok(original)
}
