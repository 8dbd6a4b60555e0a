//! How CustomResourceDefinitions behave.

use std::sync::Arc;

use controller_runtime_schema::FieldError;
use serde_json::{Map, Value, json};

use super::definition::Definition;
use super::{accept, settle, validate, warning};
use crate::core::Core;
use crate::strategy::{Change, Strategy, StrategyContext};

/// What keeps a definition until its objects are gone.
pub(super) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The strategy of CustomResourceDefinitions.
#[derive(Debug)]
pub(crate) struct DefinitionStrategy;

fn child<'a>(map: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    map.get_mut(key).and_then(Value::as_object_mut)
}

fn is_empty(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).and_then(Value::as_str).is_none_or(str::is_empty)
}

fn default_names(spec: &mut Map<String, Value>) {
    let names = spec.entry("names").or_insert_with(|| json!({}));
    let Some(names) = names.as_object_mut() else { return };
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if is_empty(names, "singular") && !kind.is_empty() {
        names.insert("singular".to_owned(), kind.to_lowercase().into());
    }
    if is_empty(names, "listKind") && !kind.is_empty() {
        names.insert("listKind".to_owned(), format!("{kind}List").into());
    }
}

fn default_conversion(spec: &mut Map<String, Value>) {
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    let webhook = child(spec, "conversion").and_then(|conversion| child(conversion, "webhook"));
    let service =
        webhook.and_then(|webhook| child(webhook, "clientConfig")).and_then(|client| child(client, "service"));
    if let Some(service) = service
        && service.get("port").is_none_or(Value::is_null)
    {
        service.insert("port".to_owned(), 443.into());
    }
}

/// Notes the storage version among those in which objects may be stored.
pub(super) fn note_stored_version(object: &mut Value) {
    let Some(name) = Definition::new(object).storage_version().map(|version| version.name().to_owned()) else { return };
    if Definition::new(object).stored_versions().contains(&name.as_str()) {
        return;
    }
    let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) else { return };
    let stored = status.entry("storedVersions").or_insert_with(|| json!([]));
    if stored.is_null() {
        *stored = json!([]);
    }
    if let Some(stored) = stored.as_array_mut() {
        stored.push(name.into());
    }
}

/// The status of a definition that nobody has looked at yet.
fn empty_status() -> Value {
    json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null})
}

impl Strategy for DefinitionStrategy {
    fn definition(&self) -> Option<&'static str> {
        Some("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition")
    }

    fn default(&self, object: &mut Value) {
        let Some(map) = object.as_object_mut() else { return };
        if let Some(spec) = map.entry("spec").or_insert_with(|| json!({})).as_object_mut() {
            default_names(spec);
            default_conversion(spec);
        }
        if map.get("status").is_none_or(|status| !status.is_object()) {
            map.insert("status".to_owned(), empty_status());
        }
        if Definition::new(object).stored_versions().is_empty() {
            note_stored_version(object);
        }
    }

    fn prepare_create(&self, object: &mut Value, _cx: &StrategyContext<'_>) {
        if let Some(map) = object.as_object_mut() {
            map.insert("status".to_owned(), empty_status());
        }
        note_stored_version(object);
    }

    fn prepare_update(&self, new: &mut Value, _old: &Value, subresource: Option<&str>) {
        if subresource.is_none() {
            note_stored_version(new);
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        validate::validate_create(Definition::new(object))
    }

    fn validate_update(&self, new: &Value, old: &Value, subresource: Option<&str>) -> Vec<FieldError> {
        match subresource {
            None => validate::validate_update(Definition::new(new), Definition::new(old)),
            Some(_) => validate::validate_status(Definition::new(new)),
        }
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        warning::of_definition(Definition::new(new), old.map(Definition::new))
    }

    fn prepare_delete(&self, object: &mut Value, now: &str) {
        let detail = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        let status = accept::terminating(Definition::new(object), "InstanceDeletionPending", detail, now);
        let Some(map) = object.as_object_mut() else { return };
        map.insert("status".to_owned(), status);
        let Some(metadata) = child(map, "metadata") else { return };
        metadata.insert("deletionTimestamp".to_owned(), now.into());
        let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
        if let Some(finalizers) = finalizers.as_array_mut().filter(|all| !all.contains(&FINALIZER.into())) {
            finalizers.push(FINALIZER.into());
        }
    }

    fn status_keeps_metadata(&self) -> bool {
        false
    }

    fn unconditional_update(&self) -> bool {
        false
    }

    fn tracks_generation(&self) -> bool {
        true
    }

    fn committed(&self, change: Change<'_>, core: &Arc<Core>) {
        settle::definition_changed(change, core);
    }
}
