//! Lists: Kubernetes' library and cel-go's extension, version 3.

use std::cmp::Ordering;

use super::{Outcome, failed, gives};
use crate::cel::value::{CelList, CelValue, Places, equal, order};

/// A list that `lists.range` makes is no longer than that.
const LONGEST: i64 = 1_000_000;

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    if function == "lists.range" {
        let [CelValue::Int(count)] = arguments else { return None };
        if *count > LONGEST {
            return failed(format!("lists.range: size exceeds {LONGEST}"));
        }
        return gives(CelValue::List(CelList::Range((*count).max(0))));
    }
    if function == "includes" {
        let [target, wanted] = arguments else { return None };
        let found = match target {
            CelValue::List(list) => list.iter().any(|value| equal(&value, wanted)),
            other => equal(other, wanted),
        };
        return gives(CelValue::Bool(found));
    }
    let (CelValue::List(list), rest) = arguments.split_first()? else { return None };
    match (function, rest) {
        ("isSorted", []) => {
            let values: Vec<CelValue<'_>> = list.iter().collect();
            let sorted = values.windows(2).all(|pair| match pair {
                [one, other] => order(one, other) != Some(Ordering::Greater),
                _ => true,
            });
            gives(CelValue::Bool(sorted))
        }
        ("sum", []) => sum(list),
        ("min", []) => extreme(list, Ordering::Less, "min"),
        ("max", []) => extreme(list, Ordering::Greater, "max"),
        ("indexOf", [wanted]) => gives(CelValue::Int(place(list.iter().position(|value| equal(&value, wanted))))),
        ("lastIndexOf", [wanted]) => {
            let places = list.iter().enumerate().filter(|(_, value)| equal(value, wanted));
            gives(CelValue::Int(place(places.last().map(|(index, _)| index))))
        }
        ("slice", [CelValue::Int(start), CelValue::Int(end)]) => slice(list, *start, *end),
        ("flatten", []) => gives(CelValue::list(flattened(list, 1))),
        ("flatten", [CelValue::Int(depth)]) if *depth < 0 => failed("level must be non-negative"),
        ("flatten", [CelValue::Int(depth)]) => gives(CelValue::list(flattened(list, *depth))),
        ("reverse", []) => {
            let mut values: Vec<CelValue<'a>> = list.iter().collect();
            values.reverse();
            gives(CelValue::list(values))
        }
        ("distinct", []) => {
            let mut values: Vec<CelValue<'a>> = Vec::new();
            let mut places = Places::default();
            for value in list.iter() {
                if places.find(&value, |index| values.get(index).cloned()).is_none() {
                    places.add(values.len(), &value);
                    values.push(value);
                }
            }
            gives(CelValue::list(values))
        }
        ("sort", []) => {
            let mut values: Vec<CelValue<'a>> = list.iter().collect();
            values.sort_by(|one, other| order(one, other).unwrap_or(Ordering::Equal));
            gives(CelValue::list(values))
        }
        ("first", []) => gives(CelValue::Optional(list.get(0).map(std::rc::Rc::new))),
        ("last", []) => {
            let found = list.len().checked_sub(1).and_then(|index| list.get(index));
            gives(CelValue::Optional(found.map(std::rc::Rc::new)))
        }
        _ => None,
    }
}

fn place(found: Option<usize>) -> i64 {
    found.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1)
}

fn sum<'a>(list: &CelList<'a>) -> Outcome<'a> {
    let mut total: Option<CelValue<'a>> = None;
    for value in list.iter() {
        total = Some(match (total, value) {
            (None, value) => value,
            (Some(CelValue::Int(one)), CelValue::Int(other)) => match one.checked_add(other) {
                Some(sum) => CelValue::Int(sum),
                None => return failed("integer overflow"),
            },
            (Some(CelValue::Uint(one)), CelValue::Uint(other)) => match one.checked_add(other) {
                Some(sum) => CelValue::Uint(sum),
                None => return failed("unsigned integer overflow"),
            },
            (Some(CelValue::Double(one)), CelValue::Double(other)) => CelValue::Double(one + other),
            (Some(CelValue::Duration(one)), CelValue::Duration(other)) => match one.checked_add(other) {
                Some(sum) => CelValue::Duration(sum),
                None => return failed("integer overflow"),
            },
            _ => return failed("no such overload"),
        });
    }
    gives(total.unwrap_or(CelValue::Int(0)))
}

fn extreme<'a>(list: &CelList<'a>, wanted: Ordering, name: &str) -> Outcome<'a> {
    let mut values = list.iter();
    let Some(mut best) = values.next() else { return failed(format!("{name} called on empty list")) };
    for value in values {
        match order(&value, &best) {
            Some(found) if found == wanted => best = value,
            Some(_) => {}
            None => return failed("no such overload"),
        }
    }
    gives(best)
}

fn slice<'a>(list: &CelList<'a>, start: i64, end: i64) -> Outcome<'a> {
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    if start < 0 || end < 0 {
        return failed(format!("cannot slice({start}, {end}), negative indexes not supported"));
    }
    if start > end {
        return failed(format!("cannot slice({start}, {end}), start index must be less than or equal to end index"));
    }
    if end > length {
        return failed(format!("cannot slice({start}, {end}), list is length {length}"));
    }
    let skip = usize::try_from(start).unwrap_or_default();
    let take = usize::try_from(end - start).unwrap_or_default();
    gives(CelValue::list(list.iter().skip(skip).take(take).collect()))
}

fn flattened<'a>(list: &CelList<'a>, depth: i64) -> Vec<CelValue<'a>> {
    let mut values = Vec::new();
    for value in list.iter() {
        match value {
            CelValue::List(inner) if depth > 0 => values.extend(flattened(&inner, depth - 1)),
            other => values.push(other),
        }
    }
    values
}
