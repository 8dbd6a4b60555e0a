use jiff::Timestamp;
use serde_json::Value;

use super::built_in;
use super::column::BuiltInColumn;
use crate::resource::{Resource, SchemaSource};

/// The columns of a resource.
#[derive(Debug)]
pub(super) struct Layout(&'static [BuiltInColumn]);

impl Layout {
    pub(super) fn of(resource: &Resource) -> Self {
        match &resource.schema {
            SchemaSource::Named(..) => Self(built_in::columns(&resource.group, &resource.kind)),
            SchemaSource::Inline(_) => Self(built_in::CUSTOM),
        }
    }

    pub(super) fn definitions(&self) -> Vec<Value> {
        self.0.iter().map(BuiltInColumn::definition).collect()
    }

    pub(super) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        self.0.iter().map(|column| column.cell(object, now)).collect()
    }
}
