use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cel_type::{CelType, ObjectType};
use super::escape::escape;
use crate::link::Link;
use crate::schema::{AdditionalProperties, Schema, ValueType};
use crate::validation::Validation;

/// The largest request that kube-apiserver accepts, in bytes; nothing in an object can be larger.
const MAX_REQUEST: u64 = 3 * 1024 * 1024;
/// The longest name of an object.
const MAX_NAME: i64 = 253;

/// What a schema means in expressions: a type, and how large its values can be.
#[derive(Clone, Debug)]
pub(crate) struct SchemaType {
    shape: Shape,
    /// The most elements of a list or map, or the most bytes of a string. Zero for what has no size.
    max_elements: u64,
    /// The fewest bytes that a value takes in a request.
    min_size: u64,
}

#[derive(Clone, Debug)]
enum Shape {
    Scalar(CelType),
    List(Arc<SchemaType>),
    Map(Arc<SchemaType>),
    /// The fields by the names that expressions have for them.
    Object(BTreeMap<String, Arc<SchemaType>>),
}

impl SchemaType {
    /// The type of a schema, or `None` when expressions can't reach such values. Whole objects (`is_resource`) always
    /// have apiVersion, kind, and the name in their metadata.
    pub(crate) fn new(schema: &Schema, is_resource: bool) -> Option<Self> {
        if schema.int_or_string {
            let max = max_length(&schema.validation).unwrap_or(MAX_REQUEST - 2);
            return Some(Self::scalar(CelType::Dyn, max, 1));
        }
        match schema.value_type? {
            ValueType::Array => {
                let item = child(schema.items.as_ref()?)?;
                let most = (MAX_REQUEST - 2) / (item.min_size + 1);
                let max_elements = schema.validation.max_items.map_or(most, not_negative);
                Some(Self { shape: Shape::List(item), max_elements, min_size: 2 })
            }
            ValueType::Object => match &schema.additional_properties {
                Some(AdditionalProperties::Schema(link)) => {
                    let value = child(link)?;
                    let most = (MAX_REQUEST - 2) / (value.min_size + 6);
                    let max_elements = schema.validation.max_properties.map_or(most, not_negative);
                    Some(Self { shape: Shape::Map(value), max_elements, min_size: 2 })
                }
                _ if is_resource => Some(Self::object(&with_object_meta(schema))),
                _ => Some(Self::object(schema)),
            },
            ValueType::String => Some(Self::text(schema)),
            ValueType::Boolean => Some(Self::scalar(CelType::Bool, 0, 4)),
            ValueType::Number => Some(Self::scalar(CelType::Double, 0, 1)),
            ValueType::Integer => Some(Self::scalar(CelType::Int, 0, 1)),
        }
    }

    fn scalar(cel_type: CelType, max_elements: u64, min_size: u64) -> Self {
        Self { shape: Shape::Scalar(cel_type), max_elements, min_size }
    }

    fn text(schema: &Schema) -> Self {
        match schema.format.as_deref() {
            Some("byte") => {
                let max = schema.validation.max_length.map_or(MAX_REQUEST - 2, not_negative);
                Self::scalar(CelType::Bytes, max, 2)
            }
            Some("duration") => Self::scalar(CelType::Duration, 32, 3),
            Some("date") => Self::scalar(CelType::Timestamp, 12, 12),
            Some("date-time") => Self::scalar(CelType::Timestamp, 32, 21),
            _ => {
                let max = max_length(&schema.validation).unwrap_or_else(|| match schema.enumeration.as_slice() {
                    [] => MAX_REQUEST - 2,
                    values => values.iter().filter_map(|value| value.as_str()).map(length).max().unwrap_or(0),
                });
                Self::scalar(CelType::String, max, 2)
            }
        }
    }

    fn object(schema: &Schema) -> Self {
        let required: BTreeSet<_> = schema.required.iter().map(String::as_str).collect();
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        for (name, link) in &schema.properties {
            let Some(field) = child(link) else { continue };
            if required.contains(name.as_str()) && link.default_value().is_none() {
                min_size += length(name) + field.min_size + 4;
            }
            if let Some(name) = escape(name) {
                fields.insert(name, field);
            }
        }
        Self { shape: Shape::Object(fields), max_elements: 0, min_size }
    }

    /// The type of the elements of a list, or of the values of a map.
    pub(crate) fn element(&self) -> Option<&Arc<Self>> {
        match &self.shape {
            Shape::List(element) | Shape::Map(element) => Some(element),
            Shape::Scalar(_) | Shape::Object(_) => None,
        }
    }

    /// Whether it is a map, whose keys are strings of any length.
    pub(crate) fn is_map(&self) -> bool {
        matches!(self.shape, Shape::Map(_))
    }

