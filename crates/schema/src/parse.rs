use std::sync::Arc;

use serde_json::{Map, Value};

use crate::definitions::Definitions;
use crate::link::{Link, Over};
use crate::pattern::Pattern;
use crate::schema::{AdditionalProperties, GroupVersionKind, ListType, MapType, PatchStrategy, Schema, ValueType};
use crate::validation::Validation;

/// A JSON value isn't a schema.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text of a named schema isn't JSON.
    #[error("schema {name} is not JSON")]
    Json {
        /// The schema's name.
        name: String,
        /// What the parser says.
        source: Arc<serde_json::Error>,
    },
    /// A keyword has a value that it can't have.
    #[error("schema keyword {path:?} must be {expected}")]
    Keyword {
        /// Where in the schema, as in `properties.spec.type`; empty for the schema itself.
        path: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A schema refers to another one where there are none to refer to.
    #[error("schema at {path:?} refers to {name}, and there are no definitions")]
    Reference {
        /// Where in the schema.
        path: String,
        /// What it refers to.
        name: String,
    },
}

const REFERENCE: &str = "#/components/schemas/";

pub(crate) struct Parser<'a> {
    pub(crate) definitions: Option<&'a Definitions>,
}

/// One schema object under a path, which is only put together for errors.
struct Keywords<'a> {
    map: &'a Map<String, Value>,
    path: &'a str,
}

impl Keywords<'_> {
    fn error(&self, key: &str, expected: &'static str) -> SchemaError {
        SchemaError::Keyword { path: join(self.path, key), expected }
    }

    fn read<'v, T>(
        &'v self,
        key: &str,
        expected: &'static str,
        read: impl Fn(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, SchemaError> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| self.error(key, expected)),
        }
    }

    fn string(&self, key: &str) -> Result<Option<String>, SchemaError> {
        self.read(key, "a string", |value| value.as_str().map(str::to_owned))
    }

    fn flag(&self, key: &str) -> Result<bool, SchemaError> {
        Ok(self.read(key, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    fn number(&self, key: &str) -> Result<Option<f64>, SchemaError> {
        self.read(key, "a number", Value::as_f64)
    }

    fn count(&self, key: &str) -> Result<Option<i64>, SchemaError> {
        self.read(key, "a whole number", Value::as_i64)
    }

    fn list(&self, key: &str) -> Result<&[Value], SchemaError> {
        Ok(self.read(key, "a list", |value| value.as_array().map(Vec::as_slice))?.unwrap_or(&[]))
    }

    fn strings(&self, key: &str) -> Result<Vec<String>, SchemaError> {
        let strings = self.list(key)?.iter().map(|item| item.as_str().map(str::to_owned));
        strings.collect::<Option<_>>().ok_or_else(|| self.error(key, "a list of strings"))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl Parser<'_> {
    pub(crate) fn schema(&self, json: &Value, path: &str) -> Result<Schema, SchemaError> {
        let map = json
            .as_object()
            .ok_or_else(|| SchemaError::Keyword { path: path.to_owned(), expected: "an object that is a schema" })?;
        if let Some(Value::String(reference)) = map.get("$ref") {
            return self.referred(reference, path);
        }
        let keywords = Keywords { map, path };
        let mut schema = Schema {
            value_type: value_type(&keywords)?,
            format: keywords.string("format")?,
            description: keywords.string("description")?,
            title: keywords.string("title")?,
            required: keywords.strings("required")?,
            default: map.get("default").filter(|value| !value.is_null()).cloned(),
            nullable: keywords.flag("nullable")?,
            enumeration: keywords.list("enum")?.to_vec(),
            validation: self.validation(&keywords)?,
            rules: keywords.list("x-kubernetes-validations")?.to_vec(),
            ..Schema::default()
        };
        self.children(&mut schema, &keywords)?;
        extensions(&mut schema, &keywords)?;
        if self.definitions.is_some() && opaque(&schema) {
            schema.preserve_unknown_fields = true;
        }
        Ok(schema)
    }

    /// A schema that is nothing but a reference, where no link can stand: the named schema itself.
    fn referred(&self, reference: &str, path: &str) -> Result<Schema, SchemaError> {
        let unknown = || SchemaError::Reference { path: path.to_owned(), name: reference.to_owned() };
        let definitions = self.definitions.ok_or_else(unknown)?;
        let name = reference.strip_prefix(REFERENCE).ok_or_else(unknown)?;
        Ok(Schema::clone(&*definitions.get(name)?.ok_or_else(unknown)?))
    }

    fn children(&self, schema: &mut Schema, keywords: &Keywords<'_>) -> Result<(), SchemaError> {
        if let Some(properties) = keywords.read("properties", "an object", Value::as_object)? {
            let at = join(keywords.path, "properties");
            for (name, json) in properties {
                schema.properties.insert(name.clone(), self.link(json, &join(&at, name))?);
            }
        }
        if let Some(items) = keywords.map.get("items").filter(|json| !json.is_null()) {
            schema.items = Some(self.link(items, &join(keywords.path, "items"))?);
        }
        schema.additional_properties = match keywords.map.get("additionalProperties") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(any)) => Some(AdditionalProperties::Any(*any)),
            Some(json) => {
                Some(AdditionalProperties::Schema(self.link(json, &join(keywords.path, "additionalProperties"))?))
            }
        };
        Ok(())
    }

    /// Reads the schema at a place; `{"$ref"}` and `{"allOf": [{"$ref"}], …}` become links by name.
    fn link(&self, json: &Value, path: &str) -> Result<Link, SchemaError> {
        let (Some(definitions), Some(map)) = (self.definitions, json.as_object()) else {
            return Ok(Link::inline(self.schema(json, path)?));
        };
        if let Some(name) = reference(json) {
            return Ok(Link::named(name.to_owned(), definitions.clone(), Over::default()));
        }
        let wrapped = match map.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            Some([only]) => reference(only),
            _ => None,
        };
        let Some(name) = wrapped else { return Ok(Link::inline(self.schema(json, path)?)) };
        let mut own = map.clone();
        own.remove("allOf");
        let default = own.remove("default");
        let description = own.remove("description").and_then(|text| text.as_str().map(str::to_owned));
        let keywords = if own.is_empty() {
            None
        } else {
            Some(Box::new(Parser { definitions: None }.schema(&Value::Object(own), path)?))
        };
        Ok(Link::named(name.to_owned(), definitions.clone(), Over { default, description, keywords }))
    }

    fn validation(&self, keywords: &Keywords<'_>) -> Result<Validation, SchemaError> {
        let not = match keywords.map.get("not") {
            None | Some(Value::Null) => None,
            Some(json) => Some(Box::new(self.schema(json, &join(keywords.path, "not"))?)),
        };
        Ok(Validation {
            minimum: keywords.number("minimum")?,
            exclusive_minimum: keywords.flag("exclusiveMinimum")?,
            maximum: keywords.number("maximum")?,
            exclusive_maximum: keywords.flag("exclusiveMaximum")?,
            multiple_of: keywords.number("multipleOf")?,
            min_length: keywords.count("minLength")?,
            max_length: keywords.count("maxLength")?,
            pattern: keywords.string("pattern")?.filter(|text| !text.is_empty()).map(Pattern::new),
            min_items: keywords.count("minItems")?,
            max_items: keywords.count("maxItems")?,
            unique_items: keywords.flag("uniqueItems")?,
            min_properties: keywords.count("minProperties")?,
            max_properties: keywords.count("maxProperties")?,
            all_of: self.schemas(keywords, "allOf")?,
            any_of: self.schemas(keywords, "anyOf")?,
            one_of: self.schemas(keywords, "oneOf")?,
            not,
        })
    }

    fn schemas(&self, keywords: &Keywords<'_>, key: &str) -> Result<Vec<Schema>, SchemaError> {
        let at = join(keywords.path, key);
        keywords.list(key)?.iter().map(|json| self.schema(json, &at)).collect()
    }
}

