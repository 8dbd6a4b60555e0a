//! Times of managers that changed nothing.

use serde_json::Value;

/// Gives the managed fields of `new` the times they have in `live`, if nothing but those times has changed.
///
/// Without this, an update that changes nothing would still be a new version of the object. Where a manager came, went
/// or owns other fields than before, nothing is done.
pub fn keep_times_of_unchanged(live: &Value, new: &mut Value) {
    let times_differ = match (managed_fields(live), managed_fields(new)) {
        (Some(old), Some(new)) if old.len() == new.len() => {
            old.iter().zip(new).any(|(old, new)| old.get("time") != new.get("time"))
                && old.iter().zip(new).all(|(old, new)| same_but_for_time(old, new))
        }
        _ => false,
    };
    if !times_differ || !same_but_for_managed_fields(live, new) {
        return;
    }
    if let (Some(old), Some(slot)) = (managed_fields(live), new.pointer_mut("/metadata/managedFields")) {
        *slot = Value::Array(old.clone());
    }
}

fn managed_fields(object: &Value) -> Option<&Vec<Value>> {
    object.get("metadata")?.get("managedFields")?.as_array()
}

fn same_but_for_time(left: &Value, right: &Value) -> bool {
    same_but_for(left, right, "time", |_, _| true)
}

fn same_but_for_managed_fields(left: &Value, right: &Value) -> bool {
    same_but_for(left, right, "metadata", |left, right| same_but_for(left, right, "managedFields", |_, _| true))
}

/// Whether two objects are equal, where the values of `key` are compared by `compare` if both have it.
fn same_but_for(left: &Value, right: &Value, key: &str, compare: impl Fn(&Value, &Value) -> bool) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else { return left == right };
    left.len() == right.len()
        && left.iter().all(|(name, left)| match right.get(name) {
            Some(right) if name == key => compare(left, right),
            Some(right) => left == right,
            None => false,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::keep_times_of_unchanged;

    #[test]
    fn keeps_times_only_when_nothing_else_changed() {
        let object = |time: &str, fields: Value, replicas: u8| {
            json!({
                "metadata": {"managedFields": [{"manager": "m", "time": time, "fieldsV1": fields}]},
                "spec": {"replicas": replicas},
            })
        };
        let live = object("1", json!({"f:a": {}}), 1);
        let cases = [
            (object("2", json!({"f:a": {}}), 1), "1"),
            (object("2", json!({"f:a": {}}), 2), "2"),
            (object("2", json!({"f:b": {}}), 1), "2"),
        ];
        for (mut new, expected) in cases {
            keep_times_of_unchanged(&live, &mut new);
            assert_eq!(new.pointer("/metadata/managedFields/0/time"), Some(&json!(expected)));
        }
    }
}