    /// The type of a field, by the name that expressions have for it.
    pub(crate) fn field(&self, name: &str) -> Option<&Arc<Self>> {
        match &self.shape {
            Shape::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    /// The most elements or bytes that a value has.
    pub(crate) fn max_elements(&self) -> u64 {
        self.max_elements
    }

    /// How often values of this type fit into one request.
    pub(crate) fn max_count(&self) -> u64 {
        MAX_REQUEST / (self.min_size + 1)
    }

    /// The type for the type checker. Objects in it are called `name` and by their place below it.
    pub(crate) fn cel_type(&self, name: &str) -> CelType {
        match &self.shape {
            Shape::Scalar(cel_type) => cel_type.clone(),
            Shape::List(element) => CelType::list(element.cel_type(&format!("{name}.@idx"))),
            Shape::Map(element) => CelType::map(CelType::String, element.cel_type(&format!("{name}.@elem"))),
            Shape::Object(fields) => {
                let field =
                    |(field, of): (&String, &Arc<Self>)| (field.clone(), of.cel_type(&format!("{name}.{field}")));
                let fields = fields.iter().map(field).collect();
                CelType::Object(Arc::new(ObjectType { name: name.to_owned(), fields }))
            }
        }
    }
}

fn child(link: &Link) -> Option<Arc<SchemaType>> {
    let schema = link.get();
    SchemaType::new(schema, schema.embedded_resource).map(Arc::new)
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

fn not_negative(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// The most bytes of a text; a character takes up to four.
fn max_length(validation: &Validation) -> Option<u64> {
    validation.max_length.map(|max| not_negative(max).saturating_mul(4))
}

/// The schema of a whole object as expressions see it: of metadata only the name and its prefix, and apiVersion and kind.
pub(crate) fn with_object_meta(schema: &Schema) -> Schema {
    let has = |schema: &Schema, name: &str, value_type| {
        schema.properties.get(name).is_some_and(|link| link.get().value_type == Some(value_type))
    };
    let metadata = schema.properties.get("metadata").map(Link::get);
    let is_complete = has(schema, "kind", ValueType::String)
        && has(schema, "apiVersion", ValueType::String)
        && has(schema, "metadata", ValueType::Object)
        && metadata.is_some_and(|metadata| {
            has(metadata, "name", ValueType::String) && has(metadata, "generateName", ValueType::String)
        });
    if is_complete {
        return schema.clone();
    }
    let text = |max_length: Option<i64>| {
        let validation = Validation { max_length, ..Validation::default() };
        Link::inline(Schema { value_type: Some(ValueType::String), validation, ..Schema::default() })
    };
    let capped = |name: &str, max: i64| {
        let given = metadata.and_then(|metadata| metadata.child(name)).and_then(|schema| schema.validation.max_length);
        text(Some(given.map_or(max, |given| given.min(max))))
    };
    let names = [("name", capped("name", MAX_NAME)), ("generateName", capped("generateName", MAX_NAME - 1))];
    let metadata = Schema {
        value_type: Some(ValueType::Object),
        properties: names.into_iter().map(|(name, link)| (name.to_owned(), link)).collect(),
        ..Schema::default()
    };
    let mut whole = schema.clone();
    for name in ["kind", "apiVersion"] {
        whole.properties.insert(name.to_owned(), text(None));
    }
    whole.properties.insert("metadata".to_owned(), Link::inline(metadata));
    whole
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::SchemaType;
    use crate::schema::Schema;

    fn read(schema: &Value) -> Option<SchemaType> {
        SchemaType::new(&Schema::from_json(schema).unwrap(), false)
    }

    #[test]
    fn sizes_come_from_the_schema_or_the_largest_request() {
        for (schema, max_elements, min_size) in [
            (json!({"type": "string"}), 3_145_726, 2),
            (json!({"type": "string", "maxLength": 10}), 40, 2),
            (json!({"type": "string", "enum": ["a", "abc"]}), 3, 2),
            (json!({"type": "string", "format": "byte", "maxLength": 10}), 10, 2),
            (json!({"type": "string", "format": "date-time"}), 32, 21),
            (json!({"type": "array", "items": {"type": "integer"}}), 1_572_863, 2),
            (json!({"type": "array", "maxItems": 4, "items": {"type": "integer"}}), 4, 2),
            (json!({"type": "object", "additionalProperties": {"type": "boolean"}}), 314_572, 2),
            (json!({"x-kubernetes-int-or-string": true}), 3_145_726, 1),
            (json!({"type": "object", "required": ["ab"], "properties": {"ab": {"type": "string"}}}), 0, 10),
        ] {
            let read = read(&schema).unwrap();
            assert_eq!((read.max_elements, read.min_size), (max_elements, min_size), "{schema}");
        }
    }

    #[test]
    fn types_leave_out_what_expressions_cannot_reach() {
        let schema = json!({"type": "object", "properties": {
            "a-b": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": true},
            "frees": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}},
            "Ü": {"type": "string"},
        }});
        let read = read(&schema).unwrap();
        assert_eq!(read.field("a__dash__b").unwrap().cel_type("self").to_string(), "list(self.@idx)");
        assert!(["free", "frees", "Ü"].iter().all(|name| read.field(name).is_none()));
    }
}
