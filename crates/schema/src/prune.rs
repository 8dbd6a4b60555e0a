use serde_json::Value;

use crate::schema::{AdditionalProperties, Schema};

/// Paths that are told at most, and the bytes that they may take together. A small value can have very many unknown fields
/// at a very long path.
const MAX_DROPPED: usize = 100;
const MAX_DROPPED_BYTES: usize = 64 << 10;

/// Drops the fields of `value` that `schema` doesn't know, and tells their paths, sorted, as in `spec.foo[0].bar`: of the
/// first hundred or, where the paths are long, of fewer, but always of one.
///
/// What `x-kubernetes-preserve-unknown-fields` covers stays. With `is_resource_root` the value is a whole object:
/// its apiVersion, kind and metadata stay as they are, whatever the schema says of them.
///
/// ```
/// use controller_runtime_schema::{Schema, prune};
/// use serde_json::json;
///
/// let schema = Schema::from_json(&json!({"type": "object", "properties": {"a": {"type": "object"}}}))?;
/// let mut value = json!({"kind": "K", "a": {"b": 1}, "c": 2});
/// assert_eq!(prune(&mut value, &schema, true), ["a.b", "c"]);
/// assert_eq!(value, json!({"kind": "K", "a": {}}));
/// # Ok::<(), controller_runtime_schema::SchemaError>(())
/// ```
pub fn prune(value: &mut Value, schema: &Schema, is_resource_root: bool) -> Vec<String> {
    let mut pruner = Pruner { path: String::new(), dropped: Vec::new(), dropped_bytes: 0 };
    pruner.value(value, Some(schema), is_resource_root);
    pruner.dropped.sort_unstable();
    pruner.dropped
}

struct Pruner {
    path: String,
    dropped: Vec<String>,
    dropped_bytes: usize,
}

