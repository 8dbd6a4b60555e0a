use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The members by which items of a list are told apart, where every item has one of its own: conditions have a
/// `type`, container statuses a `name`, addresses of Pods an `ip`.
const KEYS: [&str; 5] = ["type", "name", "key", "id", "ip"];

/// Two writers changed one list whose items can't be told apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clash;

/// What `theirs` becomes when it gets the changes that lead from `base` to `ours`. Where both changed the same value,
/// ours counts.
///
/// Lists whose items have a key merge item by item, as the API's own list maps do. Other lists are one value, and when
/// both changed one, neither result would be right.
pub(crate) fn three_way(base: &Value, ours: &Value, theirs: &Value) -> Result<Value, Clash> {
    if ours == base || ours == theirs {
        return Ok(theirs.clone());
    }
    if theirs == base {
        return Ok(ours.clone());
    }
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let none = Map::new();
            objects(base.as_object().unwrap_or(&none), ours, theirs).map(Value::Object)
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            let base = base.as_array().map_or(&[][..], Vec::as_slice);
            lists(base, ours, theirs).map(Value::Array)
        }
        _ => Ok(ours.clone()),
    }
}

/// Whether turning `old` into `new` with a merge patch writes a list.
pub(crate) fn changes_a_list(patch: &Value) -> bool {
    match patch {
        Value::Array(_) => true,
        Value::Object(members) => members.values().any(changes_a_list),
        _ => false,
    }
}

fn objects(
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
) -> Result<Map<String, Value>, Clash> {
    let mut merged = theirs.clone();
    for name in base.keys().filter(|name| !ours.contains_key(*name)) {
        merged.remove(name);
    }
    for (name, value) in ours {
        let before = base.get(name);
        if before == Some(value) {
            continue;
        }
        let value = match theirs.get(name) {
            Some(live) => three_way(before.unwrap_or(&Value::Null), value, live)?,
            None => value.clone(),
        };
        merged.insert(name.clone(), value);
    }
    Ok(merged)
}

fn lists(base: &[Value], ours: &[Value], theirs: &[Value]) -> Result<Vec<Value>, Clash> {
    let keyed = KEYS.iter().find_map(|key| Some((by_key(base, key)?, by_key(ours, key)?, by_key(theirs, key)?, key)));
    let Some((base_items, our_items, their_items, key)) = keyed else { return Err(Clash) };
    let mut merged = Vec::new();
    for live in theirs {
        let Some(name) = live.get(key).and_then(Value::as_str) else { return Err(Clash) };
        let before = base_items.get(name).copied().unwrap_or(&Value::Null);
        match our_items.get(name) {
            Some(item) => merged.push(three_way(before, item, live)?),
            // We removed it.
            None if base_items.contains_key(name) => {}
            None => merged.push(live.clone()),
        }
    }
    for item in ours {
        let Some(name) = item.get(key).and_then(Value::as_str) else { return Err(Clash) };
        // One that they removed stays removed, unless we changed it.
        if !their_items.contains_key(name) && base_items.get(name) != Some(&item) {
            merged.push(item.clone());
        }
    }
    Ok(merged)
}

/// The items by their keys, if each has one of its own.
fn by_key<'a>(items: &'a [Value], key: &str) -> Option<BTreeMap<&'a str, &'a Value>> {
    let mut found = BTreeMap::new();
    for item in items {
        if found.insert(item.get(key)?.as_str()?, item).is_some() {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Clash, three_way};

    #[test]
    fn changes_of_both_are_kept() {
        #[allow(clippy::needless_pass_by_value, reason = "literals read better at the calls")]
        fn check(base: Value, ours: Value, theirs: Value, expected: Result<Value, Clash>) {
            assert_eq!(three_way(&base, &ours, &theirs), expected, "{base}, {ours}, {theirs}");
        }
        let ready = |status: &str| json!({"type": "Ready", "status": status});
        let synced = |status: &str| json!({"type": "Synced", "status": status});
        // Fields.
        check(json!({"a": 1}), json!({"a": 2}), json!({"a": 1, "b": 1}), Ok(json!({"a": 2, "b": 1})));
        check(json!({"a": 1}), json!({}), json!({"a": 1, "b": 1}), Ok(json!({"b": 1})));
        check(json!({"a": 1}), json!({"a": 2}), json!({"a": 3}), Ok(json!({"a": 2})));
        check(json!({}), json!({"a": {"x": 1}}), json!({"a": {"y": 1}}), Ok(json!({"a": {"x": 1, "y": 1}})));
        // Lists with keys.
        check(json!([]), json!([ready("True")]), json!([synced("True")]), Ok(json!([synced("True"), ready("True")])));
        check(
            json!([ready("False"), synced("False")]),
            json!([ready("True"), synced("False")]),
            json!([ready("False"), synced("True")]),
            Ok(json!([ready("True"), synced("True")])),
        );
        check(json!([ready("True")]), json!([]), json!([ready("True"), synced("True")]), Ok(json!([synced("True")])));
        check(
            json!([ready("True"), synced("True")]),
            json!([ready("False"), synced("True")]),
            json!([ready("True")]),
            Ok(json!([ready("False")])),
        );
        check(json!(null), json!([ready("True")]), json!([ready("False")]), Ok(json!([ready("True")])));
        // Lists without.
        check(json!([1]), json!([1, 2]), json!([1]), Ok(json!([1, 2])));
        check(json!([1]), json!([1, 2]), json!([1, 3]), Err(Clash));
        check(json!([]), json!([ready("True"), ready("True")]), json!([synced("True")]), Err(Clash));
    }

    fn status() -> impl Strategy<Value = Value> {
        let condition = (0..4_u8, 0..3_u8).prop_map(|(name, value)| json!({"type": name.to_string(), "value": value}));
        let conditions = proptest::collection::vec(condition, 0..4).prop_map(|mut items| {
            items.sort_by_key(|item| item["type"].to_string());
            items.dedup_by_key(|item| item["type"].to_string());
            items
        });
        (conditions, proptest::option::of(0..3_u8))
            .prop_map(|(conditions, phase)| json!({"conditions": conditions, "phase": phase}))
    }

    fn condition<'a>(status: &'a Value, name: &Value) -> Option<&'a Value> {
        status["conditions"].as_array()?.iter().find(|condition| condition["type"] == *name)
    }

    proptest! {
        /// What only one of two writers changed is in the result as that one wrote it.
        #[test]
        fn no_change_is_lost(base in status(), ours in status(), theirs in status()) {
            let merged = three_way(&base, &ours, &theirs).expect("all conditions have types");
            for name in (0..4).map(|name| json!(name.to_string())) {
                let [base, ours, theirs, merged] = [&base, &ours, &theirs, &merged].map(|status| condition(status, &name));
                if theirs == base {
                    prop_assert_eq!(merged, ours);
                } else if ours == base {
                    prop_assert_eq!(merged, theirs);
                }
            }
            if theirs["phase"] == base["phase"] {
                prop_assert_eq!(&merged["phase"], &ours["phase"]);
            } else if ours["phase"] == base["phase"] {
                prop_assert_eq!(&merged["phase"], &theirs["phase"]);
            }
        }
    }
}
