//! Which path element selects an item of a list.

use serde_json::Value;

use crate::field::{PathElement, quoted};

use super::schema_type::{ItemIdentity, ListShape};

impl ListShape<'_> {
    /// The path element that selects `item`. Errors: a message that says why nothing can.
    pub(crate) fn element_of(&self, item: &Value) -> Result<PathElement, String> {
        match self.identity {
            ItemIdentity::Atomic => Err("invalid indexing of non-associative list".to_owned()),
            ItemIdentity::Keys(_) | ItemIdentity::Key(_) if !self.identity.keys().is_empty() => self.keyed(item),
            _ => by_value(item),
        }
    }

    fn keyed(&self, item: &Value) -> Result<PathElement, String> {
        let keys = self.identity.keys();
        let fields = match item {
            Value::Object(fields) => fields,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let Some(map) = self.items.map() else {
            return Err("associative list may not have non-map types".to_owned());
        };
        let found: Vec<(String, Value)> = keys
            .iter()
            .filter_map(|key| {
                let value = fields.get(key).or_else(|| map.default_of(key))?;
                Some((key.clone(), value.clone()))
            })
            .collect();
        if found.is_empty() {
            let keys: Vec<String> = keys.iter().map(|key| quoted(key).to_string()).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                 values for any key fields)",
                keys.join(" ")
            ));
        }
        Ok(PathElement::key(found))
    }
}

fn by_value(item: &Value) -> Result<PathElement, String> {
    let problem = match item {
        Value::Object(_) => "associative list without keys has an element that's a map type",
        Value::Array(_) => "not supported: associative list with lists as elements",
        Value::Null => "associative list without keys has an element that's an explicit null",
        scalar => return Ok(PathElement::Value(scalar.clone())),
    };
    Err(problem.to_owned())
}
