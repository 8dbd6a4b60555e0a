use controller_runtime_scheme::{ConversionError, Kind, Object, with_type};
use serde_json::{Map, Value};

/// A change to parts of an object. Server-side apply is a verb of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Patch {
    /// JSON merge patch (RFC 7386): members replace members, null removes, lists are replaced whole.
    Merge(Value),
    /// JSON patch (RFC 6902): operations, all or none.
    Json(json_patch::Patch),
    /// Strategic merge patch: like a merge patch, but lists merge by key. Built-in kinds only. Sent as it is.
    Strategic(Value),
}

impl Patch {
    /// The merge patch that turns `old` into `new`.
    pub fn merge_from<K: Object>(kind: &Kind<K>, old: &K, new: &K) -> Result<Self, ConversionError> {
        let (old, new) = (with_type(kind, old)?, with_type(kind, new)?);
        Ok(Self::Merge(merge_difference(&old, &new).unwrap_or_else(|| Value::Object(Map::new()))))
    }

    /// Whether the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Merge(value) | Self::Strategic(value) => value.as_object().is_some_and(Map::is_empty),
            Self::Json(patch) => patch.0.is_empty(),
        }
    }

    pub(crate) fn content_type(&self) -> &'static str {
        match self {
            Self::Merge(_) => "application/merge-patch+json",
            Self::Json(_) => "application/json-patch+json",
            Self::Strategic(_) => "application/strategic-merge-patch+json",
        }
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::Merge(value) | Self::Strategic(value) => serde_json::to_vec(value),
            Self::Json(patch) => serde_json::to_vec(patch),
        }
    }
}

/// The JSON merge patch that turns `old` into `new`; none when they are equal.
pub(crate) fn merge_difference(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut patch = Map::new();
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                patch.insert(key.clone(), Value::Null);
            }
            for (key, value) in new {
                let change = match old.get(key) {
                    Some(before) => merge_difference(before, value),
                    None => Some(value.clone()),
                };
                if let Some(change) = change {
                    patch.insert(key.clone(), change);
                }
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        (old, new) => (old != new).then(|| new.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::merge_difference;

    #[test]
    fn a_difference_holds_only_what_changed() {
        #[allow(clippy::needless_pass_by_value, reason = "literals read better at the calls")]
        fn check(old: Value, new: Value, expected: Option<Value>) {
            assert_eq!(merge_difference(&old, &new), expected, "{old} -> {new}");
        }
        check(json!({"a": 1}), json!({"a": 1}), None);
        check(json!({"a": 1, "b": 2}), json!({"a": 1, "b": 3}), Some(json!({"b": 3})));
        check(json!({"a": 1, "b": 2}), json!({"a": 1}), Some(json!({"b": null})));
        check(json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 1, "c": 3}}), Some(json!({"a": {"c": 3}})));
        check(json!({"a": [1, 2]}), json!({"a": [1]}), Some(json!({"a": [1]})));
        check(json!({"a": {"b": 1}}), json!({"a": {}}), Some(json!({"a": {"b": null}})));
        check(json!({"a": {"b": 1}}), json!({"a": 1}), Some(json!({"a": 1})));
        check(json!({}), json!({"a": {"b": 1}}), Some(json!({"a": {"b": 1}})));
    }
}