fn value_type(keywords: &Keywords<'_>) -> Result<Option<ValueType>, SchemaError> {
    let read = |value: &Value| match value {
        // An empty type is how Go writes none.
        Value::String(name) if name.is_empty() => Some(None),
        Value::String(name) => ValueType::from_name(name).map(Some),
        _ => None,
    };
    Ok(keywords.read("type", "a type of OpenAPI", read)?.flatten())
}

fn reference(json: &Value) -> Option<&str> {
    json.get("$ref")?.as_str()?.strip_prefix(REFERENCE)
}

/// Built-in types such as RawExtension and FieldsV1 are published as objects without fields, and hold any.
fn opaque(schema: &Schema) -> bool {
    matches!(schema.value_type, None | Some(ValueType::Object))
        && schema.properties.is_empty()
        && schema.additional_properties.is_none()
        && !schema.int_or_string
        && schema.validation.one_of.is_empty()
}

fn extensions(schema: &mut Schema, keywords: &Keywords<'_>) -> Result<(), SchemaError> {
    schema.preserve_unknown_fields = keywords.flag("x-kubernetes-preserve-unknown-fields")?;
    schema.embedded_resource = keywords.flag("x-kubernetes-embedded-resource")?;
    schema.int_or_string =
        keywords.flag("x-kubernetes-int-or-string")? || schema.format.as_deref() == Some("int-or-string");
    schema.list_type =
        keywords.read("x-kubernetes-list-type", "atomic, set or map", |value| match value.as_str()? {
            "atomic" => Some(ListType::Atomic),
            "set" => Some(ListType::Set),
            "map" => Some(ListType::Map),
            _ => None,
        })?;
    schema.map_type =
        keywords.read("x-kubernetes-map-type", "granular or atomic", |value| match value.as_str()? {
            "granular" => Some(MapType::Granular),
            "atomic" => Some(MapType::Atomic),
            _ => None,
        })?;
    schema.list_map_keys = keywords.strings("x-kubernetes-list-map-keys")?;
    schema.patch_merge_key = keywords.string("x-kubernetes-patch-merge-key")?;
    for strategy in keywords.string("x-kubernetes-patch-strategy")?.unwrap_or_default().split(',') {
        let PatchStrategy { merge, replace, retain_keys } = &mut schema.patch_strategy;
        match strategy {
            "merge" => *merge = true,
            "replace" => *replace = true,
            "retainKeys" => *retain_keys = true,
            _ => {}
        }
    }
    for json in keywords.list("x-kubernetes-group-version-kind")? {
        let part = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = GroupVersionKind { group: part("group"), version: part("version"), kind: part("kind") };
        schema.group_version_kinds.push(kind);
    }
    Ok(())
}
