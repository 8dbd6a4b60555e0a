//! `v1` Namespace.

use std::collections::BTreeMap;

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Value, json};

use super::fields::{Fields, copy_field, indexed, is_given, items, object_mut, object_or_new, text};
use super::rules::{Errors, named};
use super::{Strategy, StrategyContext};
use crate::metadata::names;

/// The label that holds the name, so that selectors can name a namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// `Namespace`.
pub(super) fn defaults(namespace: &mut Fields) {
    let Some(metadata) = object_mut(namespace, "metadata") else { return };
    let Some(name) = metadata.get("name").filter(|name| name.as_str().is_some_and(|name| !name.is_empty())).cloned()
    else {
        return;
    };
    if let Some(labels) = object_or_new(metadata, "labels") {
        labels.insert(NAME_LABEL.to_owned(), name);
    }
}

/// What is special about namespaces.
#[derive(Debug)]
pub(super) struct Namespace;

impl Strategy for Namespace {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.api.core.v1.Namespace")
    }

    fn validate_name(&self, name: &str, prefix: bool) -> Vec<String> {
        names::dns_label(name, prefix)
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        let Some(namespace) = object.as_object_mut() else { return };
        // A generated name is known only now.
        defaults(namespace);
        namespace.insert("status".to_owned(), json!({"phase": "Active"}));
        if let Some(spec) = object_or_new(namespace, "spec") {
            let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
            if let Some(list) = finalizers.as_array_mut()
                && !list.contains(&json!("kubernetes"))
            {
                list.push(json!("kubernetes"));
            }
        }
    }

    fn prepare_update(&self, new: &mut Value, old: &Value, subresource: Option<&str>) {
        match subresource {
            // Only the subresource `finalize` changes what must happen before a namespace is gone.
            None => {
                let stored = old.get("spec").cloned().unwrap_or_else(|| json!({}));
                if let Some(spec) = new.get_mut("spec") {
                    copy_field(spec, &stored, "finalizers");
                } else if let Some(namespace) = new.as_object_mut() {
                    namespace.insert("spec".to_owned(), stored);
                }
            }
            Some("finalize") => copy_field(new, old, "status"),
            Some(_) => {}
        }
    }

    fn validate(&self, object: &Value) -> Errors {
        // The reference names the list here, and the single entry when they are changed.
        let path = FieldPath::new("spec.finalizers");
        let all = items(object, "spec.finalizers").iter().filter_map(Value::as_str);
        all.flat_map(|finalizer| finalizer_errors(finalizer, &path)).collect()
    }

    fn validate_update(&self, new: &Value, _old: &Value, subresource: Option<&str>) -> Errors {
        match subresource {
            Some("status") => phase(new),
            Some("finalize") => {
                let all = indexed(new, "spec.finalizers");
                all.flat_map(|(path, one)| finalizer_errors(one.as_str().unwrap_or_default(), &path)).collect()
            }
            _ => Errors::new(),
        }
    }

    fn returns_deleted_object(&self) -> bool {
        true
    }

    fn selectable_labels(&self) -> &[&'static str] {
        &["status.phase"]
    }

    fn selectable(&self, object: &Value) -> BTreeMap<String, String> {
        super::selectable_texts(self.selectable_labels(), object)
    }
}

/// The phase says whether the namespace is being deleted, and nothing else.
fn phase(namespace: &Value) -> Errors {
    let (phase, expected, state) = if is_given(namespace, "metadata.deletionTimestamp") {
        (text(namespace, "status.phase"), "Terminating", "not empty")
    } else {
        (text(namespace, "status.phase"), "Active", "empty")
    };
    if phase == expected {
        return Errors::new();
    }
    let detail = format!("may only be '{expected}' if `deletionTimestamp` is {state}");
    vec![FieldError::invalid(&FieldPath::new("status.Phase"), phase, detail)]
}

fn finalizer_errors(finalizer: &str, path: &FieldPath) -> Errors {
    let mut errors = Errors::new();
    named(finalizer, path, names::qualified_name(finalizer), &mut errors);
    if !finalizer.contains('/') && !matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion") {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.push(FieldError::invalid(path, finalizer, detail));
    }
    errors
}
