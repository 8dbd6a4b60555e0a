use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field_error::FieldError;
use crate::field_path::FieldPath;
use crate::go_format;
use crate::schema::{ListType, Schema};

/// What is wrong with the lists of type set and map in `value`: items, or keys of items, that occur twice.
///
/// Each repeated item or key gives one error, at its second occurrence.
///
/// ```
/// use controller_runtime_schema::{FieldPath, Schema, validate_lists};
/// use serde_json::json;
///
/// let schema = Schema::from_json(&json!({"type": "object", "properties": {
///     "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
/// }}))?;
/// let errors = validate_lists(&json!({"tags": ["a", "b", "a"]}), &schema, &FieldPath::root());
/// assert_eq!(errors[0].to_string(), r#"tags[2]: Duplicate value: "a""#);
/// # Ok::<(), controller_runtime_schema::SchemaError>(())
/// ```
pub fn validate_lists(value: &Value, schema: &Schema, root: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(value, schema, root, &mut errors);
    errors
}

fn visit(value: &Value, schema: &Schema, path: &FieldPath, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => {
            // As in kube-apiserver the schema of additional properties is held against named ones too.
            if let Some(link) = schema.values() {
                for (key, value) in map.iter().filter(|(_, value)| is_container(value)) {
                    visit(value, link.get(), &path.key(key), errors);
                }
            }
            for (key, value) in map.iter().filter(|(_, value)| is_container(value)) {
                if let Some(link) = schema.properties.get(key) {
                    visit(value, link.get(), &path.child(key), errors);
                }
            }
        }
        Value::Array(items) => {
            match schema.list_type {
                Some(ListType::Set) => {
                    for (index, item) in repeated(items.iter().cloned()) {
                        errors.push(FieldError::duplicate(&path.index(index), item));
                    }
                }
                Some(ListType::Map) => keys(items, &schema.list_map_keys, path, errors),
                Some(ListType::Atomic) | None => {}
            }
            if let Some(schema) = schema.item() {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| is_container(item)) {
                    visit(item, schema, &path.index(index), errors);
                }
            }
        }
        _ => {}
    }
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn keys(items: &[Value], names: &[String], path: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| !item.is_object() && !item.is_null()) {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(&path.index(index), item.clone(), detail));
        return;
    }
    let key = |item: &Value| -> Map<String, Value> {
        let given = names.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
        given.collect()
    };
    for (index, key) in repeated(items.iter().map(|item| Value::Object(key(item)))) {
        errors.push(FieldError::duplicate(&path.index(index), key));
    }
}

/// The second occurrence of each value that occurs more than once, with its index.
fn repeated(values: impl Iterator<Item = Value>) -> Vec<(usize, Value)> {
    let mut seen = BTreeMap::<String, usize>::new();
    let mut found = Vec::new();
    for (index, value) in values.enumerate() {
        let count = seen.entry(go_format::json(&value)).or_default();
        *count += 1;
        if *count == 2 {
            found.push((index, value));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::validate_lists;
    use crate::field_path::FieldPath;
    use crate::schema::Schema;

    fn check(list: &Value, items: &Value, expected: &[&str]) {
        let schema = json!({"type": "object", "properties": {"l": list}});
        let errors =
            validate_lists(&json!({"l": items}), &Schema::from_json(&schema).unwrap(), &FieldPath::new("spec"));
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sets_hold_each_item_once() {
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {}});
        check(&set, &json!([1, "1", 1.5, null]), &[]);
        check(&set, &json!([1, 2, 1, 1, 2]), &["spec.l[2]: Duplicate value: 1", "spec.l[4]: Duplicate value: 2"]);
        check(&set, &json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]), &[r#"spec.l[1]: Duplicate value: {"a":1,"b":2}"#]);
        check(&set, &json!([[1], [1]]), &["spec.l[1]: Duplicate value: [1]"]);
    }

    #[test]
    fn maps_hold_each_key_once() {
        let one = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"in": {"type": "array", "x-kubernetes-list-type": "set"}}}});
        check(&one, &json!([{"k": "a"}, {"k": "b"}, {}]), &[]);
        check(&one, &json!([{"k": "a", "x": 1}, {"k": "a"}]), &[r#"spec.l[1]: Duplicate value: {"k":"a"}"#]);
        check(&one, &json!([{}, null, {}]), &["spec.l[1]: Duplicate value: {}"]);
        check(
            &one,
            &json!(["a", 1]),
            &[r#"spec.l[0]: Invalid value: "a": must be an object for an array of list-type map"#],
        );
        check(&one, &json!([{"k": "a", "in": [1, 1]}]), &["spec.l[0].in[1]: Duplicate value: 1"]);
        let two = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]});
        check(
            &two,
            &json!([{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}]),
            &[r#"spec.l[2]: Duplicate value: {"port":1,"protocol":"TCP"}"#],
        );
    }
}
