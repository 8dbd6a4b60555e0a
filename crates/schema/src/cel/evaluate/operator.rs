//! Operators, and what can be done with optional values.

use std::cmp::Ordering;
use std::rc::Rc;

use cel::common::ast::operators;
use jiff::SignedDuration;

use super::EvaluationError;
use crate::cel::MAP_INSERT;
use crate::cel::value::{CelEntries, CelList, CelMap, CelValue, Places, equal, keys_of, order};
use crate::schema::ListType;

type Outcome<'a> = Result<CelValue<'a>, EvaluationError>;

/// The value of an operator; `None` when the function is none.
pub(super) fn apply<'a>(function: &str, arguments: &[CelValue<'a>]) -> Option<Outcome<'a>> {
    Some(match (function, arguments) {
        (operators::EQUALS, [one, other]) => Ok(CelValue::Bool(equal(one, other))),
        (operators::NOT_EQUALS, [one, other]) => Ok(CelValue::Bool(!equal(one, other))),
        (operators::LESS, [one, other]) => compared(one, other, Ordering::is_lt),
        (operators::LESS_EQUALS, [one, other]) => compared(one, other, Ordering::is_le),
        (operators::GREATER, [one, other]) => compared(one, other, Ordering::is_gt),
        (operators::GREATER_EQUALS, [one, other]) => compared(one, other, Ordering::is_ge),
        (operators::LOGICAL_NOT, [CelValue::Bool(truth)]) => Ok(CelValue::Bool(!truth)),
        (operators::NEGATE, [CelValue::Int(number)]) => {
            number.checked_neg().map(CelValue::Int).ok_or_else(|| failed("integer overflow"))
        }
        (operators::NEGATE, [CelValue::Double(number)]) => Ok(CelValue::Double(-number)),
        (operators::ADD, [one, other]) => add(one, other),
        (operators::SUBSTRACT, [one, other]) => subtract(one, other),
        (operators::MULTIPLY | operators::DIVIDE | operators::MODULO, [one, other]) => scale(function, one, other),
        (operators::IN, [value, CelValue::List(list)]) => {
            Ok(CelValue::Bool(list.iter().any(|other| equal(&other, value))))
        }
        (operators::IN, [key, CelValue::Map(map)]) => Ok(CelValue::Bool(map.get(key).is_some())),
        (operators::INDEX, [of, index]) => element(of, index),
        (operators::OPT_INDEX, [of, index]) => Ok(optional_element(of, index)),
        (MAP_INSERT, [CelValue::Map(map), rest @ ..]) => inserted(map, rest),
        _ => return optional(function, arguments),
    })
}

fn compared<'a>(one: &CelValue<'a>, other: &CelValue<'a>, holds: fn(Ordering) -> bool) -> Outcome<'a> {
    match order(one, other) {
        Some(found) => Ok(CelValue::Bool(holds(found))),
        // Numbers that aren't numbers compare with nothing.
        None if matches!(one, CelValue::Double(_)) || matches!(other, CelValue::Double(_)) => Ok(CelValue::Bool(false)),
        None => Err(failed("no such overload")),
    }
}

fn add<'a>(one: &CelValue<'a>, other: &CelValue<'a>) -> Outcome<'a> {
    Ok(match (one, other) {
        (CelValue::Int(one), CelValue::Int(other)) => CelValue::Int(checked(one.checked_add(*other))?),
        (CelValue::Uint(one), CelValue::Uint(other)) => CelValue::Uint(unsigned(one.checked_add(*other))?),
        (CelValue::Double(one), CelValue::Double(other)) => CelValue::Double(one + other),
        (CelValue::String(one), CelValue::String(other)) => CelValue::text(format!("{one}{other}")),
        (CelValue::Bytes(one), CelValue::Bytes(other)) => CelValue::Bytes([&one[..], &other[..]].concat().into()),
        (CelValue::List(one), CelValue::List(other)) => concatenated(one, other),
        (CelValue::Duration(one), CelValue::Duration(other)) => CelValue::Duration(checked(one.checked_add(*other))?),
        (CelValue::Timestamp(time), CelValue::Duration(span))
        | (CelValue::Duration(span), CelValue::Timestamp(time)) => moved(*time, *span)?,
        _ => return Err(failed("no such overload")),
    })
}

