//! The document as protocol buffers: `openapi.v2.Document` of gnostic, which Go clients read.

use serde_json::{Map, Value};

/// A message that is being written: fields by their numbers in gnostic's `OpenAPIv2.proto`.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
            value >>= 7;
        }
        self.0.push(u8::try_from(value).unwrap_or_default());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    /// A text that is there.
    fn text(&mut self, field: u64, value: Option<&Value>) {
        if let Some(text) = value.and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.bytes(field, text.as_bytes());
        }
    }

    fn texts(&mut self, field: u64, value: Option<&Value>) {
        for text in value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            self.bytes(field, text.as_bytes());
        }
    }

    fn flag(&mut self, field: u64, value: Option<&Value>) {
        if value == Some(&Value::Bool(true)) {
            self.varint(field << 3);
            self.varint(1);
        }
    }

    fn integer(&mut self, field: u64, value: Option<&Value>) {
        if let Some(number) = value.and_then(Value::as_i64).filter(|number| *number != 0) {
            self.varint(field << 3);
            self.varint(number.cast_unsigned());
        }
    }

    fn double(&mut self, field: u64, value: Option<&Value>) {
        if let Some(number) = value.and_then(Value::as_f64).filter(|number| *number != 0.0) {
            self.varint(field << 3 | 1);
            self.0.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// `Any`: whatever it is, as YAML.
    fn any(&mut self, field: u64, value: &Value) {
        let mut any = Self::default();
        any.bytes(2, format!("{value}\n").as_bytes());
        self.message(field, &any);
    }

    /// Members that OpenAPI doesn't know.
    fn extensions(&mut self, field: u64, members: &Map<String, Value>) {
        for (name, value) in members.iter().filter(|(name, _)| name.starts_with("x-")) {
            let mut named = Self::default();
            named.bytes(1, name.as_bytes());
            named.any(2, value);
            self.message(field, &named);
        }
    }

    /// A member of a map: a name and a value.
    fn named(&mut self, field: u64, name: &str, value: &Self) {
        let mut named = Self::default();
        named.bytes(1, name.as_bytes());
        named.message(2, value);
        self.message(field, &named);
    }
}

/// The whole document.
pub(super) fn document(document: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, document.get("swagger"));
    let mut info = Message::default();
    info.text(1, document.pointer("/info/title"));
    info.text(2, document.pointer("/info/version"));
    message.message(2, &info);
    let mut paths = Message::default();
    for (path, item) in members(document.get("paths")) {
        paths.named(2, path, &path_item(item));
    }
    message.message(8, &paths);
    let mut definitions = Message::default();
    for (name, definition) in members(document.get("definitions")) {
        definitions.named(1, name, &schema(definition));
    }
    message.message(9, &definitions);
    for requirement in array(document.get("security")) {
        let mut required = Message::default();
        for (name, scopes) in members(Some(requirement)) {
            let mut texts = Message::default();
            texts.texts(1, Some(scopes));
            required.named(1, name, &texts);
        }
        message.message(12, &required);
    }
    let mut ways = Message::default();
    for (name, way) in members(document.get("securityDefinitions")) {
        let mut key = Message::default();
        for (field, word) in [(1, "type"), (2, "name"), (3, "in"), (4, "description")] {
            key.text(field, way.get(word));
        }
        let mut item = Message::default();
        item.message(2, &key);
        ways.named(1, name, &item);
    }
    message.message(13, &ways);
    message.0
}

fn path_item(item: &Value) -> Message {
    let mut message = Message::default();
    for (field, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        if let Some(found) = item.get(method) {
            message.message(field, &operation(found));
        }
    }
    for found in array(item.get("parameters")) {
        message.message(9, &parameter(found));
    }
    message
}

