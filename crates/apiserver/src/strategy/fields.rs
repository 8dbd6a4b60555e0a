//! Reading and setting fields of objects, which are plain JSON.

use controller_runtime_schema::FieldPath;
use serde_json::{Map, Value};

/// The fields of one JSON object.
pub(crate) type Fields = Map<String, Value>;

static NULL: Value = Value::Null;

/// The value at a dotted path, as in `spec.template.metadata`; null when there is none.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').try_fold(value, |value, key| value.get(key)).unwrap_or(&NULL)
}

/// The text at a dotted path; empty when there is none.
pub(crate) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// The number at a dotted path.
pub(crate) fn number(value: &Value, path: &str) -> Option<i64> {
    at(value, path).as_i64()
}

/// The items of the list at a dotted path; none when it isn't a list.
pub(crate) fn items<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// The items of the list at a dotted path, each with its place in the object.
pub(crate) fn indexed<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = (FieldPath, &'a Value)> {
    let place = FieldPath::new(path);
    items(value, path).iter().enumerate().map(move |(index, item)| (place.index(index), item))
}

/// Whether the value at a dotted path is one: absent, null, empty text, an empty list and an empty map aren't.
pub(crate) fn is_given(value: &Value, path: &str) -> bool {
    match at(value, path) {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Sets a field that isn't there or is null.
pub(crate) fn set_default(fields: &mut Fields, key: &str, value: impl Into<Value>) {
    match fields.get(key) {
        None | Some(Value::Null) => {
            fields.insert(key.to_owned(), value.into());
        }
        Some(_) => {}
    }
}

/// The object in a field.
pub(crate) fn object_mut<'a>(fields: &'a mut Fields, key: &str) -> Option<&'a mut Fields> {
    fields.get_mut(key)?.as_object_mut()
}

/// The object in a field, which is made when it isn't there.
pub(crate) fn object_or_new<'a>(fields: &'a mut Fields, key: &str) -> Option<&'a mut Fields> {
    set_default(fields, key, Fields::new());
    object_mut(fields, key)
}

/// The objects in the list of a field.
pub(crate) fn objects_mut<'a>(fields: &'a mut Fields, key: &str) -> impl Iterator<Item = &'a mut Fields> {
    fields.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Sets a field of an object to what it is in another one, which may be nothing.
pub(crate) fn copy_field(to: &mut Value, from: &Value, key: &str) {
    let Some(fields) = to.as_object_mut() else { return };
    match from.get(key) {
        Some(value) => fields.insert(key.to_owned(), value.clone()),
        None => fields.remove(key),
    };
}
