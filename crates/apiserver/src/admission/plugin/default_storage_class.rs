//! `DefaultStorageClass`: a claim that names no class gets the default one.

use serde_json::{Value, json};

use super::{Write, spec};
use crate::metadata::fields;
use crate::strategy::CLASS_ANNOTATION;

const DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

pub(super) fn mutate(write: Write<'_>, object: &mut Value) {
    if !write.is_create_of("", "persistentvolumeclaims") {
        return;
    }
    let annotated = fields::get(object, "annotations").is_some_and(|all| all.get(CLASS_ANNOTATION).is_some());
    let Some(spec) = spec(object).filter(|_| !annotated) else { return };
    if spec.get("storageClassName").is_none_or(Value::is_null)
        && let Some(class) = write.default_of("storageclasses.storage.k8s.io", &DEFAULT)
    {
        spec.insert("storageClassName".to_owned(), json!(class));
    }
}