fn is_type_or_metadata(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

impl Pruner {
    /// Prunes one value; without a schema nothing is known of it.
    fn value(&mut self, value: &mut Value, schema: Option<&Schema>, is_resource: bool) {
        let is_resource = is_resource || schema.is_some_and(|schema| schema.embedded_resource);
        if let Some(schema) = schema.filter(|schema| schema.preserve_unknown_fields) {
            self.known_only(value, schema, is_resource);
            return;
        }
        match value {
            Value::Object(map) => map.retain(|key, value| {
                if is_resource && is_type_or_metadata(key) {
                    return true;
                }
                if let Some(schema) = field(schema, key) {
                    self.below_key(key, |pruner| pruner.value(value, schema, false));
                    return true;
                }
                if !is_type_or_metadata(key) || !self.path.is_empty() {
                    self.below_key(key, Self::note);
                }
                false
            }),
            Value::Array(items) => {
                let schema = schema.and_then(Schema::item);
                for (index, item) in items.iter_mut().enumerate() {
                    self.below_index(index, |pruner| pruner.value(item, schema, false));
                }
            }
            _ => {}
        }
    }

    /// Keeps unknown fields, and prunes inside the known ones.
    fn known_only(&mut self, value: &mut Value, schema: &Schema, is_resource: bool) {
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    if is_resource && is_type_or_metadata(key) {
                        continue;
                    }
                    if let Some(schema) = field(Some(schema), key) {
                        self.below_key(key, |pruner| pruner.value(value, schema, false));
                    }
                }
            }
            Value::Array(items) => {
                if let Some(schema) = schema.item() {
                    for (index, item) in items.iter_mut().enumerate() {
                        self.below_index(index, |pruner| pruner.known_only(item, schema, schema.embedded_resource));
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes that the field at the current path is dropped.
    fn note(&mut self) {
        let fits = self.dropped_bytes + self.path.len() <= MAX_DROPPED_BYTES && self.dropped.len() < MAX_DROPPED;
        if fits || self.dropped.is_empty() {
            self.dropped_bytes += self.path.len();
            self.dropped.push(self.path.clone());
        }
    }

    fn below_key(&mut self, key: &str, then: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        then(self);
        self.path.truncate(length);
    }

    fn below_index(&mut self, index: usize, then: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('[');
        self.path.push_str(&index.to_string());
        self.path.push(']');
        then(self);
        self.path.truncate(length);
    }
}

/// The field's schema: none when the field is unknown, `Some(None)` when it is allowed and nothing is known of it.
#[expect(clippy::option_option, reason = "whether a field is known and what is known of it are two questions")]
fn field<'s>(schema: Option<&'s Schema>, key: &str) -> Option<Option<&'s Schema>> {
    let schema = schema?;
    if let Some(link) = schema.properties.get(key) {
        return Some(Some(link.get()));
    }
    match &schema.additional_properties {
        Some(AdditionalProperties::Schema(link)) => Some(Some(link.get())),
        Some(AdditionalProperties::Any(_)) => Some(None),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::prune;
    use crate::schema::Schema;

    fn check(schema: &Value, root: bool, value: &Value, expected: &Value, dropped: &[&str]) {
        let schema = Schema::from_json(schema).unwrap();
        let mut pruned = value.clone();
        assert_eq!(prune(&mut pruned, &schema, root), dropped, "dropped from {value}");
        assert_eq!(&pruned, expected);
        assert!(prune(&mut pruned, &schema, root).is_empty(), "pruning is idempotent");
        assert_eq!(&pruned, expected);
    }

    #[test]
    fn unknown_fields_go() {
        let object = json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {}}}},
            "any": {"type": "object", "additionalProperties": true},
            "empty": {"type": "object"},
        }});
        check(
            &object,
            true,
            &json!({"apiVersion": "v", "kind": "K", "metadata": {"x": 1}, "list": [{"a": "", "b": 1}, 3], "map": {"k": {"a": 1, "b": 2}},
                "any": {"k": {"a": 1}, "s": 1}, "empty": {"a": 1}, "z": null}),
            &json!({"apiVersion": "v", "kind": "K", "metadata": {"x": 1}, "list": [{"a": ""}, 3], "map": {"k": {"a": 1}},
                "any": {"k": {}, "s": 1}, "empty": {}}),
            &["any.k.a", "empty.a", "list[0].b", "map.k.b", "z"],
        );
        check(&object, false, &json!({"kind": "K", "metadata": {}}), &json!({}), &[]);
    }

    #[test]
    fn what_is_told_of_dropped_fields_is_bounded() {
        let schema = Schema::from_json(&json!({"type": "object", "properties": {"a": {"type": "object"}}})).unwrap();
        let many: serde_json::Map<String, Value> = (0..1000).map(|key| (format!("k{key}"), json!(1))).collect();
        let mut value = json!({"a": many});
        assert_eq!(prune(&mut value, &schema, false).len(), 100);
        assert_eq!(value, json!({"a": {}}));
        let long: serde_json::Map<String, Value> =
            (0..100).map(|key| (format!("{key}{}", "x".repeat(10_000)), json!(1))).collect();
        assert_eq!(prune(&mut json!(long), &schema, false).len(), 6);
        let mut huge = json!({"x".repeat(1_000_000): 1});
        assert_eq!(prune(&mut huge, &schema, false).len(), 1);
    }

    #[test]
    fn preserved_fields_stay_and_known_ones_below_are_pruned() {
        let object = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "object", "properties": {"a": {}}},
            "resource": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
        }});
        check(
            &object,
            false,
            &json!({"other": {"x": [1]}, "known": {"a": 1, "b": 2}, "resource": {"kind": "K", "metadata": {"a": 1}, "spec": {"q": 1}, "z": 1}}),
            &json!({"other": {"x": [1]}, "known": {"a": 1}, "resource": {"kind": "K", "metadata": {"a": 1}, "spec": {}}}),
            &["known.b", "resource.spec.q", "resource.z"],
        );
    }
}
