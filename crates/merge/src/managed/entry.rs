//! One entry of `metadata.managedFields`.

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value, json};

use crate::field::{FieldSet, FieldsError};

/// How a manager came to own its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By creating, updating or patching.
    Update,
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        })
    }
}

/// The fields that one manager owns by one operation: an entry of `metadata.managedFields`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedField {
    /// The name the manager gave itself.
    pub manager: String,
    /// How it came to own the fields.
    pub operation: Operation,
    /// The version of the resource in which the fields were written, such as `apps/v1`.
    pub api_version: String,
    /// When the manager last changed one of its fields: RFC 3339, seconds, UTC.
    pub time: Option<String>,
    /// The fields.
    pub fields: FieldSet,
    /// The subresource through which they were written, if not the resource itself.
    pub subresource: Option<String>,
}

/// Why `metadata.managedFields` can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedFieldsError {
    /// It isn't a list.
    #[error("managed fields must be a list")]
    NotAList,
    /// An entry isn't an object, or one of its members has the wrong type.
    #[error("managed fields entry {0} is malformed")]
    Malformed(usize),
    /// The operation is neither of the two.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// The version is missing.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// The type of the field set is missing.
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    /// The field set isn't of the one known type.
    #[error("invalid fieldsType {fields_type:?} in managed fields entry {index}")]
    FieldsType {
        /// The type found.
        fields_type: String,
        /// The position of the entry.
        index: usize,
    },
    /// The field set can't be read.
    #[error("error decoding set: {0}")]
    Fields(#[source] FieldsError),
}

impl ManagedField {
    /// The entries of an object; none where it has no metadata or no managed fields.
    ///
    /// Errors: an entry that kube-apiserver would refuse too.
    pub fn all_of(object: &Value) -> Result<Vec<ManagedField>, ManagedFieldsError> {
        match object.get("metadata").and_then(|metadata| metadata.get("managedFields")) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(list) => ManagedField::all_from_json(list),
        }
    }

    /// Reads a list of entries. Errors: an entry that kube-apiserver would refuse too.
    pub fn all_from_json(list: &Value) -> Result<Vec<ManagedField>, ManagedFieldsError> {
        let list = list.as_array().ok_or(ManagedFieldsError::NotAList)?;
        list.iter().enumerate().map(|(index, entry)| from_json(index, entry)).collect()
    }

    /// The entry in its JSON form; empty members are left out.
    pub fn to_json(&self) -> Value {
        let mut entry = Map::new();
        let texts = [
            ("manager", Some(&self.manager)),
            ("apiVersion", Some(&self.api_version)),
            ("time", self.time.as_ref()),
            ("subresource", self.subresource.as_ref()),
        ];
        for (name, text) in texts {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                entry.insert(name.to_owned(), json!(text));
            }
        }
        entry.insert("operation".to_owned(), json!(self.operation.to_string()));
        entry.insert("fieldsType".to_owned(), json!("FieldsV1"));
        entry.insert("fieldsV1".to_owned(), self.fields.to_json());
        Value::Object(entry)
    }
}

fn from_json(index: usize, entry: &Value) -> Result<ManagedField, ManagedFieldsError> {
    let malformed = || ManagedFieldsError::Malformed(index);
    let entry = entry.as_object().ok_or_else(malformed)?;
    let text = |name: &str| match entry.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(malformed()),
    };
    let present = |text: String| (!text.is_empty()).then_some(text);
    let operation = match text("operation")?.as_str() {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(ManagedFieldsError::Operation),
    };
    let api_version = present(text("apiVersion")?).ok_or(ManagedFieldsError::ApiVersion)?;
    match text("fieldsType")?.as_str() {
        "FieldsV1" => {}
        "" => return Err(ManagedFieldsError::NoFieldsType(index)),
        other => return Err(ManagedFieldsError::FieldsType { fields_type: other.to_owned(), index }),
    }
    let fields = match entry.get("fieldsV1") {
        None | Some(Value::Null) => FieldSet::new(),
        Some(fields) => FieldSet::from_json(fields).map_err(ManagedFieldsError::Fields)?,
    };
    let (manager, time, subresource) = (text("manager")?, present(text("time")?), present(text("subresource")?));
    Ok(ManagedField { manager, operation, api_version, time, fields, subresource })
}
