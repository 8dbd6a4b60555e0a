//! Which values are equal, and which come first.

use std::cmp::Ordering;

use super::{CelList, CelMap, CelValue, Places};
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
        ListType::Set => {
            let others: Vec<CelValue<'_>> = right.iter().collect();
            let places = Places::of(&others);
            left.iter().all(|value| places.find(&value, |index| others.get(index).cloned()).is_some())
        }
        ListType::Map => {
            let names: Vec<CelValue<'_>> = right.iter().map(|other| keys_of(&other, left.keys())).collect();
            let places = Places::of(&names);
            left.iter().all(|value| {
                let found = places.find(&keys_of(&value, left.keys()), |index| names.get(index).cloned());
                found.and_then(|index| right.get(index)).is_some_and(|other| equal(&value, &other))
            })
        }
    }
}

/// What tells a value of a list of type map from the others: the values of its keys.
pub(crate) fn keys_of<'a>(value: &CelValue<'a>, keys: &[String]) -> CelValue<'a> {
    let field = |key: &String| match value {
        CelValue::Map(map) => CelValue::Optional(map.field(key).map(std::rc::Rc::new)),
        _ => CelValue::Optional(None),
    };
    CelValue::list(keys.iter().map(field).collect())
}

fn equal_maps(left: &CelMap<'_>, right: &CelMap<'_>) -> bool {
    left.len() == right.len()
        && left.keys().iter().all(|key| match (left.get(key), right.get(key)) {
            (Some(left), Some(right)) => equal(&left, &right),
            _ => false,
        })
}
