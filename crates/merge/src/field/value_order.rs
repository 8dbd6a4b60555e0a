//! A total order of JSON values in which numbers compare by value.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Orders values: numbers (by value, whether integer or not), strings, booleans, lists, maps, null.
pub(crate) fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let by_item = left.iter().zip(right).map(|(left, right)| compare_values(left, right));
            by_item.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => compare_pairs(left.iter(), right.iter()),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Orders lists of named values by name, then value; a list that is a prefix of another comes first.
pub(crate) fn compare_pairs<'a>(
    mut left: impl Iterator<Item = (&'a String, &'a Value)>,
    mut right: impl Iterator<Item = (&'a String, &'a Value)>,
) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some((left_name, left_value)), Some((right_name, right_value))) => {
                let order = left_name.cmp(right_name).then_with(|| compare_values(left_value, right_value));
                if order.is_ne() {
                    return order;
                }
            }
        }
    }
}

/// Whether two values mean the same: as `==`, but `1` equals `1.0`.
pub(crate) fn same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_value(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same_value(left, right)))
        }
        _ => left == right,
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return left.cmp(&right);
    }
    let (left, right) = (left.as_f64().unwrap_or_default(), right.as_f64().unwrap_or_default());
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}
