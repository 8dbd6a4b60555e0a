use serde_json::Value;

use crate::link::Link;
use crate::schema::Schema;

/// Defaults that are filled into one value take at most about so many bytes; there the rest stays as it is. No API server
/// stores an object of a tenth of it, and without a bound a few bytes per item could become a large default each.
const MAX_FILLED_BYTES: usize = 16 << 20;

/// Fills in the defaults of `schema` where a field isn't given, and decides on nulls.
///
/// A null that isn't allowed becomes the default if there is one, and goes where there is none. Defaults are filled in
/// inside values that are there (or came from a default themselves), never for objects that are missing.
///
/// ```
/// use controller_runtime_schema::{Schema, default};
/// use serde_json::json;
///
/// let schema = Schema::from_json(&json!({"type": "object", "properties": {
///     "replicas": {"type": "integer", "default": 1},
///     "color": {"type": "string"},
/// }}))?;
/// let mut value = json!({"replicas": null, "color": null});
/// default(&mut value, &schema);
/// assert_eq!(value, json!({"replicas": 1}));
/// # Ok::<(), controller_runtime_schema::SchemaError>(())
/// ```
pub fn default(value: &mut Value, schema: &Schema) {
    drop_nulls(value, schema);
    fill_defaults(value, schema);
}

/// Fills in the defaults of `schema` as [`default`] does, but keeps nulls that are not allowed and have no default, for
/// validation to find. That is how kube-apiserver treats what was applied, which it never decodes.
pub fn fill_defaults(value: &mut Value, schema: &Schema) {
    Filler { left: MAX_FILLED_BYTES }.fill(value, schema);
}

/// Removes nulls that are neither allowed nor have a default.
fn drop_nulls(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => map.retain(|key, value| {
            let Some(link) = schema.child_link(key) else { return true };
            if value.is_null() {
                return link.get().nullable || link.default_value().is_some();
            }
            drop_nulls(value, link.get());
            true
        }),
        Value::Array(items) => {
            if let Some(schema) = schema.item() {
                for item in items {
                    drop_nulls(item, schema);
                }
            }
        }
        _ => {}
    }
}

struct Filler {
    /// Bytes of defaults that may still be filled in.
    left: usize,
}

impl Filler {
    fn fill(&mut self, value: &mut Value, schema: &Schema) {
        match value {
            Value::Object(map) => {
                for (name, link) in &schema.properties {
                    let missing = match map.get(name) {
                        None => true,
                        Some(value) => value.is_null() && !link.get().nullable,
                    };
                    if missing && let Some(default) = self.take(link) {
                        map.insert(name.clone(), default);
                    }
                }
                for (key, value) in map.iter_mut() {
                    if let Some(link) = schema.child_link(key) {
                        self.replace_null(value, link);
                        self.fill(value, link.get());
                    }
                }
            }
            Value::Array(items) => {
                if let Some(link) = &schema.items {
                    for item in items {
                        self.replace_null(item, link);
                        self.fill(item, link.get());
                    }
                }
            }
            _ => {}
        }
    }

    /// Values of maps and items of lists have no absence that a default could fill; only a null there is replaced.
    fn replace_null(&mut self, value: &mut Value, link: &Link) {
        if value.is_null()
            && !link.get().nullable
            && let Some(default) = self.take(link)
        {
            *value = default;
        }
    }

    /// A field's default, as long as there is room.
    fn take(&mut self, link: &Link) -> Option<Value> {
        let default = link.default_value()?;
        self.left = self.left.checked_sub(size(default))?;
        Some(default.clone())
    }
}

/// About the bytes that a value takes in memory.
fn size(value: &Value) -> usize {
    /// What a value takes without what it holds, and a member of an object without its value.
    const VALUE: usize = 32;
    const MEMBER: usize = 32;
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(size).sum(),
            Value::Object(members) => members.iter().map(|(key, value)| MEMBER + key.len() + size(value)).sum(),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::default;
    use crate::schema::Schema;

    fn check(schema: &Value, value: &Value, expected: &Value) {
        let schema = Schema::from_json(schema).unwrap();
        let mut filled = value.clone();
        default(&mut filled, &schema);
        assert_eq!(&filled, expected, "defaults of {value}");
        default(&mut filled, &schema);
        assert_eq!(&filled, expected, "defaulting is idempotent");
    }

    #[test]
    fn defaults_fill_what_is_there() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "integer", "default": 1},
            "deep": {"type": "object", "default": {}, "properties": {"b": {"type": "string", "default": "x"}}},
            "absent": {"type": "object", "properties": {"b": {"type": "string", "default": "x"}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"b": {"default": true, "type": "boolean"}}}},
            "map": {"type": "object", "additionalProperties": {"type": "integer", "default": 7}},
        }});
        check(&schema, &json!({}), &json!({"a": 1, "deep": {"b": "x"}}));
        check(
            &schema,
            &json!({"a": 2, "deep": {"b": "y"}, "absent": {}, "list": [{}, {"b": false}], "map": {"k": null, "l": 1}}),
            &json!({"a": 2, "deep": {"b": "y"}, "absent": {"b": "x"}, "list": [{"b": true}, {"b": false}], "map": {"k": 7, "l": 1}}),
        );
    }

    #[test]
    fn small_items_do_not_become_large_without_end() {
        let schema = Schema::from_json(&json!({"type": "array", "items": {
            "type": "object", "properties": {"a": {"type": "string", "default": "x".repeat(1000)}},
        }}))
        .unwrap();
        let mut value = Value::Array(vec![json!({}); 100_000]);
        default(&mut value, &schema);
        let filled = value.as_array().unwrap().iter().filter(|item| **item != json!({})).count();
        assert!((10_000..20_000).contains(&filled), "{filled}");
    }

    #[test]
    fn nulls_are_kept_replaced_or_dropped() {
        let schema = json!({"type": "object", "properties": {
            "nullable": {"type": "string", "nullable": true, "default": "x"},
            "defaulted": {"type": "string", "default": "x"},
            "plain": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
        }});
        check(
            &schema,
            &json!({"nullable": null, "defaulted": null, "plain": null, "list": [null], "unknown": null}),
            &json!({"nullable": null, "defaulted": "x", "list": [null], "unknown": null}),
        );
    }
}
