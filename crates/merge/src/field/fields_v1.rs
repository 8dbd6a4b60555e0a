//! The JSON form of field sets, called `FieldsV1` in `metadata.managedFields`.
//!
//! Keys are `f:NAME`, `k:{KEY FIELDS}`, `v:SCALAR` and `i:INDEX`; `.` says that the path itself is a member too, which
//! goes without saying where nothing is below it.

use serde_json::{Map, Value};

use super::{FieldSet, PathElement};

/// Why JSON isn't a field set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FieldsError {
    /// A set is not a JSON object.
    #[error("a field set must be an object, got {0}")]
    NotAnObject(Value),
    /// A key is shorter than its prefix, or the colon is missing.
    #[error("key {0:?} has no prefix such as `f:`")]
    Prefix(String),
    /// The part behind `k:` or `v:` is not JSON.
    #[error("key {key:?} can't be read")]
    Json {
        /// The whole key.
        key: String,
        /// What is wrong with its JSON.
        source: serde_json::Error,
    },
    /// The part behind `k:` is JSON, but not an object.
    #[error("key {0:?} has no object behind its prefix")]
    KeyFields(String),
    /// The part behind `i:` is not a number.
    #[error("key {key:?} has no index behind its prefix")]
    Index {
        /// The whole key.
        key: String,
        /// What is wrong with the number.
        source: std::num::ParseIntError,
    },
}

impl FieldSet {
    /// The set in the form of `fieldsV1`.
    pub fn to_json(&self) -> Value {
        Value::Object(encode(self, false))
    }

    /// Reads the form of `fieldsV1`.
    ///
    /// Keys with an unknown prefix are dropped. Errors: anything else that isn't a field set.
    pub fn from_json(json: &Value) -> Result<FieldSet, FieldsError> {
        let mut set = FieldSet::new();
        decode(json, &mut set)?;
        Ok(set)
    }
}

fn encode(set: &FieldSet, include_self: bool) -> Map<String, Value> {
    let mut json = Map::new();
    if include_self {
        json.insert(".".to_owned(), Value::Object(Map::new()));
    }
    for member in set.members() {
        if !set.children().contains_key(member) {
            json.insert(element_to_key(member), Value::Object(Map::new()));
        }
    }
    for (element, child) in set.children() {
        let is_member = set.members().contains(element);
        if is_member || !child.is_empty() {
            json.insert(element_to_key(element), Value::Object(encode(child, is_member && !child.is_empty())));
        }
    }
    json
}

/// Reads into `set`; says whether the path of `json` itself is a member.
fn decode(json: &Value, set: &mut FieldSet) -> Result<bool, FieldsError> {
    let Value::Object(fields) = json else { return Err(FieldsError::NotAnObject(json.clone())) };
    let mut is_member = false;
    let mut has_children = false;
    for (key, below) in fields {
        if key == "." {
            is_member = true;
            continue;
        }
        let Some(element) = key_to_element(key)? else { continue };
        let mut child = FieldSet::new();
        if decode(below, &mut child)? {
            set.insert_member(element.clone());
        }
        has_children = true;
        if !child.is_empty() {
            set.insert_below(element, child);
        }
    }
    Ok(is_member || !has_children)
}

fn element_to_key(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(fields) => {
            let fields: Map<String, Value> = fields.iter().cloned().collect();
            format!("k:{}", Value::Object(fields))
        }
        PathElement::Value(value) => format!("v:{value}"),
        PathElement::Index(index) => format!("i:{index}"),
    }
}

fn key_to_element(key: &str) -> Result<Option<PathElement>, FieldsError> {
    let Some((prefix, rest)) = key.split_at_checked(2).filter(|(prefix, _)| prefix.ends_with(':')) else {
        return Err(FieldsError::Prefix(key.to_owned()));
    };
    let json = || serde_json::from_str(rest).map_err(|source| FieldsError::Json { key: key.to_owned(), source });
    Ok(Some(match prefix {
        "f:" => PathElement::field(rest),
        "v:" => PathElement::Value(json()?),
        "k:" => match json()? {
            Value::Object(fields) => PathElement::key(fields),
            _ => return Err(FieldsError::KeyFields(key.to_owned())),
        },
        "i:" => PathElement::Index(rest.parse().map_err(|source| FieldsError::Index { key: key.to_owned(), source })?),
        _ => return Ok(None),
    }))
}
