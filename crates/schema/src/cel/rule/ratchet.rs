//! Which values are as they were before, so that what is wrong with them isn't held against a change (KEP-4008).

use serde_json::Value;

use super::correlation::OldItems;
use crate::schema::Schema;

/// A value, and what it was before.
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    new: &'a Value,
    old: &'a Value,
    schema: &'a Schema,
}

/// The place of a value in what is known of the object before the change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ratchet<'a> {
    current: Option<Pair<'a>>,
    /// The nearest value around it that has a former self.
    parent: Option<Pair<'a>>,
}

impl<'a> Ratchet<'a> {
    /// The whole object.
    pub(super) fn root(new: &'a Value, old: &'a Value, schema: &'a Schema) -> Self {
        Self { current: Some(Pair { new, old, schema }), parent: None }
    }

    /// The same value, for schemas that can't tell what it was.
    pub(super) fn uncorrelated(self) -> Self {
        Self { current: None, parent: self.parent }
    }

    pub(super) fn key(self, key: &str) -> Self {
        let Some(current) = self.current else { return self };
        // The old object is read in the version of the new one, so these two always look alike.
        if self.parent.is_none() && matches!(key, "apiVersion" | "kind") {
            return Self::default();
        }
        Self { current: current.key(key), parent: Some(current) }
    }

    pub(super) fn index(self, index: usize) -> Self {
        let Some(current) = self.current else { return self };
        Self { current: current.index(index), parent: Some(current) }
    }

    /// Whether the value, or else the nearest one around it that has a former self, is what it was.
    pub(super) fn is_unchanged(self) -> bool {
        self.current.or(self.parent).is_some_and(|pair| pair.is_unchanged())
    }
}

impl Pair<'_> {
    fn is_unchanged(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                let is_keyed = !OldItems::new(self.schema, Some(self.old)).is_empty();
                if new.len() != old.len() {
                    return false;
                }
                if !is_keyed || self.schema.item().is_none() {
                    return new == old;
                }
                (0..new.len()).all(|index| self.index(index).is_some_and(|item| item.is_unchanged()))
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len() && new.keys().all(|key| self.key(key).is_some_and(|field| field.is_unchanged()))
            }
            (new, old) => new == old,
        }
    }

    fn key(&self, key: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(key)?, self.old.as_object()?.get(key)?);
        Some(Self { new, old, schema: self.schema.child(key)? })
    }

    fn index(&self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = OldItems::new(self.schema, Some(self.old)).get(new)?;
        Some(Self { new, old, schema: self.schema.item()? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Ratchet;
    use crate::schema::Schema;

    #[test]
    fn values_are_unchanged_when_all_below_them_is() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer"},
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        }});
        let schema = Schema::from_json(&schema).unwrap();
        let check = |old: Value, new: Value, expected: bool| {
            assert_eq!(Ratchet::root(&new, &old, &schema).is_unchanged(), expected, "{old} {new}");
        };
        check(json!({"n": 1}), json!({"n": 1}), true);
        check(json!({"n": 1}), json!({"n": 2}), false);
        check(json!({"unknown": 1}), json!({"unknown": 1}), false);
        check(json!({"set": [1, 2]}), json!({"set": [1, 2]}), true);
        check(json!({"set": [1, 2]}), json!({"set": [2, 1]}), false);
        let (a, b) = (json!({"k": "a", "v": 1}), json!({"k": "b", "v": 2}));
        check(json!({"map": [a, b]}), json!({"map": [b, a]}), true);
        check(json!({"map": [a, b]}), json!({"map": [a, {"k": "c", "v": 2}]}), false);
    }
}
