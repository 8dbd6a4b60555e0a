//! `v1` Namespace.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{Fields, copy_field, object_mut, object_or_new};
use super::rules::Errors;
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

    fn validate_update(&self, _new: &Value, _old: &Value, _subresource: Option<&str>) -> Errors {
        Errors::new()
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
