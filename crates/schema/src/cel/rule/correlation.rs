use serde_json::Value;

use crate::schema::{ListType, Schema, ValueType};

/// The items that a list had before, by the keys that name them.
pub(super) struct OldItems<'a> {
    keys: &'a [String],
    items: &'a [Value],
}

impl<'a> OldItems<'a> {
    /// Only the items of lists of type map can be told apart.
    pub(super) fn new(schema: &'a Schema, old: Option<&'a Value>) -> Self {
        let is_map = schema.value_type == Some(ValueType::Array) && schema.list_type == Some(ListType::Map);
        let items = old.and_then(Value::as_array).filter(|_| is_map && !schema.list_map_keys.is_empty());
        Self { keys: &schema.list_map_keys, items: items.map(Vec::as_slice).unwrap_or_default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What an item was before.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        let key = self.key(item)?;
        self.items.iter().find(|old| self.key(old).is_some_and(|old| old == key))
    }

    /// The values of the keys, if all are there and are scalars.
    fn key<'v>(&self, item: &'v Value) -> Option<Vec<&'v Value>> {
        let fields = item.as_object()?;
        let value = |key| fields.get(key).filter(|value| value.is_boolean() || value.is_number() || value.is_string());
        self.keys.iter().map(value).collect()
    }
}
