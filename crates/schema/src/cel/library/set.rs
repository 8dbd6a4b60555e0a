//! Lists as sets.

use super::{Outcome, gives};
use crate::cel::value::{CelList, CelValue, equal};

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    let [CelValue::List(one), CelValue::List(other)] = arguments else { return None };
    gives(CelValue::Bool(match function {
        "sets.contains" => contains(one, other),
        "sets.equivalent" => contains(one, other) && contains(other, one),
        "sets.intersects" => other.iter().any(|value| has(one, &value)),
        _ => return None,
    }))
}

fn contains(list: &CelList<'_>, values: &CelList<'_>) -> bool {
    values.iter().all(|value| has(list, &value))
}

fn has(list: &CelList<'_>, value: &CelValue<'_>) -> bool {
    list.iter().any(|other| equal(&other, value))
}
