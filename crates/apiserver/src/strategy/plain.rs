//! Kinds that differ from the generic behaviour in little.

use std::collections::BTreeMap;

use controller_runtime_schema::FieldError;
use serde_json::Value;

use super::fields::at;
use super::{Strategy, differs_outside_metadata};

/// A kind of which a few facts are enough.
#[derive(Debug)]
pub(super) struct Plain {
    /// The name of the schema.
    pub(super) definition: &'static str,
    /// How `metadata.generation` is kept.
    pub(super) generation: Generation,
    /// Whether an update without `resourceVersion` is allowed.
    pub(super) unconditional: bool,
    /// Whether an update of a name that does not exist creates the object.
    pub(super) create_on_update: bool,
    /// Whether a delete answers with the object.
    pub(super) returns_deleted: bool,
    /// Rules for a new object, and for a changed one, whose former state is given.
    pub(super) rules: fn(&Value, Option<&Value>) -> Vec<FieldError>,
    /// What a client should know who writes such an object.
    pub(super) warnings: fn(&Value) -> Vec<String>,
    /// Field labels beyond name and namespace.
    pub(super) labels: &'static [&'static str],
}

/// How `metadata.generation` is kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// The kind has none.
    None,
    /// It counts changes.
    Counts,
    /// It counts changes, those of labels among them.
    CountsLabels,
}

impl Plain {
    /// A kind without anything special.
    pub(super) const fn new(definition: &'static str) -> Self {
        Self {
            definition,
            generation: Generation::None,
            unconditional: true,
            create_on_update: false,
            returns_deleted: false,
            rules: |_, _| Vec::new(),
            warnings: |_| Vec::new(),
            labels: &[],
        }
    }
}

impl Strategy for Plain {
    fn definition(&self) -> Option<&'static str> {
        Some(self.definition)
    }

    fn tracks_generation(&self) -> bool {
        self.generation != Generation::None
    }

    fn generation_changes(&self, new: &Value, old: &Value, has_status: bool) -> bool {
        match self.generation {
            Generation::None => false,
            Generation::Counts => differs_outside_metadata(new, old, has_status),
            Generation::CountsLabels => {
                differs_outside_metadata(new, old, has_status)
                    || at(new, "metadata.labels") != at(old, "metadata.labels")
            }
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        (self.rules)(object, None)
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Vec<FieldError> {
        if subresource.is_some() { Vec::new() } else { (self.rules)(new, Some(old)) }
    }

    fn warnings(&self, new: &Value, _old: Option<&Value>) -> Vec<String> {
        (self.warnings)(new)
    }

    fn unconditional_update(&self) -> bool {
        self.unconditional
    }

    fn create_on_update(&self) -> bool {
        self.create_on_update
    }

    fn returns_deleted_object(&self) -> bool {
        self.returns_deleted
    }

    fn selectable_labels(&self) -> &[&'static str] {
        self.labels
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        super::selectable_texts(self.labels, object)
    }
}
