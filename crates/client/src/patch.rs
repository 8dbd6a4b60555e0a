use controller_runtime_scheme::{ConversionError, Kind, Object, ObjectKey, with_type};
use serde_json::{Map, Value, json};

use crate::error::{ClientError, RequestProblem, Verb};
use crate::request::Request;

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

    /// The same patch, tied to the version that `object` has: when the server has another, that is a conflict and
    /// nothing is changed. An `object` without a version is an error.
    pub fn with_optimistic_lock<K: Object>(self, kind: &Kind<K>, object: &K) -> Result<Self, ClientError> {
        let Some(version) = object.meta().resource_version.clone().filter(|version| !version.is_empty()) else {
            let request = Request::object(kind, Verb::Patch, &ObjectKey::of(object), None)?;
            return Err(request.refuse(RequestProblem::MissingResourceVersion));
        };
        Ok(match self {
            Self::Merge(patch) => Self::Merge(with_version(patch, version)),
            Self::Strategic(patch) => Self::Strategic(with_version(patch, version)),
            Self::Json(mut operations) => {
                // To write the version is what makes the server compare it; a failed test would be an invalid patch.
                let path = json_patch::jsonptr::PointerBuf::from_tokens(["metadata", "resourceVersion"]);
                let lock = json_patch::ReplaceOperation { path, value: Value::String(version) };
                operations.0.insert(0, json_patch::PatchOperation::Replace(lock));
                Self::Json(operations)
            }
        })
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

fn with_version(mut patch: Value, version: String) -> Value {
    if let Value::Object(members) = &mut patch {
        let metadata = members.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            metadata.insert("resourceVersion".to_owned(), Value::String(version));
        }
    }
    patch
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
    use controller_runtime_scheme::Kind;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::{Value, json};

    use super::{Patch, merge_difference};

    fn object(version: &str) -> ConfigMap {
        let metadata = json!({"namespace": "ns", "name": "a", "resourceVersion": version});
        serde_json::from_value(json!({"metadata": metadata})).unwrap()
    }

    #[test]
    fn b29_an_optimistic_lock_needs_a_version() {
        let kind = Kind::<ConfigMap>::typed();
        let (empty, mut absent) = (object(""), object(""));
        absent.metadata.resource_version = None;
        for unread in [empty, absent] {
            let error = Patch::Merge(json!({})).with_optimistic_lock(&kind, &unread).unwrap_err();
            assert_eq!(
                error.to_string(),
                "cannot patch ConfigMap/v1 ns/a: the object has no resourceVersion to guard the change with"
            );
        }
    }

    #[test]
    fn a_lock_is_part_of_the_patch() {
        let locked = |patch: Patch| {
            let patch = patch.with_optimistic_lock(&Kind::<ConfigMap>::typed(), &object("5")).unwrap();
            String::from_utf8(patch.to_bytes().unwrap()).unwrap()
        };
        let json_patch = serde_json::from_value(json!([{"op": "remove", "path": "/data/k"}])).unwrap();
        insta::assert_snapshot!(locked(Patch::Json(json_patch)), @r#"[{"op":"replace","path":"/metadata/resourceVersion","value":"5"},{"op":"remove","path":"/data/k"}]"#);
        insta::assert_snapshot!(locked(Patch::Merge(json!({"data": null}))), @r#"{"data":null,"metadata":{"resourceVersion":"5"}}"#);
        let labels = json!({"metadata": {"labels": {"a": "b"}}});
        insta::assert_snapshot!(locked(Patch::Strategic(labels)), @r#"{"metadata":{"labels":{"a":"b"},"resourceVersion":"5"}}"#);
    }

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
