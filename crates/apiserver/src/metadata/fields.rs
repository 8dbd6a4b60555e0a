//! Reading and writing members of an object's metadata.

use serde_json::{Map, Value};

/// `metadata` of an object.
pub(crate) fn metadata(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata").and_then(Value::as_object)
}

/// `metadata` of an object, added when it is missing. `None` when the object is not a map at all.
pub(crate) fn metadata_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut()
}

/// One member of the metadata.
pub(crate) fn get<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    metadata(object)?.get(field)
}

/// One text member of the metadata, empty when it is missing.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    get(object, field).and_then(Value::as_str).unwrap_or_default()
}

/// Sets one member of the metadata.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(metadata) = metadata_mut(object) {
        metadata.insert(field.to_owned(), value.into());
    }
}

/// Removes one member of the metadata.
pub(crate) fn remove(object: &mut Value, field: &str) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove(field);
    }
}

/// Makes one member of the metadata what it is in `from`, absent included.
pub(crate) fn copy(object: &mut Value, field: &str, from: &Value) {
    match get(from, field) {
        Some(value) => set(object, field, value.clone()),
        None => remove(object, field),
    }
}

/// The finalizers.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    get(object, "finalizers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Sets the finalizers; an empty list removes the member.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: &[String]) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(object, "finalizers", finalizers.to_vec());
    }
}

/// One label's value.
pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    get(object, "labels")?.get(key)?.as_str()
}

/// Whether deletion has begun.
pub(crate) fn is_deleting(object: &Value) -> bool {
    get(object, "deletionTimestamp").is_some()
}