fn subtract<'a>(one: &CelValue<'a>, other: &CelValue<'a>) -> Outcome<'a> {
    Ok(match (one, other) {
        (CelValue::Int(one), CelValue::Int(other)) => CelValue::Int(checked(one.checked_sub(*other))?),
        (CelValue::Uint(one), CelValue::Uint(other)) => CelValue::Uint(unsigned(one.checked_sub(*other))?),
        (CelValue::Double(one), CelValue::Double(other)) => CelValue::Double(one - other),
        (CelValue::Duration(one), CelValue::Duration(other)) => CelValue::Duration(checked(one.checked_sub(*other))?),
        (CelValue::Timestamp(time), CelValue::Duration(span)) => moved(*time, checked(span.checked_neg())?)?,
        (CelValue::Timestamp(one), CelValue::Timestamp(other)) => {
            let nanos = one.as_nanosecond() - other.as_nanosecond();
            CelValue::Duration(checked(i64::try_from(nanos).ok())?)
        }
        _ => return Err(failed("no such overload")),
    })
}

fn moved<'a>(time: jiff::Timestamp, nanos: i64) -> Outcome<'a> {
    let moved = time.checked_add(SignedDuration::from_nanos(nanos));
    moved.map(CelValue::Timestamp).map_err(|_| failed("timestamp overflow"))
}

fn scale<'a>(function: &str, one: &CelValue<'a>, other: &CelValue<'a>) -> Outcome<'a> {
    let by_zero = || failed(if function == operators::MODULO { "modulus by zero" } else { "division by zero" });
    Ok(match (function, one, other) {
        (operators::DIVIDE | operators::MODULO, CelValue::Int(_), CelValue::Int(0))
        | (operators::DIVIDE | operators::MODULO, CelValue::Uint(_), CelValue::Uint(0)) => return Err(by_zero()),
        (operators::MULTIPLY, CelValue::Int(one), CelValue::Int(other)) => {
            CelValue::Int(checked(one.checked_mul(*other))?)
        }
        (operators::DIVIDE, CelValue::Int(one), CelValue::Int(other)) => {
            CelValue::Int(checked(one.checked_div(*other))?)
        }
        (operators::MODULO, CelValue::Int(one), CelValue::Int(other)) => {
            CelValue::Int(checked(one.checked_rem(*other))?)
        }
        (operators::MULTIPLY, CelValue::Uint(one), CelValue::Uint(other)) => {
            CelValue::Uint(unsigned(one.checked_mul(*other))?)
        }
        (operators::DIVIDE, CelValue::Uint(one), CelValue::Uint(other)) => CelValue::Uint(one / other),
        (operators::MODULO, CelValue::Uint(one), CelValue::Uint(other)) => CelValue::Uint(one % other),
        (operators::MULTIPLY, CelValue::Double(one), CelValue::Double(other)) => CelValue::Double(one * other),
        (operators::DIVIDE, CelValue::Double(one), CelValue::Double(other)) => CelValue::Double(one / other),
        _ => return Err(failed("no such overload")),
    })
}

/// Two lists one after the other; sets and maps, by the schema of the first, have each value or key once.
fn concatenated<'a>(one: &CelList<'a>, other: &CelList<'a>) -> CelValue<'a> {
    let mut values: Vec<CelValue<'a>> = one.iter().collect();
    let name = |value: &CelValue<'a>| match one.list_type() {
        ListType::Map => keys_of(value, one.keys()),
        ListType::Atomic | ListType::Set => value.clone(),
    };
    if one.list_type() == ListType::Atomic {
        values.extend(other.iter());
        return CelValue::List(one.with_values(values));
    }
    let mut names: Vec<CelValue<'a>> = values.iter().map(name).collect();
    let mut places = Places::of(&names);
    for value in other.iter() {
        let added = name(&value);
        let known = places.find(&added, |index| names.get(index).cloned());
        if let Some(place) = known.and_then(|index| values.get_mut(index)) {
            *place = value;
        } else {
            places.add(values.len(), &added);
            names.push(added);
            values.push(value);
        }
    }
    CelValue::List(one.with_values(values))
}

fn element<'a>(of: &CelValue<'a>, index: &CelValue<'a>) -> Outcome<'a> {
    match of {
        CelValue::List(list) => {
            let place =
                whole(index).ok_or_else(|| failed(format!("unsupported index type '{}' in list", index.type_of())))?;
            let found = usize::try_from(place).ok().and_then(|place| list.get(place));
            found.ok_or_else(|| failed(format!("index out of bounds: {place}")))
        }
        CelValue::Map(map) => map.get(index).ok_or_else(|| failed(format!("no such key: {}", shown_key(index)))),
        CelValue::Optional(_) => Ok(optional_element(of, index)),
        _ => Err(failed(format!("no such key: {}", shown_key(index)))),
    }
}

