//! Tables (`as=Table`), which kubectl prints, and objects reduced to their metadata.

mod age;
mod built_in;
mod cell;
mod column;
mod definition;
mod kind_cell;
mod layout;
mod pod;
mod selector_text;
mod service;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use self::layout::Layout;
use crate::resource::Resource;
use crate::verbs::view;

/// What a row holds of its object (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    None,
}

impl IncludeObject {
    /// The value of the query parameter; `None` when it isn't one of the three.
    pub(crate) fn from_parameter(value: &str) -> Option<Self> {
        match value {
            "" | "Metadata" => Some(Self::Metadata),
            "Object" => Some(Self::Object),
            "None" => Some(Self::None),
            _ => None,
        }
    }
}

/// How objects of one resource become rows.
#[derive(Debug)]
pub(crate) struct Table {
    layout: Layout,
    include: IncludeObject,
    resource: Arc<Resource>,
}

impl Table {
    /// The table of a resource: its own columns, or those of every kind.
    pub(crate) fn new(resource: &Arc<Resource>, include: IncludeObject) -> Self {
        Self { layout: Layout::of(resource), include, resource: Arc::clone(resource) }
    }

    /// A whole table. `metadata` is that of the list, or of the one object.
    pub(crate) fn render<'a>(
        &self,
        objects: impl IntoIterator<Item = &'a Value>,
        metadata: Value,
        now: Timestamp,
    ) -> Value {
        let rows: Vec<Value> = objects.into_iter().map(|object| self.row(object, now)).collect();
        table(Some(self.layout.definitions()), rows, metadata)
    }

    /// The table of one event of a watch; only the first one has column definitions.
    pub(crate) fn event(&self, object: &Value, first: bool, now: Timestamp) -> Value {
        let definitions = first.then(|| self.layout.definitions());
        let mut metadata = Map::new();
        if let Some(version) = object.pointer("/metadata/resourceVersion") {
            metadata.insert("resourceVersion".to_owned(), version.clone());
        }
        table(definitions, vec![self.row(object, now)], Value::Object(metadata))
    }

    fn row(&self, object: &Value, now: Timestamp) -> Value {
        let included = match self.include {
            IncludeObject::Metadata => partial(object),
            IncludeObject::Object => view(&self.resource, object).into_owned(),
            IncludeObject::None => Value::Null,
        };
        json!({"cells": self.layout.cells(object, now), "object": included})
    }
}

fn table(definitions: Option<Vec<Value>>, rows: Vec<Value>, metadata: Value) -> Value {
    let members = [
        ("kind", Value::from("Table")),
        ("apiVersion", Value::from("meta.k8s.io/v1")),
        ("metadata", metadata),
        ("columnDefinitions", definitions.map_or(Value::Null, Value::Array)),
        ("rows", Value::Array(rows)),
    ];
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// An object's metadata alone (`as=PartialObjectMetadata`).
pub(crate) fn partial(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_default(),
    })
}

/// Table or metadata, alone or listed, in the version of `meta.k8s.io` that the client asked for.
pub(crate) fn in_version(mut shown: Value, is_beta: bool) -> Value {
    if is_beta {
        for pointer in ["/items", "/rows"] {
            for item in shown.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten() {
                let object = if pointer == "/rows" { item.get_mut("object") } else { Some(item) };
                object.into_iter().for_each(make_beta);
            }
        }
        make_beta(&mut shown);
    }
    shown
}

fn make_beta(shown: &mut Value) {
    if let Some(version) = shown.get_mut("apiVersion").filter(|version| *version == "meta.k8s.io/v1") {
        *version = Value::from("meta.k8s.io/v1beta1");
    }
}

#[cfg(test)]
mod tests;
