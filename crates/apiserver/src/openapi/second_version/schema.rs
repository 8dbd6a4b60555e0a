use serde_json::{Map, Value, json};

const THIRD: &str = "#/components/schemas/";
const SECOND: &str = "#/definitions/";

/// What the second version doesn't have.
const DROPPED: [&str; 7] = ["default", "nullable", "oneOf", "anyOf", "allOf", "not", "example"];

/// A schema in the words of the second version.
pub(super) fn converted(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    if let Some(reference) = reference(fields) {
        let mut converted = Map::new();
        converted.insert("$ref".to_owned(), json!(reference));
        if let Some(description) = fields.get("description") {
            converted.insert("description".to_owned(), description.clone());
        }
        return Value::Object(converted);
    }
    let kept = fields.iter().filter(|(key, _)| !DROPPED.contains(&key.as_str()));
    let mut converted: Map<String, Value> = kept.map(|(key, field)| (key.clone(), member(key, field))).collect();
    // Values of several types are strings to whoever reads this version.
    let is_several = fields.get("oneOf").and_then(Value::as_array).is_some_and(|of| of.iter().all(is_type));
    if is_several && !fields.contains_key("type") && !fields.contains_key("x-kubernetes-int-or-string") {
        converted.insert("type".to_owned(), json!("string"));
    }
    untype(fields, &mut converted);
    Value::Object(converted)
}

fn is_type(schema: &Value) -> bool {
    schema.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key("type"))
}

/// What a schema refers to; one that is to have a default refers through `allOf`.
fn reference(fields: &Map<String, Value>) -> Option<String> {
    let direct = fields.get("$ref");
    let wrapped = || match fields.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref"),
        _ => None,
    };
    let name = direct.or_else(wrapped)?.as_str()?.strip_prefix(THIRD)?;
    Some(format!("{SECOND}{name}"))
}

fn member(key: &str, field: &Value) -> Value {
    match (key, field) {
        ("properties", Value::Object(properties)) => {
            Value::Object(properties.iter().map(|(name, schema)| (name.clone(), converted(schema))).collect())
        }
        ("items" | "additionalProperties", schema) => converted(schema),
        (_, field) => field.clone(),
    }
}

/// kubectl can't read fields that may be null or hold anything if they have a type.
fn untype(third: &Map<String, Value>, second: &mut Map<String, Value>) {
    let flag = |key: &str| third.get(key) == Some(&Value::Bool(true));
    let (nullable, preserves) = (flag("nullable"), flag("x-kubernetes-preserve-unknown-fields"));
    if nullable || preserves {
        second.remove("items");
        second.remove("properties");
    }
    let has_type = |second: &Map<String, Value>, name: &str| second.get("type").is_some_and(|found| found == name);
    let untyped_array = has_type(second, "array") && !second.contains_key("items");
    if nullable || untyped_array || (preserves && has_type(second, "object")) {
        second.remove("type");
    }
    let may_be_null = |name: &Value| {
        let property = name.as_str().and_then(|name| third.get("properties")?.get(name)?.get("nullable"));
        property == Some(&Value::Bool(true))
    };
    if let Some(required) = second.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !may_be_null(name));
        if required.is_empty() {
            second.remove("required");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::converted;

    fn check(third: &Value, second: &Value) {
        assert_eq!(converted(third), *second, "{third}");
    }

    #[test]
    fn schemas_are_said_in_the_words_of_the_second_version() {
        check(
            &json!({"default": {}, "allOf": [{"$ref": "#/components/schemas/a.B"}], "description": "x"}),
            &json!({"$ref": "#/definitions/a.B", "description": "x"}),
        );
        check(
            &json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}),
            &json!({"format": "int-or-string", "type": "string"}),
        );
        check(
            &json!({"type": "object", "required": ["a", "b"], "properties": {
                "a": {"type": "string", "nullable": true}, "b": {"type": "array", "items": {"$ref": "#/components/schemas/C"}},
                "default": {"type": "integer", "default": 1},
            }}),
            &json!({"type": "object", "required": ["b"], "properties": {
                "a": {}, "b": {"type": "array", "items": {"$ref": "#/definitions/C"}}, "default": {"type": "integer"},
            }}),
        );
        let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {}});
        check(&free, &json!({"x-kubernetes-preserve-unknown-fields": true}));
        check(&json!({"x-kubernetes-int-or-string": true, "oneOf": []}), &json!({"x-kubernetes-int-or-string": true}));
    }
}
