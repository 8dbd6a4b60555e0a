use std::rc::Rc;

use serde_json::Value;

use super::CelValue;
use crate::schema::{ListType, Schema};

/// A list: one that an expression made, or one of a document.
#[derive(Clone, Debug)]
pub enum CelList<'a> {
    /// Values of an expression.
    Values(Rc<Vec<CelValue<'a>>>),
    /// The integers from zero to one below this.
    Range(i64),
    /// Values that were joined to a list with a schema, which says how they are told apart.
    Joined(Rc<Vec<CelValue<'a>>>, &'a Schema),
    /// A JSON list and its schema, if it is known.
    Json(&'a [Value], Option<&'a Schema>),
}

impl<'a> CelList<'a> {
    /// How many values it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Values(values) | Self::Joined(values, _) => values.len(),
            Self::Range(count) => usize::try_from(*count).unwrap_or_default(),
            Self::Json(items, _) => items.len(),
        }
    }

    /// The value at an index from zero.
    pub(crate) fn get(&self, index: usize) -> Option<CelValue<'a>> {
        match self {
            Self::Values(values) | Self::Joined(values, _) => values.get(index).cloned(),
            Self::Range(count) => i64::try_from(index).ok().filter(|index| index < count).map(CelValue::Int),
            Self::Json(items, schema) => items.get(index).map(|item| element(item, *schema)),
        }
    }

    /// The values in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = CelValue<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// How its values are told apart, by its schema.
    pub(crate) fn list_type(&self) -> ListType {
        self.schema().and_then(|schema| schema.list_type).unwrap_or(ListType::Atomic)
    }

    /// The fields by which values of a list of type map are told apart.
    pub(crate) fn keys(&self) -> &'a [String] {
        self.schema().map(|schema| schema.list_map_keys.as_slice()).unwrap_or_default()
    }

    /// The same kind of list with other values.
    pub(crate) fn with_values(&self, values: Vec<CelValue<'a>>) -> Self {
        match self.schema() {
            Some(schema) => Self::Joined(Rc::new(values), schema),
            None => Self::Values(Rc::new(values)),
        }
    }

    fn schema(&self) -> Option<&'a Schema> {
        match self {
            Self::Values(_) | Self::Range(_) => None,
            Self::Joined(_, schema) => Some(schema),
            Self::Json(_, schema) => *schema,
        }
    }
}

fn element<'a>(item: &'a Value, schema: Option<&'a Schema>) -> CelValue<'a> {
    match schema.and_then(|schema| schema.items.as_ref()) {
        Some(link) => CelValue::with_schema(item, link.get()),
        None => CelValue::from_json(item),
    }
}
