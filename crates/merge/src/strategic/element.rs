//! The items of lists that are merged, and how they are matched.

use serde_json::{Map, Value};

use super::error::StrategicError;

/// The key of the directive that a map may have.
pub(crate) const DIRECTIVE: &str = "$patch";

/// The items of a value that must be a list.
pub(crate) fn into_list(value: Value) -> Result<Vec<Value>, StrategicError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(StrategicError::not_a_list(&other)),
    }
}

/// An item that must be a map.
pub(crate) fn as_map(item: &Value) -> Result<&Map<String, Value>, StrategicError> {
    item.as_object().ok_or_else(|| StrategicError::not_a_map(item))
}

/// The value of the merge key of an item, which must be a map that has it.
pub(crate) fn key_value<'a>(item: &'a Value, key: &str) -> Result<&'a Value, StrategicError> {
    let map = as_map(item)?;
    map.get(key).ok_or_else(|| StrategicError::no_merge_key(map, key))
}

/// Where in a list of maps the item with this value of the merge key is.
pub(crate) fn find(items: &[Value], key: &str, wanted: &Value) -> Result<Option<usize>, StrategicError> {
    for (index, item) in items.iter().enumerate() {
        let map = item.as_object().ok_or(StrategicError::NotAMap(index))?;
        if map.get(key) == Some(wanted) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Whether an item is a map with a directive of its own.
pub(crate) fn has_directive(item: &Value) -> bool {
    item.as_object().is_some_and(|map| map.contains_key(DIRECTIVE))
}

/// Whether an item says that the item like it is to be deleted.
pub(crate) fn is_deletion(item: &Value) -> bool {
    item.as_object().and_then(|map| map.get(DIRECTIVE)).is_some_and(|directive| directive == "delete")
}

/// What the items of lists that are merged with each other are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Items {
    Maps,
    Scalars,
}

/// What all the items of two lists are. Errors: they differ, are lists, or there are none.
pub(crate) fn kind_of_items(original: &[Value], patch: &[Value]) -> Result<Items, StrategicError> {
    let mut items = original.iter().chain(patch);
    let first = items.next().ok_or(StrategicError::NoItems)?;
    if first.is_array() {
        return Err(StrategicError::ListOfLists);
    }
    if first.is_null() || items.any(|item| !same_type(first, item)) {
        return Err(StrategicError::MixedTypes(Value::Array(vec![
            Value::Array(original.to_vec()),
            Value::Array(patch.to_vec()),
        ])));
    }
    Ok(if first.is_object() { Items::Maps } else { Items::Scalars })
}

/// Whether two values are of one JSON type, where whole numbers are another type than others.
pub(crate) fn same_type(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.is_f64() == right.is_f64(),
        _ => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}

/// What remains of a part of a patch that has nothing to be merged with; `None` when a directive takes it away.
pub(crate) fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => return None,
        Value::Object(map) => {
            Value::Object(map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().filter_map(without_directives).collect()),
        scalar => scalar,
    })
}

/// A part of a patch without the nulls in its maps.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        scalar => scalar,
    }
}
