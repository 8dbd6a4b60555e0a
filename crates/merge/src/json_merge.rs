//! JSON merge patch.

use serde_json::{Map, Value};

/// Applies a JSON merge patch (RFC 7386) to `target`, with the two liberties kube-apiserver takes.
///
/// Objects are merged key by key, `null` deletes a key and anything else replaces what was there. Beyond the RFC, nulls
/// are also dropped from objects inside arrays that the patch brings; a bare `null` in an array stays.
///
/// ```
/// use serde_json::json;
///
/// let mut widget = json!({"a": 1, "b": {"c": 2}});
/// controller_runtime_merge::json_merge(&mut widget, &json!({"a": null, "b": {"d": 3}}));
/// assert_eq!(widget, json!({"b": {"c": 2, "d": 3}}));
/// ```
pub fn json_merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = without_nulls(patch);
        return;
    };
    let Value::Object(fields) = target else {
        *target = without_nulls(patch);
        return;
    };
    for (key, change) in changes {
        if change.is_null() {
            fields.remove(key);
        } else if let Some(present) = fields.get_mut(key) {
            json_merge(present, change);
        } else {
            fields.insert(key.clone(), without_nulls(change));
        }
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept: Map<String, Value> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect();
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::json_merge;

    #[test]
    fn merges_as_kube_apiserver_does() {
        let cases = [
            // The appendix of RFC 7386.
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
            // Nulls in new objects and in objects inside arrays.
            (
                json!({"a": 1, "l": [1, 2, 3], "m": {"k": "v"}}),
                json!({"m": null, "n": {"p": null, "q": 1}, "l": [9], "arr": [{"z": null, "w": 1}, null]}),
                json!({"a": 1, "l": [9], "n": {"q": 1}, "arr": [{"w": 1}, null]}),
            ),
        ];
        for (mut target, patch, expected) in cases {
            let before = target.clone();
            json_merge(&mut target, &patch);
            assert_eq!(target, expected, "{before} patched with {patch}");
        }
    }
}
