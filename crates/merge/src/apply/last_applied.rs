//! Going over from kubectl's client-side apply.

use serde_json::{Map, Value, json};

use crate::field::FieldSet;
use crate::managed::without_managed_fields;
use crate::typed::{Duplicates, Type, check, compare, field_set};

use super::options::Apply;

/// The manager for which client-side apply counts.
pub(crate) const MANAGER: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How large all annotations of an object may be together, in bytes of their keys and values.
const MAX_ANNOTATIONS_SIZE: usize = 256 * 1024;

/// The fields that client-side apply set and that still have the values it gave them.
pub(crate) fn fields(live: &Value, options: &Apply<'_>) -> Option<FieldSet> {
    let text = annotation(live).filter(|text| !text.is_empty())?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(options.api_version) {
        return None;
    }
    let of = Type::resource(options.schema);
    let live = without_managed_fields(live);
    check(&live, of, Duplicates::Refused).ok()?;
    check(&last, of, Duplicates::Refused).ok()?;
    let differ = compare(&last, &live, of).ok()?;
    let fields = field_set(&last, of);
    Some(fields.difference(&differ.modified).difference(&differ.added).difference(&differ.removed))
}

/// Writes `config` to the annotation of an object that has it; without the annotation there is nothing to keep up.
pub(crate) fn update(object: &mut Value, config: &Value) {
    if annotation(object).is_none_or(str::is_empty) {
        return;
    }
    let mut config = config.clone();
    if let Some(annotations) = annotations_mut(&mut config) {
        annotations.remove(ANNOTATION);
    }
    let Some(annotations) = annotations_mut(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), json!(format!("{config}\n")));
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS_SIZE {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str()
}

fn annotations_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}