fn operation(operation: &Value) -> Message {
    let mut message = Message::default();
    message.texts(1, operation.get("tags"));
    message.text(3, operation.get("description"));
    message.text(5, operation.get("operationId"));
    message.texts(6, operation.get("produces"));
    message.texts(7, operation.get("consumes"));
    for found in array(operation.get("parameters")) {
        message.message(8, &parameter(found));
    }
    let mut responses = Message::default();
    for (code, found) in members(operation.get("responses")) {
        let mut response = Message::default();
        response.text(1, found.get("description"));
        if let Some(found) = found.get("schema") {
            let mut item = Message::default();
            item.message(1, &schema(found));
            response.message(2, &item);
        }
        let mut value = Message::default();
        value.message(1, &response);
        responses.named(1, code, &value);
    }
    message.message(9, &responses);
    message.texts(10, operation.get("schemes"));
    if let Some(fields) = operation.as_object() {
        message.extensions(13, fields);
    }
    message
}

/// `ParametersItem`: of the body, of the query or of the path.
fn parameter(parameter: &Value) -> Message {
    let place = parameter.get("in").and_then(Value::as_str).unwrap_or_default();
    let mut described = Message::default();
    if place == "body" {
        described.text(1, parameter.get("description"));
        described.text(2, parameter.get("name"));
        described.text(3, parameter.get("in"));
        described.flag(4, parameter.get("required"));
        described.message(5, &parameter.get("schema").map(schema).unwrap_or_default());
    } else {
        // Those of the query have one more field before the type.
        let shift = u64::from(place == "query");
        described.flag(1, parameter.get("required"));
        described.text(2, parameter.get("in"));
        described.text(3, parameter.get("description"));
        described.text(4, parameter.get("name"));
        described.text(5 + shift, parameter.get("type"));
        described.text(6 + shift, parameter.get("format"));
        described.flag(19 + shift, parameter.get("uniqueItems"));
    }
    let mut way = Message::default();
    if place == "body" {
        way.message(1, &described);
    } else {
        let mut other = Message::default();
        other.message(if place == "query" { 3 } else { 4 }, &described);
        way.message(2, &other);
    }
    let mut item = Message::default();
    item.message(1, &way);
    item
}

fn schema(schema: &Value) -> Message {
    let mut message = Message::default();
    let Some(fields) = schema.as_object() else { return message };
    message.text(1, fields.get("$ref"));
    message.text(2, fields.get("format"));
    message.text(3, fields.get("title"));
    message.text(4, fields.get("description"));
    message.double(6, fields.get("multipleOf"));
    message.double(7, fields.get("maximum"));
    message.flag(8, fields.get("exclusiveMaximum"));
    message.double(9, fields.get("minimum"));
    message.flag(10, fields.get("exclusiveMinimum"));
    message.integer(11, fields.get("maxLength"));
    message.integer(12, fields.get("minLength"));
    message.text(13, fields.get("pattern"));
    message.integer(14, fields.get("maxItems"));
    message.integer(15, fields.get("minItems"));
    message.flag(16, fields.get("uniqueItems"));
    message.integer(17, fields.get("maxProperties"));
    message.integer(18, fields.get("minProperties"));
    message.texts(19, fields.get("required"));
    for value in array(fields.get("enum")) {
        message.any(20, value);
    }
    schema_parts(&mut message, fields);
    message.extensions(31, fields);
    message
}

/// What of a schema is made of schemas, and its type.
fn schema_parts(message: &mut Message, fields: &Map<String, Value>) {
    if let Some(additional) = fields.get("additionalProperties") {
        let mut item = Message::default();
        match additional {
            Value::Bool(_) => item.flag(2, Some(additional)),
            other => item.message(1, &schema(other)),
        }
        message.message(21, &item);
    }
    if let Some(name) = fields.get("type").and_then(Value::as_str) {
        let mut item = Message::default();
        item.bytes(1, name.as_bytes());
        message.message(22, &item);
    }
    if let Some(items) = fields.get("items") {
        let mut item = Message::default();
        item.message(1, &schema(items));
        message.message(23, &item);
    }
    if fields.contains_key("properties") {
        let mut properties = Message::default();
        for (name, property) in members(fields.get("properties")) {
            properties.named(1, name, &schema(property));
        }
        message.message(25, &properties);
    }
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn array(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
