use serde_json::{Map, Value, json};

use super::schema::converted;

const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// The operations of a path.
pub(super) fn item(third: &Value, group: &str, version: &str) -> Value {
    let mut second = Map::new();
    for (key, value) in third.as_object().into_iter().flatten() {
        if METHODS.contains(&key.as_str()) {
            second.insert(key.clone(), operation(value, group, version));
        } else if key == "parameters" {
            second.insert(key.clone(), Value::Array(parameters(value)));
        }
    }
    Value::Object(second)
}

fn operation(third: &Value, group: &str, version: &str) -> Value {
    let mut second: Map<String, Value> = third.as_object().cloned().unwrap_or_default();
    let body = second.remove("requestBody");
    let mut given = second.remove("parameters").map(|given| parameters(&given)).unwrap_or_default();
    if let Some(body) = &body {
        given.insert(0, body_parameter(body));
    }
    let is_patch = third.get("x-kubernetes-action").is_some_and(|action| action == "patch");
    let consumes = body.as_ref().filter(|_| is_patch).map_or_else(|| vec!["*/*".to_owned()], media_types);
    let family = if group.is_empty() { "core" } else { group.trim_end_matches(".k8s.io") };
    let responses = third.get("responses").and_then(Value::as_object).into_iter().flatten();
    let responses: Map<String, Value> = responses.map(|(code, answer)| (code.clone(), response(answer))).collect();
    second.insert("consumes".to_owned(), json!(consumes));
    second.insert("produces".to_owned(), json!(["application/json", "application/yaml"]));
    second.insert("schemes".to_owned(), json!(["https"]));
    second.insert("tags".to_owned(), json!([format!("{}_{version}", family.replace('.', "_"))]));
    second.insert("responses".to_owned(), Value::Object(responses));
    if !given.is_empty() {
        second.insert("parameters".to_owned(), Value::Array(given));
    }
    Value::Object(second)
}

/// Parameters have their schema's words themselves.
fn parameters(third: &Value) -> Vec<Value> {
    let flat = |parameter: &Value| {
        let mut parameter = parameter.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(schema)) = parameter.remove("schema") {
            parameter.extend(schema);
        }
        Value::Object(parameter)
    };
    third.as_array().into_iter().flatten().map(flat).collect()
}

fn body_parameter(body: &Value) -> Value {
    let mut parameter = json!({"name": "body", "in": "body", "schema": schema_of(body)});
    if body.get("required") == Some(&Value::Bool(true)) {
        parameter["required"] = json!(true);
    }
    parameter
}

fn response(third: &Value) -> Value {
    let mut response = json!({"description": third.get("description").cloned().unwrap_or_else(|| json!(""))});
    let schema = schema_of(third);
    if !schema.is_null() {
        response["schema"] = schema;
    }
    response
}

/// The schema of a body, which is the same in all its media types.
fn schema_of(body: &Value) -> Value {
    let content = body.get("content").and_then(Value::as_object);
    let schema = content.and_then(|content| content.values().next()?.get("schema"));
    schema.map(converted).unwrap_or_default()
}

/// The media types of a patch, in the reference's order.
fn media_types(body: &Value) -> Vec<String> {
    let content = body.get("content").and_then(Value::as_object).into_iter().flatten();
    let mut types: Vec<String> = content.map(|(media_type, _)| media_type.clone()).collect();
    types.sort_by_key(|media_type| media_type.contains("apply"));
    types
}
