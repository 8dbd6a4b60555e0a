use std::rc::Rc;

use serde_json::{Map, Value};

use super::{CelEntries, CelValue};
use crate::cel::escape::escape;
use crate::cel::unescape::unescape;
use crate::schema::{AdditionalProperties, Schema};

/// A map or an object: one that an expression made, or one of a document.
#[derive(Clone, Debug)]
pub enum CelMap<'a> {
    /// Keys and values of an expression.
    Values(Rc<CelEntries<'a>>),
    /// A JSON object and its schema, if it is known.
    Json(&'a Map<String, Value>, Option<&'a Schema>),
    /// The values of variables that stand below one name.
    Fields(Rc<Vec<(String, CelValue<'a>)>>),
}

impl<'a> CelMap<'a> {
    /// How many keys it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Json(..) => self.keys().len(),
            Self::Fields(fields) => fields.len(),
        }
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &CelValue<'_>) -> Option<CelValue<'a>> {
        match self {
            Self::Values(values) => values.get(key).cloned(),
            Self::Json(..) | Self::Fields(_) => match key {
                CelValue::String(name) => self.field(name),
                _ => None,
            },
        }
    }

    /// The value of a field by the name that expressions have for it.
    pub(crate) fn field(&self, name: &str) -> Option<CelValue<'a>> {
        match self {
            Self::Values(_) => self.get(&CelValue::text(name.to_owned())),
            Self::Fields(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()),
            Self::Json(fields, None) => fields.get(name).map(CelValue::from_json),
            Self::Json(fields, Some(schema)) => {
                if let Some(values) = map_values(schema) {
                    return fields.get(name).map(|value| CelValue::with_schema(value, values));
                }
                let name = unescape(name)?;
                let value = fields.get(name.as_ref())?;
                member(schema, &name).map(|of| match of {
                    Member::Typed(of) => CelValue::with_schema(value, of),
                    Member::Plain => CelValue::from_json(value),
                    Member::Metadata => metadata(value),
                })
            }
        }
    }

    /// The keys in order.
    pub(crate) fn keys(&self) -> Vec<CelValue<'a>> {
        match self {
            Self::Values(values) => values.keys().cloned().collect(),
            Self::Fields(fields) => fields.iter().map(|(name, _)| CelValue::text(name.clone())).collect(),
            Self::Json(fields, None) => fields.keys().map(|key| CelValue::text(key.as_str())).collect(),
            Self::Json(fields, Some(schema)) if map_values(schema).is_some() => {
                fields.keys().map(|key| CelValue::text(key.as_str())).collect()
            }
            Self::Json(fields, Some(schema)) => {
                let known = fields.keys().filter(|key| member(schema, key).is_some());
                known.filter_map(|key| escape(key)).map(CelValue::text).collect()
            }
        }
    }
}

/// The schema of a map's values.
fn map_values(schema: &Schema) -> Option<&Schema> {
    match &schema.additional_properties {
        Some(AdditionalProperties::Schema(link)) => Some(link.get()),
        _ => None,
    }
}

enum Member<'a> {
    Typed(&'a Schema),
    Plain,
    Metadata,
}

/// What a field is. The root of a resource has its kind and its names, whatever the schema says of them.
fn member<'a>(schema: &'a Schema, name: &str) -> Option<Member<'a>> {
    if schema.embedded_resource && matches!(name, "apiVersion" | "kind") {
        return Some(Member::Plain);
    }
    if schema.embedded_resource && name == "metadata" {
        return Some(Member::Metadata);
    }
    schema.properties.get(name).map(|link| Member::Typed(link.get()))
}

/// The part of an object's metadata that rules see.
fn metadata(value: &Value) -> CelValue<'_> {
    let fields = value.as_object().into_iter().flatten();
    let seen = fields.filter(|(key, _)| matches!(key.as_str(), "name" | "generateName"));
    let seen = seen.map(|(key, value)| (key.clone(), CelValue::from_json(value)));
    CelValue::Map(CelMap::Fields(Rc::new(seen.collect())))
}
