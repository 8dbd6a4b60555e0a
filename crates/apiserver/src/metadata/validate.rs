//! Which metadata an object may have, and what an update may change of it.

use controller_runtime_schema::{FieldError, FieldPath};
use serde_json::{Map, Value};

use super::{fields, names};
use crate::resource::Resource;

/// What all annotations of an object may take together, in bytes.
const MAX_ANNOTATION_BYTES: usize = 256 * 1024;

/// Finalizers without a domain that the reference knows.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// What is wrong with a new object's metadata.
pub(crate) fn create(object: &Value, resource: &Resource) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let mut errors = Vec::new();
    let generate = fields::text(object, "generateName");
    if !generate.is_empty() {
        let texts = resource.strategy.validate_name(generate, true);
        errors.extend(texts.into_iter().map(|text| FieldError::invalid(&path.child("generateName"), generate, text)));
    }
    let name = fields::text(object, "name");
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), "name or generateName is required"));
    } else {
        let texts = resource.strategy.validate_name(name, false);
        errors.extend(texts.into_iter().map(|text| FieldError::invalid(&path.child("name"), name, text)));
    }
    errors.extend(common(object, &path, resource));
    errors
}

/// What is wrong with the metadata of a changed object.
pub(crate) fn update(new: &Value, old: &Value, resource: &Resource) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let mut errors = common(new, &path, resource);
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (new, old) = (fields::get(new, field), fields::get(old, field));
        if new != old {
            let value = new.cloned().unwrap_or(Value::Null);
            errors.push(FieldError::invalid(&path.child(field), value, "field is immutable"));
        }
    }
    if fields::is_deleting(old) {
        let known = fields::finalizers(old);
        let added: Vec<String> =
            fields::finalizers(new).into_iter().filter(|one| !known.contains(one)).map(crate::status::quote).collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden(&path.child("finalizers"), detail));
        }
    }
    errors
}

fn common(object: &Value, path: &FieldPath, resource: &Resource) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(generation) = fields::get(object, "generation").and_then(Value::as_i64).filter(|one| *one < 0) {
        errors.push(FieldError::invalid(&path.child("generation"), generation, "must be greater than or equal to 0"));
    }
    errors.extend(labels(fields::get(object, "labels"), &path.child("labels")));
    errors.extend(annotations(fields::get(object, "annotations"), &path.child("annotations")));
    errors.extend(owner_references(fields::get(object, "ownerReferences"), &path.child("ownerReferences")));
    // Custom resources, and what defines them, are only warned about.
    let bare_names = !resource.strategy.typed() || resource.group == "apiextensions.k8s.io";
    errors.extend(finalizers(object, &path.child("finalizers"), bare_names));
    errors
}

/// Labels or annotations that a webhook changed in converting an object.
pub(crate) fn converted(field: &str, texts: &Map<String, Value>) -> Result<(), String> {
    let texts = Value::Object(texts.clone());
    let errors = match field {
        "labels" => labels(Some(&texts), &FieldPath::new("metadata.labels")),
        // Without its last letter, as on the reference.
        _ => annotations(Some(&texts), &FieldPath::new("metadata.annotation")),
    };
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match errors.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        all => Err(format!("[{}]", all.join(", "))),
    }
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &str)> {
    value.and_then(Value::as_object).into_iter().flatten().map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

fn labels(labels: Option<&Value>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in members(labels) {
        let texts = names::qualified_name(key);
        errors.extend(texts.into_iter().map(|text| FieldError::invalid(path, key.as_str(), text)));
        errors.extend(names::label_value(value).into_iter().map(|text| FieldError::invalid(path, value, text)));
    }
    errors
}

fn annotations(annotations: Option<&Value>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in members(annotations) {
        size += key.len() + value.len();
        let texts = names::qualified_name(&key.to_lowercase());
        errors.extend(texts.into_iter().map(|text| FieldError::invalid(path, key.as_str(), text)));
    }
    if size > MAX_ANNOTATION_BYTES {
        errors.push(FieldError::too_long(path, i64::try_from(MAX_ANNOTATION_BYTES).unwrap_or(i64::MAX)));
    }
    errors
}

fn owner_references(owners: Option<&Value>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for (index, owner) in owners.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = path.index(index);
        let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
        let api_version = text("apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        if api_version.is_empty() {
            errors.push(FieldError::required(&path.child("apiVersion"), "must not be empty"));
        } else if version.is_empty() || version.contains('/') {
            let detail = "must be <group>/<version> or <version>";
            errors.push(FieldError::invalid(&path.child("apiVersion"), api_version, detail));
        }
        for key in ["kind", "name", "uid"] {
            if text(key).is_empty() {
                errors.push(FieldError::required(&path.child(key), "must not be empty"));
            }
        }
        if group.is_empty() && text("kind") == "Event" {
            let detail = format!("{group}/{version}, Kind=Event is disallowed from being an owner");
            errors.push(FieldError::invalid(&path, owner.clone(), detail));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let current = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and \
                     {current}"
                );
                let list = owners.cloned().unwrap_or_default();
                errors.push(FieldError::invalid(&path_of_list(&path), list, detail));
            } else {
                controller = Some(current);
            }
        }
    }
    errors
}

fn path_of_list(path: &FieldPath) -> FieldPath {
    FieldPath::new(path.as_str().split('[').next().unwrap_or_default())
}

fn finalizers(object: &Value, path: &FieldPath, bare_names: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let finalizers = fields::finalizers(object);
    for (index, finalizer) in finalizers.iter().enumerate() {
        let texts = names::qualified_name(finalizer);
        errors.extend(texts.into_iter().map(|text| FieldError::invalid(path, *finalizer, text)));
        if !bare_names && !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(finalizer) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(&path.index(index), *finalizer, detail));
        }
    }
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        let value: Vec<Value> = finalizers.iter().map(|one| Value::from(*one)).collect();
        errors.push(FieldError::invalid(path, Value::Array(value), detail));
    }
    errors
}

/// Metadata that only the server writes.
pub(crate) fn reset_for_create(object: &mut Value, uid: String, now: &str) {
    let Some(metadata) = fields::metadata_mut(object) else { return };
    drop_server_fields(metadata);
    metadata.insert("uid".to_owned(), Value::String(uid));
    metadata.insert("creationTimestamp".to_owned(), Value::from(now));
}

fn drop_server_fields(metadata: &mut Map<String, Value>) {
    for field in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        metadata.remove(field);
    }
    // A negative one stays, to be refused.
    if metadata.get("generation").and_then(Value::as_i64).is_none_or(|generation| generation >= 0) {
        metadata.remove("generation");
    }
}

/// Brings back what a request left out and may not change by leaving it out.
pub(crate) fn carry_over(new: &mut Value, old: &Value) {
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if fields::get(new, field).is_none() {
            fields::copy(new, field, old);
        }
    }
    if fields::is_deleting(old) {
        // Whatever is sent for it: only of an object that isn't being deleted is it refused.
        fields::copy(new, "deletionTimestamp", old);
    }
    for field in ["creationTimestamp", "generation", "selfLink"] {
        fields::copy(new, field, old);
    }
}

/// Takes out errors that are there twice. kube-apiserver does so for built-in kinds, since some rules are checked twice;
/// definitions of custom resources aren't among them.
pub(crate) fn keep_distinct(errors: &mut Vec<FieldError>, resource: &Resource) {
    if resource.strategy.typed() && resource.group != "apiextensions.k8s.io" {
        let mut seen = std::collections::BTreeSet::new();
        errors.retain(|error| seen.insert(error.to_string()));
    }
}
