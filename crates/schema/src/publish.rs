use serde_json::{Map, Number, Value, json};

use crate::link::Link;
use crate::schema::{AdditionalProperties, ListType, MapType, Schema, ValueType};
use crate::validation::Validation;

impl Schema {
    /// The schema as OpenAPI v3 publishes it, prose included. Named schemas become references.
    ///
    /// ```
    /// use controller_runtime_schema::Schema;
    /// use serde_json::json;
    ///
    /// let json = json!({"type": "object", "properties": {"replicas": {"type": "integer", "minimum": 0}}});
    /// assert_eq!(Schema::from_json(&json)?.to_json(), json);
    /// # Ok::<(), controller_runtime_schema::SchemaError>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let mut json = Map::new();
        text(&mut json, "type", self.value_type.map(ValueType::as_str));
        text(&mut json, "format", self.format.as_deref());
        text(&mut json, "title", self.title.as_deref());
        text(&mut json, "description", self.description.as_deref());
        if let Some(default) = &self.default {
            json.insert("default".to_owned(), default.clone());
        }
        flag(&mut json, "nullable", self.nullable);
        list(&mut json, "enum", &self.enumeration);
        list(&mut json, "required", &self.required.iter().map(|name| json!(name)).collect::<Vec<_>>());
        self.children(&mut json);
        self.extensions(&mut json);
        self.validation.publish(&mut json);
        if self.int_or_string && self.validation.any_of.is_empty() {
            json.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
        }
        Value::Object(json)
    }

    fn children(&self, json: &mut Map<String, Value>) {
        if !self.properties.is_empty() {
            let properties: Map<String, Value> =
                self.properties.iter().map(|(name, link)| (name.clone(), publish(link))).collect();
            json.insert("properties".to_owned(), Value::Object(properties));
        }
        match &self.additional_properties {
            Some(AdditionalProperties::Any(any)) => json.insert("additionalProperties".to_owned(), json!(any)),
            Some(AdditionalProperties::Schema(link)) => json.insert("additionalProperties".to_owned(), publish(link)),
            None => None,
        };
        if let Some(items) = &self.items {
            json.insert("items".to_owned(), publish(items));
        }
    }

    fn extensions(&self, json: &mut Map<String, Value>) {
        flag(json, "x-kubernetes-preserve-unknown-fields", self.preserve_unknown_fields);
        flag(json, "x-kubernetes-embedded-resource", self.embedded_resource);
        flag(json, "x-kubernetes-int-or-string", self.int_or_string);
        let list_type = self.list_type.map(|list_type| match list_type {
            ListType::Atomic => "atomic",
            ListType::Set => "set",
            ListType::Map => "map",
        });
        text(json, "x-kubernetes-list-type", list_type);
        let keys: Vec<Value> = self.list_map_keys.iter().map(|key| json!(key)).collect();
        list(json, "x-kubernetes-list-map-keys", &keys);
        let map_type = self.map_type.map(|map_type| match map_type {
            MapType::Granular => "granular",
            MapType::Atomic => "atomic",
        });
        text(json, "x-kubernetes-map-type", map_type);
        list(json, "x-kubernetes-validations", &self.rules);
    }
}

impl Validation {
    fn publish(&self, json: &mut Map<String, Value>) {
        number(json, "minimum", self.minimum);
        flag(json, "exclusiveMinimum", self.exclusive_minimum);
        number(json, "maximum", self.maximum);
        flag(json, "exclusiveMaximum", self.exclusive_maximum);
        number(json, "multipleOf", self.multiple_of);
        let counts = [
            ("minLength", self.min_length),
            ("maxLength", self.max_length),
            ("minItems", self.min_items),
            ("maxItems", self.max_items),
            ("minProperties", self.min_properties),
            ("maxProperties", self.max_properties),
        ];
        for (key, count) in counts.into_iter().filter_map(|(key, count)| Some((key, count?))) {
            json.insert(key.to_owned(), json!(count));
        }
        text(json, "pattern", self.pattern.as_ref().map(crate::Pattern::as_str));
        flag(json, "uniqueItems", self.unique_items);
        for (key, schemas) in [("allOf", &self.all_of), ("anyOf", &self.any_of), ("oneOf", &self.one_of)] {
            list(json, key, &schemas.iter().map(Schema::to_json).collect::<Vec<_>>());
        }
        if let Some(not) = &self.not {
            json.insert("not".to_owned(), not.to_json());
        }
    }
}

fn publish(link: &Link) -> Value {
    match link.name() {
        Some(name) => json!({"$ref": format!("#/components/schemas/{name}")}),
        None => link.get().to_json(),
    }
}

fn text(json: &mut Map<String, Value>, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        json.insert(key.to_owned(), json!(text));
    }
}

fn flag(json: &mut Map<String, Value>, key: &str, flag: bool) {
    if flag {
        json.insert(key.to_owned(), json!(true));
    }
}

fn list(json: &mut Map<String, Value>, key: &str, items: &[Value]) {
    if !items.is_empty() {
        json.insert(key.to_owned(), json!(items));
    }
}

/// Whole numbers are written without a fraction, as in Go.
#[expect(clippy::cast_possible_truncation, reason = "only numbers without a fraction and within range are cast")]
fn number(json: &mut Map<String, Value>, key: &str, number: Option<f64>) {
    let Some(number) = number else { return };
    let whole = number.fract() == 0.0 && number.abs() < 9e15;
    let written = if whole { Some(Number::from(number as i64)) } else { Number::from_f64(number) };
    if let Some(written) = written {
        json.insert(key.to_owned(), Value::Number(written));
    }
}
