//! Which values are equal, and which come first.

use std::cmp::Ordering;

use super::{CelList, CelMap, CelValue};
use crate::schema::ListType;

/// Whether two values are equal. Values of different types are not, but for numbers.
pub(crate) fn equal(one: &CelValue<'_>, other: &CelValue<'_>) -> bool {
    match (one, other) {
        (CelValue::Null, CelValue::Null) => true,
        (CelValue::Bool(left), CelValue::Bool(right)) => left == right,
        (CelValue::String(left), CelValue::String(right)) => left == right,
        (CelValue::Bytes(left), CelValue::Bytes(right)) => left == right,
        (CelValue::Duration(left), CelValue::Duration(right)) => left == right,
        (CelValue::Timestamp(left), CelValue::Timestamp(right)) => left == right,
        (CelValue::List(left), CelValue::List(right)) => equal_lists(left, right),
        (CelValue::Map(left), CelValue::Map(right)) => equal_maps(left, right),
        (CelValue::Optional(left), CelValue::Optional(right)) => match (left, right) {
            (Some(left), Some(right)) => equal(left, right),
            (None, None) => true,
            _ => false,
        },
        (CelValue::Type(left), CelValue::Type(right)) => std::mem::discriminant(left) == std::mem::discriminant(right),
        (CelValue::Opaque(left), CelValue::Opaque(right)) => left == right,
        _ => numbers(one, other) == Some(Ordering::Equal),
    }
}

/// Which of two values comes first; `None` when their types have no order.
pub(crate) fn order(one: &CelValue<'_>, other: &CelValue<'_>) -> Option<Ordering> {
    match (one, other) {
        (CelValue::Bool(left), CelValue::Bool(right)) => Some(left.cmp(right)),
        (CelValue::String(left), CelValue::String(right)) => Some(left.cmp(right)),
        (CelValue::Bytes(left), CelValue::Bytes(right)) => Some(left.cmp(right)),
        (CelValue::Duration(left), CelValue::Duration(right)) => Some(left.cmp(right)),
        (CelValue::Timestamp(left), CelValue::Timestamp(right)) => Some(left.cmp(right)),
        _ => numbers(one, other),
    }
}

#[allow(clippy::cast_precision_loss, reason = "CEL compares numbers of other types as floating point")]
fn numbers(one: &CelValue<'_>, other: &CelValue<'_>) -> Option<Ordering> {
    match (one, other) {
        (CelValue::Int(left), CelValue::Int(right)) => Some(left.cmp(right)),
        (CelValue::Uint(left), CelValue::Uint(right)) => Some(left.cmp(right)),
        (CelValue::Int(left), CelValue::Uint(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
        (CelValue::Uint(left), CelValue::Int(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
        (CelValue::Double(left), CelValue::Double(right)) => left.partial_cmp(right),
        (CelValue::Int(left), CelValue::Double(right)) => (*left as f64).partial_cmp(right),
        (CelValue::Double(left), CelValue::Int(right)) => left.partial_cmp(&(*right as f64)),
        (CelValue::Uint(left), CelValue::Double(right)) => (*left as f64).partial_cmp(right),
        (CelValue::Double(left), CelValue::Uint(right)) => left.partial_cmp(&(*right as f64)),
        _ => None,
    }
}

/// Lists are equal by place; those whose schema says that they are sets or maps, by value or key.
fn equal_lists(left: &CelList<'_>, right: &CelList<'_>) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match left.list_type() {
        ListType::Atomic => left.iter().zip(right.iter()).all(|(left, right)| equal(&left, &right)),
        ListType::Set => left.iter().all(|value| right.iter().any(|other| equal(&value, &other))),
        ListType::Map => left.iter().all(|value| {
            let same = |other: &CelValue<'_>| same_keys(&value, other, left.keys());
            right.iter().find(same).is_some_and(|other| equal(&value, &other))
        }),
    }
}

/// Whether two values of a list of type map have the same keys.
pub(crate) fn same_keys(one: &CelValue<'_>, other: &CelValue<'_>, keys: &[String]) -> bool {
    let (CelValue::Map(one), CelValue::Map(other)) = (one, other) else { return false };
    keys.iter().all(|key| match (one.field(key), other.field(key)) {
        (Some(one), Some(other)) => equal(&one, &other),
        (one, other) => one.is_none() && other.is_none(),
    })
}

fn equal_maps(left: &CelMap<'_>, right: &CelMap<'_>) -> bool {
    left.len() == right.len()
        && left.keys().iter().all(|key| match (left.get(key), right.get(key)) {
            (Some(left), Some(right)) => equal(&left, &right),
            _ => false,
        })
}
