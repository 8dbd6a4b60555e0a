//! The managers of an object, by identity.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field::FieldSet;

use super::entry::{ManagedField, ManagedFieldsError, Operation};

/// Who a manager is: one entry of `metadata.managedFields` each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ManagerId {
    pub(crate) manager: String,
    pub(crate) operation: Operation,
    /// Empty for appliers, which stay the same when they go over to another version.
    pub(crate) api_version: String,
    pub(crate) subresource: Option<String>,
}

impl ManagerId {
    /// The identity of whoever does `operation` as `manager`; nobody's name is `unknown`.
    pub(crate) fn new(manager: &str, operation: Operation, api_version: &str, subresource: Option<&str>) -> ManagerId {
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        ManagerId {
            manager: if manager.is_empty() { "unknown" } else { manager }.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.filter(|name| !name.is_empty()).map(str::to_owned),
        }
    }

    fn of(entry: &ManagedField) -> ManagerId {
        let api_version = if entry.operation == Operation::Apply { String::new() } else { entry.api_version.clone() };
        ManagerId {
            manager: entry.manager.clone(),
            operation: entry.operation,
            api_version,
            subresource: entry.subresource.clone(),
        }
    }
}

/// What a manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) fields: FieldSet,
    pub(crate) api_version: String,
    pub(crate) time: Option<String>,
}

/// The managers of an object and what each owns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Managers(pub(crate) BTreeMap<ManagerId, Owned>);

impl Managers {
    pub(crate) fn of_object(object: &Value) -> Result<Managers, ManagedFieldsError> {
        ManagedField::all_of(object).map(Managers::from_entries)
    }

    pub(crate) fn from_entries(entries: Vec<ManagedField>) -> Managers {
        let by_id = entries.into_iter().map(|entry| {
            let id = ManagerId::of(&entry);
            (id, Owned { fields: entry.fields, api_version: entry.api_version, time: entry.time })
        });
        Managers(by_id.collect())
    }

    /// The entries in their order: appliers first, then by time, name, version and subresource.
    pub(crate) fn into_entries(self) -> Vec<ManagedField> {
        let mut entries: Vec<ManagedField> = self
            .0
            .into_iter()
            .map(|(id, owned)| ManagedField {
                manager: id.manager,
                operation: id.operation,
                api_version: owned.api_version,
                time: owned.time,
                fields: owned.fields,
                subresource: id.subresource,
            })
            .collect();
        entries.sort_by(|left, right| order_of(left).cmp(&order_of(right)));
        entries
    }

    /// Writes the entries to an object; without any, the object has no managed fields.
    pub(crate) fn write_to(self, object: &mut Value) {
        let entries: Vec<Value> = self.into_entries().iter().map(ManagedField::to_json).collect();
        let Some(object) = object.as_object_mut() else { return };
        if entries.is_empty() {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
            return;
        }
        let metadata = object.entry("metadata").or_insert(Value::Null);
        if metadata.is_null() {
            *metadata = Value::Object(Map::new());
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("managedFields".to_owned(), Value::Array(entries));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn drop_idle(&mut self) {
        self.0.retain(|_, owned| !owned.fields.is_empty());
    }
}

fn order_of(entry: &ManagedField) -> (Operation, &Option<String>, &str, &str, &Option<String>) {
    (entry.operation, &entry.time, &entry.manager, &entry.api_version, &entry.subresource)
}

/// Takes the managed fields out of an object, before it is compared with another.
pub(crate) fn without_managed_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}