/// A number that counts something, of whatever type it is.
fn whole(value: &CelValue<'_>) -> Option<i64> {
    match value {
        CelValue::Int(number) => Some(*number),
        CelValue::Uint(number) => i64::try_from(*number).ok(),
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
        CelValue::Double(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(*number as i64),
        _ => None,
    }
}

fn shown_key(key: &CelValue<'_>) -> String {
    match key {
        CelValue::String(text) => text.to_string(),
        CelValue::Int(number) => number.to_string(),
        CelValue::Uint(number) => number.to_string(),
        CelValue::Bool(truth) => truth.to_string(),
        other => other.type_of().to_string(),
    }
}

fn optional_element<'a>(of: &CelValue<'a>, index: &CelValue<'a>) -> CelValue<'a> {
    let of = match of {
        CelValue::Optional(None) => return CelValue::Optional(None),
        CelValue::Optional(Some(inner)) => inner,
        of => of,
    };
    CelValue::Optional(element(of, index).ok().map(Rc::new))
}

/// A field, or nothing where there is none.
pub(super) fn optional_field<'a>(of: &CelValue<'a>, name: &str) -> CelValue<'a> {
    let of = match of {
        CelValue::Optional(None) => return CelValue::Optional(None),
        CelValue::Optional(Some(inner)) => inner,
        of => of,
    };
    match of {
        CelValue::Map(map) => CelValue::Optional(map.field(name).map(Rc::new)),
        _ => CelValue::Optional(None),
    }
}

/// Appends to what a fold has so far, in place: copying it at each step would take a time that grows with the square of
/// the steps. `None` where that can't be done.
pub(super) fn appended<'a>(so_far: &mut CelValue<'a>, more: &CelValue<'a>) -> Option<()> {
    let (CelValue::List(CelList::Values(values)), CelValue::List(more)) = (so_far, more) else { return None };
    Rc::get_mut(values)?.extend(more.iter());
    Some(())
}

fn inserted<'a>(map: &CelMap<'a>, more: &[CelValue<'a>]) -> Outcome<'a> {
    let keys = map.keys();
    let mut entries: CelEntries<'a> =
        keys.into_iter().filter_map(|key| map.get(&key).map(|value| (key, value))).collect();
    insert(&mut entries, more)?;
    Ok(CelValue::Map(CelMap::Values(Rc::new(entries))))
}

/// Puts a key and its value, or all of a map, into the map that a fold has so far, in place; `None` where that can't be
/// done.
pub(super) fn inserted_in_place<'a>(
    so_far: &mut CelValue<'a>,
    more: &[CelValue<'a>],
) -> Option<Result<(), EvaluationError>> {
    let CelValue::Map(CelMap::Values(entries)) = so_far else { return None };
    Some(insert(Rc::get_mut(entries)?, more))
}

fn insert<'a>(entries: &mut CelEntries<'a>, more: &[CelValue<'a>]) -> Result<(), EvaluationError> {
    let added = match more {
        [key, value] => vec![(key.clone(), value.clone())],
        [CelValue::Map(other)] => {
            other.keys().into_iter().filter_map(|key| Some((key.clone(), other.get(&key)?))).collect()
        }
        _ => return Err(failed("no such overload")),
    };
    for (key, value) in added {
        let shown = shown_key(&key);
        if !entries.insert(key, value) {
            return Err(failed(format!("insert failed: key {shown} already exists")));
        }
    }
    Ok(())
}

fn optional<'a>(function: &str, arguments: &[CelValue<'a>]) -> Option<Outcome<'a>> {
    Some(match (function, arguments) {
        ("optional.of", [value]) => Ok(CelValue::some(value.clone())),
        ("optional.none", []) => Ok(CelValue::Optional(None)),
        ("optional.ofNonZeroValue", [value]) => {
            Ok(if value.is_zero() { CelValue::Optional(None) } else { CelValue::some(value.clone()) })
        }
        ("hasValue", [CelValue::Optional(value)]) => Ok(CelValue::Bool(value.is_some())),
        ("value", [CelValue::Optional(Some(value))]) => Ok((**value).clone()),
        ("value", [CelValue::Optional(None)]) => Err(failed("optional.none() dereference")),
        _ => return None,
    })
}

fn checked<T>(result: Option<T>) -> Result<T, EvaluationError> {
    result.ok_or_else(|| failed("integer overflow"))
}

fn unsigned<T>(result: Option<T>) -> Result<T, EvaluationError> {
    result.ok_or_else(|| failed("unsigned integer overflow"))
}

fn failed(message: impl Into<String>) -> EvaluationError {
    EvaluationError::Failed(message.into())
}
