//! Taking fields out of a value.

use serde_json::{Map, Value};

use crate::field::{FieldSet, PathElement};

use super::schema_type::{Form, ListShape, MapShape, Type};

/// `value` without the fields and items of `fields`.
///
/// Where a path goes on below an atomic list or map, the whole list or map is emptied; what has nothing left is null.
pub(crate) fn remove(value: &Value, fields: &FieldSet, of: Type<'_>) -> Value {
    match (of.form_of(Some(value)), value) {
        (Some(Form::Scalar(_)), _) => value.clone(),
        (Some(Form::List(list)), Value::Array(items)) if !list.identity.is_atomic() => from_list(items, fields, &list),
        (Some(Form::Map(map)), Value::Object(members)) if !map.atomic => from_map(members, fields, &map),
        _ => Value::Null,
    }
}

fn from_list(items: &[Value], fields: &FieldSet, list: &ListShape<'_>) -> Value {
    let left: Vec<Value> = items
        .iter()
        .filter_map(|item| {
            let Ok(element) = list.element_of(item) else { return Some(item.clone()) };
            if fields.members().contains(&element) {
                return None;
            }
            Some(match fields.children().get(&element).filter(|below| !below.is_empty()) {
                Some(below) => remove(item, below, list.items),
                None => item.clone(),
            })
        })
        .collect();
    if left.is_empty() { Value::Null } else { Value::Array(left) }
}

fn from_map(members: &Map<String, Value>, fields: &FieldSet, map: &MapShape<'_>) -> Value {
    let left: Map<String, Value> = members
        .iter()
        .filter_map(|(name, value)| {
            let element = PathElement::field(name);
            if fields.members().contains(&element) {
                return None;
            }
            let below = fields.children().get(&element).filter(|below| !below.is_empty());
            let value = match (below, map.field(name)) {
                (Some(below), Some(of)) => remove(value, below, of),
                _ => value.clone(),
            };
            Some((name.clone(), value))
        })
        .collect();
    if left.is_empty() { Value::Null } else { Value::Object(left) }
}
