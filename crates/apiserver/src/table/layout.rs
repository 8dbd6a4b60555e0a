use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use super::built_in;
use super::column::{BuiltInColumn, NAME};
use crate::custom::{Cell, PrinterColumn};
use crate::resource::{Resource, SchemaSource};

/// The columns of a resource.
#[derive(Debug)]
pub(super) enum Layout {
    /// Those that this server knows.
    BuiltIn(&'static [BuiltInColumn]),
    /// The name and what a custom resource definition declares.
    Declared(Vec<PrinterColumn>),
}

impl Layout {
    pub(super) fn of(resource: &Resource) -> Self {
        match &resource.schema {
            SchemaSource::Named(..) => Self::BuiltIn(built_in::columns(&resource.group, &resource.kind)),
            SchemaSource::Inline(_) if resource.columns.is_empty() => Self::BuiltIn(built_in::CUSTOM),
            SchemaSource::Inline(_) => Self::Declared(resource.columns.iter().map(PrinterColumn::new).collect()),
        }
    }

    pub(super) fn definitions(&self) -> Vec<Value> {
        match self {
            Self::BuiltIn(columns) => columns.iter().map(BuiltInColumn::definition).collect(),
            Self::Declared(columns) => {
                let declared = columns.iter().map(|column| {
                    let column = column.column();
                    json!({
                        "name": column.name,
                        "type": column.value_type,
                        "format": column.format,
                        "description": column.description,
                        "priority": column.priority,
                    })
                });
                std::iter::once(NAME.definition()).chain(declared).collect()
            }
        }
    }

    pub(super) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match self {
            Self::BuiltIn(columns) => columns.iter().map(|column| column.cell(object, now)).collect(),
            Self::Declared(columns) => {
                let declared = columns.iter().map(|column| match column.cell(object) {
                    Cell::Value(value) => value,
                    Cell::Age(time) => json!(age::since(&time, now)),
                });
                std::iter::once(NAME.cell(object, now)).chain(declared).collect()
            }
        }
    }
}
