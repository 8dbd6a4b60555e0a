use serde_json::Value;

use crate::link::Link;
use crate::schema::Schema;

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
    fill(value, schema);
}

/// Fills in the defaults of `schema` as [`default`] does, but keeps nulls that are not allowed and have no default, for
/// validation to find. That is how kube-apiserver treats what was applied, which it never decodes.
pub fn fill_defaults(value: &mut Value, schema: &Schema) {
    fill(value, schema);
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

fn fill(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => {
            for (name, link) in &schema.properties {
                let missing = match map.get(name) {
                    None => true,
                    Some(value) => value.is_null() && !link.get().nullable,
                };
                if missing && let Some(default) = link.default_value() {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (key, value) in map.iter_mut() {
                if let Some(link) = schema.child_link(key) {
                    replace_null(value, link);
                    fill(value, link.get());
                }
            }
        }
        Value::Array(items) => {
            if let Some(link) = &schema.items {
                for item in items {
                    replace_null(item, link);
                    fill(item, link.get());
                }
            }
        }
        _ => {}
    }
}

/// Values of maps and items of lists have no absence that a default could fill; only a null there is replaced.
fn replace_null(value: &mut Value, link: &Link) {
    if value.is_null()
        && !link.get().nullable
        && let Some(default) = link.default_value()
    {
        *value = default.clone();
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
